"""The truth table: how a workload ended, by what Kubernetes says of its objects.

    Job                                         end
      condition Complete                        completed
      condition Failed, DeadlineExceeded        timed out
      condition Failed, any other reason        failed
      deleted before such a condition           cancelled
      suspended by its user                     held, which is no end
      anything else                             none

    pods without a workload                     end
      all Succeeded                             completed
      some Failed                               failed
      some Failed, all by DeadlineExceeded      timed out
      all of it deleted by its user             cancelled
      some still live                           none

Where Kubernetes leaves room for two answers, `also` has the others: of a gang, one pod may fail and
another reach its deadline. A pod whose deletion was requested before its end did not end by itself,
whatever phase it had when its containers stopped.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.integration.crash.record import KubeJob, Pod

COMPLETED, FAILED, TIMED_OUT = "completed", "failed", "timed out"
CANCELLED, HELD, NONE = "cancelled", "held", "none"
DEADLINE = "DeadlineExceeded"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a workload ended."""

    state: str
    also: frozenset[str] = frozenset()
    """States that are true as well."""
    why: str = ""

    @property
    def is_end(self) -> bool:
        return self.state not in (HELD, NONE)

    @property
    def allowed(self) -> frozenset[str]:
        return self.also | {self.state}


def job_outcome(history: Sequence[KubeJob]) -> Outcome:
    """The outcome of a Job, from all its versions in order."""
    ended = next((job for job in history if job.end), None)
    final = history[-1]
    if ended is not None:
        # A controller that was away may have found nothing left of it.
        also = frozenset({CANCELLED}) if final.is_gone else frozenset()
        return Outcome(_end_of_job(ended), also, f"{ended.end} {ended.reason}".strip())
    if final.is_gone:
        return Outcome(CANCELLED, why="deleted")
    if final.suspended and not final.is_queued:
        return Outcome(HELD, why="suspended by its user")
    return Outcome(NONE)


def _end_of_job(job: KubeJob) -> str:
    if job.end == "Complete":
        return COMPLETED
    return TIMED_OUT if job.reason == DEADLINE else FAILED


# --- pods without a workload -------------------------------------------------------------------


class PodEnd(enum.Enum):
    """How a pod ended."""

    LIVE = "live"
    SUCCEEDED = "succeeded"
    SUCCEEDED_AND_GONE = "succeeded, and was deleted later"
    """A controller that was away meanwhile finds nothing of it, and cannot know that it did."""
    FAILED = "failed"
    TIMED_OUT = "timed out"
    SUCCEEDED_OR_TIMED_OUT = "succeeded, then timed out"
    FAILED_OR_TIMED_OUT = "failed, then timed out"
    """A simulated kubelet, unlike a real one, may write both when they come at the same time."""
    DELETED_BY_USER = "deleted by its user"
    SUCCEEDED_AT_DELETION = "deleted by its user, and succeeded all the same"
    DELETED = "deleted"
    """By any other client: our controller, or the pod collector of Kubernetes."""


def pod_end(history: Sequence[Pod], *, by_user: bool) -> PodEnd:
    """How one pod ended; `by_user` says whether its user deleted it, if it was deleted."""
    own = {_phase_end(pod) for pod in history if pod.is_over and not pod.is_deleting}
    if own == {PodEnd.SUCCEEDED} and history[-1].is_gone:
        return PodEnd.SUCCEEDED_AND_GONE
    if len(own) == 1:
        return own.pop()
    if own:
        succeeded = PodEnd.SUCCEEDED in own
        return PodEnd.SUCCEEDED_OR_TIMED_OUT if succeeded else PodEnd.FAILED_OR_TIMED_OUT
    final = history[-1]
    if not final.is_deleting and not final.is_gone:
        return PodEnd.LIVE
    if not by_user:
        return PodEnd.DELETED
    succeeded = any(pod.phase == "Succeeded" for pod in history)
    return PodEnd.SUCCEEDED_AT_DELETION if succeeded else PodEnd.DELETED_BY_USER


def _phase_end(pod: Pod) -> PodEnd:
    if pod.phase == "Succeeded":
        return PodEnd.SUCCEEDED
    return PodEnd.TIMED_OUT if pod.reason == DEADLINE else PodEnd.FAILED


def pods_outcome(ends: Iterable[PodEnd]) -> Outcome:
    """The outcome of pods that belong together and that no workload creates."""
    found = set(ends)
    why = ", ".join(sorted(each.value for each in found))
    if PodEnd.LIVE in found or not found:
        return Outcome(NONE, why=why)
    if found == {PodEnd.SUCCEEDED}:
        return Outcome(COMPLETED, why=why)
    if found <= _SUCCESSES.keys():
        return Outcome(COMPLETED, frozenset(_SUCCESSES[each] for each in found), why)
    return Outcome(*_bad_outcome(found), why)


def _bad_outcome(found: set[PodEnd]) -> tuple[str, frozenset[str]]:
    """Of pods of which at least one did not succeed, and none lives."""
    if found <= {PodEnd.DELETED_BY_USER, PodEnd.SUCCEEDED_AT_DELETION}:
        return CANCELLED, frozenset()
    true = {state for each in found for state in _STATES.get(each, ())}
    if PodEnd.DELETED_BY_USER in found:
        true.add(FAILED)  # a part of it was deleted, as by a drain
    state = FAILED if FAILED in true else TIMED_OUT
    return state, frozenset(true - {state})


_SUCCESSES = {
    PodEnd.SUCCEEDED: COMPLETED,
    PodEnd.SUCCEEDED_AND_GONE: CANCELLED,
    PodEnd.SUCCEEDED_OR_TIMED_OUT: TIMED_OUT,
    PodEnd.SUCCEEDED_AT_DELETION: CANCELLED,
}
"""What each may be taken for, beside `completed`."""
_STATES = {
    PodEnd.FAILED: (FAILED,),
    PodEnd.TIMED_OUT: (TIMED_OUT,),
    PodEnd.SUCCEEDED_OR_TIMED_OUT: (TIMED_OUT,),
    PodEnd.FAILED_OR_TIMED_OUT: (FAILED, TIMED_OUT),
    PodEnd.DELETED: (FAILED, TIMED_OUT),  # what outlives its walltime is deleted in the end
    PodEnd.DELETED_BY_USER: (CANCELLED,),
    PodEnd.SUCCEEDED_AT_DELETION: (CANCELLED,),
}
