"""Prints tables of results, and a progress bar on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fluxnetes.cli.simulate.job_texts import JobTexts
from fluxnetes.simulate.forecast import Forecast, compare
from fluxnetes.simulate.metrics import measure
from fluxnetes.simulate.schedule import Schedule
from fluxnetes.simulate.table import OUTLOOK_TITLES, TITLES, written

_NAMED = 10
"""Maximum jobs without a start that are named for a forecast."""


def print_table(schedules: Sequence[Schedule]) -> None:
    """The figures of all policies, side by side."""
    texts = {schedule.policy: written(measure(schedule)) for schedule in schedules}
    _print(_heading(schedules[0]), TITLES, texts)


def print_outlook(forecasts: Sequence[Forecast], texts: JobTexts) -> None:
    """The figures of all forecasts, beside the first."""
    today = forecasts[0]
    figures = {each.name: written(compare(each, today)) for each in forecasts}
    waiting = len(today.start) + len(today.never)
    heading = "1 job waits" if waiting == 1 else f"{waiting:,} jobs wait"
    _print([f"{heading}; compared with {today.name}:"], OUTLOOK_TITLES, figures)
    sys.stdout.writelines(f"{line}\n" for line in _without_start(forecasts, texts))
    sys.stdout.flush()


def _without_start(forecasts: Sequence[Forecast], texts: JobTexts) -> Iterator[str]:
    """Why jobs have no start: of the first forecast, and of others where that differs."""
    printed: set[tuple[int, str]] = set()
    for forecast in forecasts:
        why = {job: texts.render(reason) for job, reason in sorted(forecast.never.items())}
        new = [(job, text) for job, text in why.items() if (job, text) not in printed]
        printed.update(new)
        for job, text in new[:_NAMED]:
            name = texts.name(job)
            yield f"{forecast.name}: no start is known for {name}: {text or 'not recorded'}"
        if len(new) > _NAMED:
            yield f"{forecast.name}: and for {len(new) - _NAMED:,} more jobs; --json has all"


def _print(
    heading: Iterable[str], titles: Mapping[str, str], texts: Mapping[str, Mapping[str, str]]
) -> None:
    """A column for each run, a row for each figure. Wide tables are not cut, whatever the width."""
    rows = [["", *texts]]
    rows += [
        [title, *(column[name] for column in texts.values())] for name, title in titles.items()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [*heading]
    for first, *others in rows:
        cells = (text.rjust(width) for text, width in zip(others, widths[1:], strict=True))
        lines.append("  ".join((first.ljust(widths[0]), *cells)).rstrip())
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _heading(schedule: Schedule) -> Iterator[str]:
    workload, machine = schedule.workload, schedule.machine
    size = f"{len(machine.names):,} nodes, {machine.processors:,} processors"
    yield f"{workload.name}: {len(workload):,} jobs on {size}"
    for why, count in workload.skipped.items():
        yield f"skipped: {count:,} job{'s' * (count != 1)} ({why.value})"


@contextmanager
def progress(jobs: int) -> Iterator[Callable[[str], Callable[[int], None]]]:
    """A bar for each policy on standard error, if that is a terminal; none anywhere else.

    Gives a function that starts a bar by name, and returns one to call with the jobs that ended.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns,
        TextColumn("jobs"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bars:

        def begin(name: str) -> Callable[[int], None]:
            bar = bars.add_task(name, total=jobs)
            return lambda ended: bars.update(bar, completed=ended)

        yield begin
