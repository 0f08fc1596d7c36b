"""Formats figures as text, for the tables on a terminal and in the report."""

from __future__ import annotations

from dataclasses import asdict

from fluxnetes.simulate.forecast import Outlook
from fluxnetes.simulate.metrics import Figures

TITLES = {
    "jobs": "Jobs",
    "skipped": "Skipped",
    "makespan": "Makespan",
    "utilisation": "Utilisation",
    "mean_wait": "Mean wait",
    "median_wait": "Median wait",
    "p95_wait": "p95 wait",
    "mean_bounded_slowdown": "Mean bounded slowdown",
    "longest_queue": "Longest queue",
    "backfilled": "Backfilled",
    "seconds": "Simulated in",
}
"""The titles of figures, in the order of the table."""

OUTLOOK_TITLES = {
    "start": "Jobs that start",
    "never": "No start known",
    "mean_wait": "Mean wait from now",
    "longest_wait": "Longest wait from now",
    "last_end": "All ended in",
    "earlier": "Start earlier",
    "later": "Start later",
}
"""The same for a forecast."""

_SPANS = frozenset(("makespan", "mean_wait", "median_wait", "p95_wait", "longest_wait", "last_end"))
_SHARES = frozenset(("utilisation", "backfilled"))


def written(figures: Figures | Outlook) -> dict[str, str]:
    """Each figure as text, by name."""
    return {name: _write(name, value) for name, value in asdict(figures).items()}


def _write(name: str, value: float) -> str:
    if name in _SPANS:
        return span(value)
    if name in _SHARES:
        return f"{value:.1%}"
    if name == "seconds":
        return f"{value:.1f} s"
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def span(seconds: float) -> str:
    """A length of time.

    >>> span(0), span(59.6), span(97384), span(10_000_000)
    ('00:00:00', '00:01:00', '1 d 03:03:04', '115 d 17:46:40')
    """
    days, rest = divmod(round(seconds), 86_400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days:,} d {clock}" if days else clock
