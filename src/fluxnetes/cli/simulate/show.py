"""Prints tables of results, and a progress bar on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from fluxnetes.simulate.forecast import Forecast, compare
from fluxnetes.simulate.metrics import measure
from fluxnetes.simulate.schedule import Schedule
from fluxnetes.simulate.table import OUTLOOK_TITLES, TITLES, written


def print_table(schedules: Sequence[Schedule]) -> None:
    """The figures of all policies, side by side."""
    texts = {schedule.policy: written(measure(schedule)) for schedule in schedules}
    _print(_heading(schedules[0]), TITLES, texts)


def print_outlook(forecasts: Sequence[Forecast]) -> None:
    """The figures of all forecasts, beside the first."""
    today = forecasts[0]
    texts = {each.name: written(compare(each, today)) for each in forecasts}
    waiting = len(today.start) + len(today.never)
    heading = "1 job waits" if waiting == 1 else f"{waiting:,} jobs wait"
    _print([f"{heading}; compared with {today.name}:"], OUTLOOK_TITLES, texts)


def _print(
    heading: Iterable[str], titles: Mapping[str, str], texts: Mapping[str, Mapping[str, str]]
) -> None:
    """A column for each run, a row for each figure."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", no_wrap=True)
    for run in texts:
        table.add_column(run, justify="right", no_wrap=True)
    for name, title in titles.items():
        table.add_row(title, *(column[name] for column in texts.values()))
    console = Console(file=sys.stdout, highlight=False)
    for line in heading:
        console.print(line, markup=False, soft_wrap=True)
    console.print(table)


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
