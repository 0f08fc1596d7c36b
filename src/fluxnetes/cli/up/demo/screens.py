"""Shows the demo: a live table on a terminal, a line for each change elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from fluxnetes.cli.up.demo.board import DemoRow

_COLOURS = {
    "completed": "green",
    "running": "bright_cyan",
    "allocated": "bright_cyan",
    "rejected": "red",
    "failed": "red",
    "timed out": "red",
}


class Screen(Protocol):
    """Shows rows while it is entered."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def say(self, text: str) -> None:
        """Write a text before or after the rows."""
        ...

    def show(self, rows: Sequence[DemoRow], seconds: float) -> None:
        """Show the rows as they are now."""
        ...


def choose_screen() -> Screen:
    """The screen that suits standard output."""
    console = Console(file=sys.stdout, highlight=False)
    return TableScreen(console) if console.is_terminal else LineScreen()


class TableScreen:
    """A live table, on a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="visible")

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)

    def show(self, rows: Sequence[DemoRow], seconds: float) -> None:
        self._live.update(_table(rows, seconds), refresh=True)


def _table(rows: Sequence[DemoRow], seconds: float) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), title=f"{seconds:.0f} s")
    table.title_justify = "left"
    for title in ("job", "state", "pods", "nodes", "starts by"):
        table.add_column(title, no_wrap=True)
    table.add_column("why", ratio=1)  # is cut on a narrow terminal
    now = datetime.now(UTC)
    for row in rows:
        state = Text(row.state, style=_COLOURS.get(row.state, ""))
        why = Text(row.why, no_wrap=True, overflow="ellipsis")
        table.add_row(row.name, state, row.pods, row.nodes, starts_by(row, now), why)
    return table


class LineScreen:
    """A line for each change."""

    def __init__(self) -> None:
        self._shown: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def say(self, text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def show(self, rows: Sequence[DemoRow], seconds: float) -> None:
        for row in rows:
            words = in_words(row)
            if row.is_known and self._shown.get(row.name) != words:
                self._shown[row.name] = words
                self.say(f"{seconds:5.1f} s  {row.name:<10} {words}")


def in_words(row: DemoRow) -> str:
    """One line about an entry, which changes only when the entry does."""
    where = f" on {row.nodes}" if row.nodes else ""
    when = f", starts by {row.eta:%H:%M:%S}" if row.eta is not None else ""
    why = f": {row.why}" if row.why else ""
    return f"{row.state}{where}{when}{why}"


def starts_by(row: DemoRow, now: datetime) -> str:
    """The planned start, as seconds from now."""
    if row.eta is None:
        return ""
    return f"{max(0, (row.eta - now).total_seconds()):.0f} s"
