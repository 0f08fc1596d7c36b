"""The part of a report on waits: tables that need no script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from fluxnetes.simulate.metrics import SizeClass, wait_distribution, waits_by_size
from fluxnetes.simulate.schedule import Schedule
from fluxnetes.simulate.table import span


def distribution_table(schedules: Sequence[Schedule]) -> str:
    """The share of jobs that waited no longer than each of some times, by policy."""
    shares = [
        {each.seconds: each.share for each in wait_distribution(schedule)} for schedule in schedules
    ]
    rows = (
        (span(limit), *(_share(known, limit) for known in shares))
        for limit in sorted(set().union(*shares))
    )
    heads = ("Waited at most", *(schedule.policy for schedule in schedules))
    return _table("wait-shares", heads, rows)


def _share(known: Mapping[int, float], limit: int) -> str:
    """The share at the longest known time up to a limit; all jobs after the last one."""
    below = [share for seconds, share in known.items() if seconds <= limit]
    return f"{max(below, default=0.0):.1%}"


def size_table(schedules: Sequence[Schedule]) -> str:
    """Median and p95 of the waits by size of jobs, by policy."""
    columns = [{each.least: each for each in waits_by_size(schedule)} for schedule in schedules]
    heads = ["Processors", "Jobs"]
    for schedule in schedules:
        heads += [f"{schedule.policy}: median", f"{schedule.policy}: p95"]
    rows = (_size_row([column[least] for column in columns]) for least in sorted(columns[0]))
    return _table("wait-sizes", heads, rows)


def _size_row(classes: Sequence[SizeClass]) -> Iterable[str]:
    first = classes[0]
    yield f"{first.least:,}" if first.least == first.most else f"{first.least:,}-{first.most:,}"
    yield f"{first.jobs:,}"
    for each in classes:
        yield span(each.median_wait)
        yield span(each.p95_wait)


def _table(id: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    body = "\n".join(_row(list(row)) for row in rows)
    return f'<table id="{id}"><thead><tr>{top}</tr></thead>\n<tbody>{body}</tbody></table>'


def _row(cells: Sequence[str]) -> str:
    first, *others = map(escape, cells)
    rest = "".join(f"<td>{cell}</td>" for cell in others)
    return f'<tr><th scope="row">{first}</th>{rest}</tr>'
