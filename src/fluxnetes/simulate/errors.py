"""What can go wrong before a simulation runs.

    SimulationError         the simulation that was asked for cannot be run
    └── TraceError          the text is no trace; says which line, and what stands there

A job that cannot be run (its run time is not known, it is larger than the cluster) is no error: it
is skipped, and counted by reason.
"""

from __future__ import annotations


class SimulationError(ValueError):
    """What was asked for cannot be simulated."""


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
