"""What Fluxnetes says of a workload: the rows of its jobs in the store, and its FluxJob."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.integration.crash.record import FluxJobSeen
from tests.integration.crash.truth.outcome import CANCELLED, COMPLETED, HELD, Outcome

WITHDRAWN = "Withdrawn"
"""The code of a job that its group does not ask for any more, and may ask for again: no end."""
DEPENDENCY = "Dependency"
GATHERING = "gathering"
LIVE_STATES = (GATHERING, "pending", "held", "allocated", "running", "ending")


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A row of the store."""

    id: int
    workload: str
    state: str
    code: str = ""
    reason: str = ""

    @property
    def name(self) -> str:
        """Of the workload: `Job/crash/train/uid` -> `train`."""
        return self.workload.split("/")[2]

    @property
    def is_live(self) -> bool:
        return self.state in LIVE_STATES

    @property
    def is_withdrawn(self) -> bool:
        return self.state == CANCELLED and self.code == WITHDRAWN

    def __str__(self) -> str:
        return f"job {self.id} is {self.state} ({self.code}: {self.reason})"


@dataclass(frozen=True, slots=True)
class Said:
    """All of it, the rows in order of their numbers."""

    rows: tuple[StoredJob, ...] = ()
    fluxjob: FluxJobSeen | None = None

    @property
    def is_rejected(self) -> bool:
        return bool(self.rows) and self.rows[-1].state == "rejected"

    def complaints(self, truth: Outcome, *, has_run: bool, wants_fluxjob: bool) -> Iterable[str]:
        """What contradicts the truth. Of work that has no end yet, see `stuck`.

        Work that never ran may have ended while no controller was there to see it.
        """
        if truth.state == HELD:
            yield from self._not_held()
        elif truth.is_end:
            yield from self._wrong_rows(truth, is_needed=has_run)
            yield from self._wrong_fluxjob(truth, is_needed=has_run and wants_fluxjob)

    def _not_held(self) -> Iterable[str]:
        ended = [row for row in self.rows if not row.is_live and not row.is_withdrawn]
        yield from (f"it is suspended by its user, and {row}" for row in ended)
        busy = [row for row in self.rows if row.state in ("allocated", "running", "ending")]
        yield from (f"it is suspended by its user, and {row}" for row in busy)
        if self.fluxjob is not None and self.fluxjob.state != HELD:
            yield f"it is suspended by its user, and its FluxJob says {_told(self.fluxjob)}"

    def _wrong_rows(self, truth: Outcome, *, is_needed: bool) -> Iterable[str]:
        """A workload may have several jobs, one after the other or side by side."""
        yield from (
            f"Kubernetes says {_true(truth)}, and {row}" for row in self.rows if row.is_live
        )
        if not self.rows:
            if is_needed and CANCELLED not in truth.allowed:  # else it may have gone unseen
                yield f"Kubernetes says {_true(truth)}, and the store has no job of it"
            return
        ends = [row for row in self.rows if not row.is_live and not row.is_withdrawn]
        if not ends:
            ends = [row for row in self.rows if row.is_withdrawn]
        states = {row.state for row in ends}
        is_last_wrong = truth.allowed == {COMPLETED} and ends and ends[-1].state != COMPLETED
        if ends and (is_last_wrong or not states & truth.allowed):
            yield f"Kubernetes says {_true(truth)}, and {'; '.join(map(str, ends))}"

    def _wrong_fluxjob(self, truth: Outcome, *, is_needed: bool) -> Iterable[str]:
        if self.fluxjob is None:
            if is_needed and CANCELLED not in truth.allowed:
                yield f"Kubernetes says {_true(truth)}, and there is no FluxJob"
        elif self.fluxjob.state not in truth.allowed:
            yield f"Kubernetes says {_true(truth)}, and its FluxJob says {_told(self.fluxjob)}"


def _true(truth: Outcome) -> str:
    return f"{' or '.join(sorted(truth.allowed))} ({truth.why})"


def _told(fluxjob: FluxJobSeen) -> str:
    return f"{fluxjob.state} ({fluxjob.code}: {fluxjob.reason})"
