"""No group is half-placed for long.

From the first bind of a group until all of it is placed it is *partial*. A pod stays placed when it
has ended; it is not any more when it is taken away. A group that is taken away whole, because the
rest of it found no place, was partial until then, and may be placed anew later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.integration.crash.checks.evidence import Evidence
from tests.integration.crash.record import Pod, Seen, pods
from tests.integration.crash.works import Fate, Work

STALL = 60.0
"""Seconds without progress after which the controller gives up a placement."""


@dataclass(slots=True)
class Placing:
    """One attempt to place a group."""

    began: float
    need: int
    placed: set[str] = field(default_factory=set)
    ever: set[str] = field(default_factory=set)
    over: float | None = None
    """When it was complete, or taken away again."""
    is_complete: bool = False

    def close(self, at: float) -> None:
        self.over = at if self.over is None else self.over


def placings(work: Work, record: tuple[Seen, ...]) -> Iterator[Placing]:
    """All attempts to place a piece of work."""
    attempt: Placing | None = None
    succeeded: set[str] = set()
    for seen, pod in pods(record):
        if pod.work != work.name:
            continue
        if pod.phase == "Succeeded":
            succeeded.add(pod.uid)
        if pod.node and not pod.is_gone:
            if attempt is None:
                attempt = Placing(seen.at, min(work.pods, work.completions - len(succeeded)))
            _place(attempt, pod, seen.at)
        elif pod.is_gone and attempt is not None and pod.uid in attempt.placed:
            attempt.placed.discard(pod.uid)
            if not attempt.placed:
                attempt.close(seen.at)
                yield attempt
                attempt = None
    if attempt is not None:
        yield attempt


def _place(attempt: Placing, pod: Pod, at: float) -> None:
    attempt.placed.add(pod.uid)
    attempt.ever.add(pod.uid)
    if len(attempt.ever) >= attempt.need and not attempt.is_complete:
        attempt.is_complete = True
        attempt.close(at)


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
    """Groups of which some pods were placed in the end, and others never."""
    found = []
    for work in evidence.works:
        if (
            not work.is_ours
            or work.fate is Fate.DELETED
            or (work.is_job and work.fate is Fate.FAILS)
        ):
            continue
        *_, final = (None, *placings(work, evidence.record))
        if final is not None and final.placed and not final.is_complete:
            found.append(f"{work.name}: {len(final.ever)} of {final.need} pods ran")
    return found
