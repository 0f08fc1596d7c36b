"""Errors that end a simulation before it runs.

    SimulationError         the simulation cannot be run as requested
    └── TraceError          a trace cannot be read; names the line and what was found there

A job that cannot be run (its run time is not known, it is larger than the cluster) is no error: it
is skipped, and counted by reason.
"""

from __future__ import annotations


class SimulationError(ValueError):
    """The simulation cannot be run as requested."""


class TraceError(SimulationError):
    """A trace that cannot be read."""

    def __init__(self, name: str, line: int, found: str, expected: str) -> None:
        super().__init__(name, line, found, expected)
        self.name = name
        self.line = line
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.name}, line {self.line}: found {self.found}, expected {self.expected}"
