"""Keeps the programs of one `fluxnetes up` running: starts one that ended again, after a pause.

The pause doubles each time a program ends soon after its start, so that one that cannot run does
not occupy the machine. A program that ran for a while is started again at once, nearly.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from fluxnetes.plane.processes import ProgramRun

Say = Callable[[str], None]
"""Called with a line for the user."""

INVALID_OPTIONS = 2
"""The exit status of a program that its options or files keep from running: no restart helps."""


@dataclass(frozen=True, slots=True)
class RestartTiming:
    """Pauses between restarts, in seconds."""

    first: float = 1.0
    longest: float = 60.0
    settled: float = 60.0
    """A program that ran for so long begins again with the first pause."""


class Supervisor:
    """Watches one program, and starts it again. `tend` is called often, and never blocks."""

    def __init__(
        self,
        start: Callable[[], ProgramRun],
        say: Say,
        timing: RestartTiming | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._start, self._say, self._clock = start, say, clock
        self._timing = timing or RestartTiming()
        self._pause = self._timing.first
        self._started = clock()
        self._due: float | None = None
        """When to start it again; None while it runs."""
        self._is_announced = True
        self.process = start()

    @property
    def has_given_up(self) -> bool:
        """Whether it ended in a way that no restart mends."""
        return self.process.status == INVALID_OPTIONS

    def tend(self) -> None:
        """Start the program again if it ended and its pause is over; say what happens."""
        status, now = self.process.status, self._clock()
        if status is None:
            self._announce_if_ready()
        elif self._due is None:
            self._schedule(status, now)
        elif now >= self._due and not self.has_given_up:
            self._due, self._started, self._is_announced = None, now, False
            self.process = self._start()

    def _schedule(self, status: int, now: float) -> None:
        if now - self._started >= self._timing.settled:
            self._pause = self._timing.first
        self._due = now + self._pause
        name, log = self.process.program.name, self.process.log
        if not self.has_given_up:
            self._say(
                f"{name} ended (status {status}); it is started again in {self._pause:g} s; "
                f"see {log}"
            )
        self._pause = min(2 * self._pause, self._timing.longest)

    def _announce_if_ready(self) -> None:
        if not self._is_announced and self.process.is_ready():
            self._is_announced = True
            self._say(f"{self.process.program.name} is ready again")
