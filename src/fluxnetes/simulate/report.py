"""Writes a report: one HTML file with tables, a Gantt chart, usage and queue over time, and waits.

The file is self-contained: it has its styles, its script (the parts in `page/`, concatenated) and
the schedules as columns of numbers, and loads nothing. The browser draws the charts on canvases,
from those numbers, for the visible span of time; so ten thousand jobs cost a megabyte and some
milliseconds a frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import msgspec
import numpy as np

from fluxnetes.simulate.metrics import DEFINITIONS, measure, waits_by_size
from fluxnetes.simulate.report_waits import distribution_table, size_table
from fluxnetes.simulate.schedule import Schedule
from fluxnetes.simulate.table import TITLES, written
from fluxnetes.simulate.workload import Workload

SCRIPTS = ("times.js", "view.js", "gantt.js", "lines.js", "waits.js", "jobs.js", "page.js")
"""The parts of the script; each uses those before it."""


def write_report(schedules: Sequence[Schedule]) -> str:
    """The page on one or more runs of one workload."""
    workload, machine = schedules[0].workload, schedules[0].machine
    size = f"{len(machine.names):,} nodes, {machine.processors:,} processors"
    return Template(_part("page.html")).substitute(
        title=escape(f"Simulation of {workload.name}"),
        subtitle=escape(f"{len(workload):,} jobs on {size}. {_left_out(workload)}"),
        summary=_summary(schedules),
        shares=distribution_table(schedules),
        sizes=size_table(schedules),
        definitions="\n".join(_definitions()),
        style=_part("page.css"),
        # The data must not contain the end tag of <script>, whatever the trace is named.
        data=msgspec.json.encode(_data(schedules)).decode().replace("<", "\\u003c"),
        script="\n".join(_part(name) for name in SCRIPTS),
    )


def _part(name: str) -> str:
    return (files("fluxnetes.simulate") / "page" / name).read_text(encoding="utf-8")


def _left_out(workload: Workload) -> str:
    if not workload.skipped:
        return "None of the trace was skipped."
    reasons = (f"{count:,} ({reason.value})" for reason, count in workload.skipped.items())
    return f"Skipped: {', '.join(reasons)}."


def _summary(schedules: Sequence[Schedule]) -> str:
    heads = "".join(f'<th scope="col">{escape(title)}</th>' for title in TITLES.values())
    rows = "\n".join(_row(schedule) for schedule in schedules)
    return (
        f'<table id="summary"><thead><tr><th scope="col">Policy</th>{heads}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table>"
    )


def _row(schedule: Schedule) -> str:
    texts = written(measure(schedule))
    cells = "".join(f"<td>{escape(texts[name])}</td>" for name in TITLES)
    return f'<tr><th scope="row">{escape(schedule.policy)}</th>{cells}</tr>'


def _definitions() -> Iterator[str]:
    for name, title in TITLES.items():
        yield f"<dt>{escape(title)}</dt><dd>{escape(DEFINITIONS[name])}</dd>"


def _data(schedules: Sequence[Schedule]) -> dict[str, Any]:
    """Columns of numbers; times count from the first submit."""
    workload = schedules[0].workload
    first = int(workload.submit.min()) if len(workload) else 0
    return {
        "processors": schedules[0].machine.processors,
        "number": workload.number.tolist(),
        "submit": (workload.submit - first).tolist(),
        "walltime": workload.walltime.tolist(),
        "size": workload.size.tolist(),
        "user": workload.user.tolist(),
        "policies": [_policy(schedule, first) for schedule in schedules],
    }


def _policy(schedule: Schedule, first: int) -> dict[str, Any]:
    return {
        "name": schedule.policy,
        "figures": asdict(measure(schedule)),
        "start": (schedule.start - first).tolist(),
        "end": (schedule.end - first).tolist(),
        "backfilled": schedule.backfilled.astype(int).tolist(),
        "by_size": [asdict(each) for each in waits_by_size(schedule)],
        **_runs(schedule),
    }


def _runs(schedule: Schedule) -> dict[str, list[int]]:
    """Runs of neighbouring processors: of job j, those from `at[j]` up to `at[j + 1]`."""
    lengths = [len(units) for units in schedule.units]
    units = np.concatenate((*schedule.units, np.empty(0, np.int64)))
    job = np.repeat(np.arange(len(lengths)), lengths)
    begins = np.ones(len(units), np.bool_)
    begins[1:] = (np.diff(units) != 1) | (np.diff(job) != 0)
    starts = np.flatnonzero(begins)
    count = np.diff(np.append(starts, len(units)))
    at = np.searchsorted(job[starts], np.arange(len(lengths) + 1))
    return {"first": units[starts].tolist(), "count": count.tolist(), "at": at.tolist()}
