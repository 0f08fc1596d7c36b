"""Knows whether the controller sees what happens in the cluster, and counts the time in which it
does.

A clock goes on while the controller sees nothing: while its process is stopped or its machine is
suspended, and while a watch is broken. What a timeout waits for may have happened meanwhile. So
timeouts count observed time only (`clock`), and walltimes are enforced only while the picture is
`is_current`. After a gap, a watch that goes on from its last version gives no sign of when it has
shown everything that was missed; so everything is listed again.

    observing ──▶ a pause, or a broken watch ──▶ everything is listed again ──▶ observing
                  (the clock stands still)
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import Protocol

_log = logging.getLogger("fluxnetes.controller")

_LONGEST_GAP = 2.0
"""Seconds after which a pause, or a watch that is broken, counts as a gap. A shorter one is as long
as an event may be on its way in any case."""
_LONGEST_STEP = 2.0
"""Maximum seconds between two rounds that count as observed. Rounds follow each other within a
second, unless a commit takes long."""


class WatchedKind(Protocol):
    """The watch of one kind; `kube.informer.Informer` is one."""

    problem: str | None
    """Why no events arrive at the moment."""
    is_complete: bool
    """Whether all objects are known."""


class WatchedKinds(Protocol):
    """All watches that matter; `watchers.Watchers` has them."""

    def required(self) -> list[WatchedKind]: ...

    def list_again(self, kind: WatchedKind) -> None:
        """List all objects of a kind, and watch it from there."""
        ...


@dataclass(slots=True, eq=False)
class Observation:
    """See the module's docstring. `check` has to be called about every second."""

    kinds: WatchedKinds
    clock: float
    """Monotonic seconds, without those in which nothing was seen."""
    is_current: bool = field(init=False, default=True)
    """Whether everything that happened up to a moment ago is known."""
    _checked: float = field(init=False, default_factory=lambda: time.monotonic())
    _worked: float = field(init=False, default_factory=lambda: time.process_time())
    """The processor time of this process at the last check: while it works, it is not paused."""
    _broken: dict[int, float] = field(init=False, default_factory=dict)
    """Since when watches are broken, by the identity of the watch."""
    _round: float = field(init=False, default_factory=lambda: time.monotonic())
    """When the last round began."""

    def begin_round(self) -> float:
        """A round begins; returns the clock for its timeouts."""
        self.check()
        now = time.monotonic()
        passed, self._round = now - self._round, now
        if self.is_current:
            self.clock += min(passed, _LONGEST_STEP)
        return self.clock

    def check(self) -> None:
        """Notice gaps, and their ends."""
        now, worked = time.monotonic(), time.process_time()
        idle = (now - self._checked) - (worked - self._worked)
        self._checked, self._worked = now, worked
        kinds = self.kinds.required()
        if idle > _LONGEST_GAP:
            _log.warning("this process was paused for %.1f s: everything is listed again", idle)
            for kind in kinds:
                self.kinds.list_again(kind)
        for kind in kinds:
            self._check_watch(kind, now)
        self.is_current = all(kind.is_complete and kind.problem is None for kind in kinds)

    def _check_watch(self, kind: WatchedKind, now: float) -> None:
        if kind.problem is not None:
            self._broken.setdefault(id(kind), now)
        elif now - self._broken.pop(id(kind), now) > _LONGEST_GAP and kind.is_complete:
            self.kinds.list_again(kind)
