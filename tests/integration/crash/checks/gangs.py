"""No group holds nodes half-placed for long.

From the moment when something of a group holds capacity until all of it has been placed, the group
is *partial*. It is not any more when nothing of it holds capacity: because all that was placed has
ended, or was evicted since the rest found no place. It may then be placed anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.integration.crash.checks.crowds import crowded_out
from tests.integration.crash.checks.evidence import Evidence
from tests.integration.crash.record import Seen, pods
from tests.integration.crash.works import Fate, Work

STALL = 60.0
"""Seconds without progress after which the controller gives up a placement."""


@dataclass(slots=True)
class Placing:
    """One attempt to place a group: from when it holds something until it holds nothing."""

    began: float
    need: int
    holding: set[str] = field(default_factory=set)
    ever: set[str] = field(default_factory=set)
    over: float | None = None
    """When it was complete, or held nothing any more."""

    @property
    def is_complete(self) -> bool:
        return len(self.ever) >= self.need

    def place(self, uid: str, at: float) -> None:
        self.holding.add(uid)
        self.ever.add(uid)
        if self.is_complete:
            self.close(at)

    def close(self, at: float) -> None:
        self.over = at if self.over is None else self.over


def placings(work: Work, record: tuple[Seen, ...]) -> list[Placing]:
    """All attempts to place a piece of work."""
    attempts: list[Placing] = []
    done: set[str] = set()
    for seen, pod in pods(record):
        if pod.work != work.name:
            continue
        if pod.is_over and pod.node:
            done.add(pod.uid)
        if pod.holds:
            if not attempts or not attempts[-1].holding:
                need = min(work.pods, work.completions - len(done))
                attempts.append(Placing(seen.at, need))
            attempts[-1].place(pod.uid, seen.at)
        elif attempts and pod.uid in attempts[-1].holding:
            attempts[-1].holding.discard(pod.uid)
            if not attempts[-1].holding:
                attempts[-1].close(seen.at)
    return attempts


def partial_groups(evidence: Evidence, limit: float = STALL) -> list[str]:
    """Groups that were partial for longer than the limit, or for ever."""
    end = evidence.record[-1].at if evidence.record else 0.0
    found = []
    for work in evidence.works:
        if not work.is_ours:
            continue
        for attempt in placings(work, evidence.record):
            lasted = (end if attempt.over is None else attempt.over) - attempt.began
            if lasted > limit:
                found.append(
                    f"{work.name} had {len(attempt.ever)} of {attempt.need} pods placed "
                    f"for {lasted:.1f} s"
                )
    return found


def half_run_groups(evidence: Evidence) -> list[str]:
    """Groups of which some pods ran in the end, and others never."""
    crowded = crowded_out(evidence).failed
    found = []
    for work in evidence.works:
        # A Job that fails takes pods away that did not run yet, and walltimes count from the
        # decision, wherever it is stuck.
        may_stop = work.fate in (Fate.DELETED, Fate.OVERRUNS)
        may_stop |= work.is_job and work.fate is Fate.FAILS
        if not work.is_ours or may_stop or work.name in crowded:
            continue
        final = placings(work, evidence.record)[-1:]
        found += [
            f"{work.name}: {len(attempt.ever)} of {attempt.need} pods ran in the end"
            for attempt in final
            if not attempt.is_complete
        ]
    return found
