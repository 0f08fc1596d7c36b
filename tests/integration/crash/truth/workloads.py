"""The record, divided by workload: the versions of its Job, of each pod, of its FluxJob."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.integration.crash.record import FluxJobSeen, KubeJob, Pod, Seen
from tests.integration.crash.truth.outcome import (
    CANCELLED,
    COMPLETED,
    NONE,
    Outcome,
    PodEnd,
    job_outcome,
    pod_end,
    pods_outcome,
)


@dataclass(slots=True)
class WorkloadRecord:
    """All that was recorded of one workload."""

    name: str
    is_job: bool = False
    jobs: list[Seen] = field(default_factory=list)
    pods: dict[str, list[Seen]] = field(default_factory=dict)
    """By uid."""
    fluxjobs: list[Seen] = field(default_factory=list)

    def outcome(self, deleted_by_user: frozenset[str]) -> Outcome:
        """What Kubernetes says; the names of pods that users deleted come from the audit log."""
        if self.is_job:
            return self._job_outcome()
        return pods_outcome(self._pod_ends(deleted_by_user))

    def outcome_of_bound(self, deleted_by_user: frozenset[str]) -> Outcome:
        """The outcome of its pods without those that never had a node and live: a group that was
        given up half-placed ends with those that ran, and the others stay to be looked at."""
        ends = self._pod_ends(deleted_by_user)
        unbound = len(self.unbound_pods())
        ran = [end for end in ends if end is not PodEnd.LIVE]
        return pods_outcome(ran) if len(ran) + unbound == len(ends) else Outcome(NONE)

    def _pod_ends(self, deleted_by_user: frozenset[str]) -> list[PodEnd]:
        return [
            pod_end(versions, by_user=versions[0].name in deleted_by_user)
            for versions in map(_pods, self.pods.values())
        ]

    def _job_outcome(self) -> Outcome:
        versions = [each.thing for each in self.jobs if isinstance(each.thing, KubeJob)]
        if not versions:
            return Outcome(NONE, why="it was never created")
        found = job_outcome(versions)
        ends = [pod_end(_pods(each), by_user=False) for each in self.pods.values()]
        succeeded = sum(end in (PodEnd.SUCCEEDED, PodEnd.SUCCEEDED_AND_GONE) for end in ends)
        if found.state == CANCELLED and succeeded >= versions[-1].completions:
            # It was deleted in the moment between the last success and the condition.
            return Outcome(CANCELLED, frozenset({COMPLETED}), found.why)
        return found

    @property
    def fluxjob(self) -> FluxJobSeen | None:
        """Its FluxJob as it was seen last, unless it is gone."""
        found = [each.thing for each in self.fluxjobs if isinstance(each.thing, FluxJobSeen)]
        return found[-1] if found and not found[-1].is_gone else None

    @property
    def pod_names(self) -> frozenset[str]:
        return frozenset(_pods(versions)[0].name for versions in self.pods.values())

    @property
    def first_bind(self) -> float | None:
        """When the first of its pods had a node."""
        times = [
            seen.at
            for versions in self.pods.values()
            for seen in versions
            if isinstance(seen.thing, Pod) and seen.thing.node
        ]
        return min(times, default=None)

    @property
    def succeeded_at(self) -> float | None:
        """When the last of its pods succeeded, which the Job controller counts a moment later."""
        times = []
        for versions in self.pods.values():
            ends = (s.at for s in versions if isinstance(s.thing, Pod) and _has_succeeded(s.thing))
            times.append(next(ends, None))
        return max((time for time in times if time is not None), default=None)

    def unbound_pods(self) -> list[Pod]:
        """Its pods that live and have no node, at the end of the record."""
        final = [_pods(versions)[-1] for versions in self.pods.values()]
        return [
            pod for pod in final if not (pod.node or pod.is_over or pod.is_gone or pod.is_deleting)
        ]


def _has_succeeded(pod: Pod) -> bool:
    return pod.phase == "Succeeded"


def _pods(versions: Iterable[Seen]) -> list[Pod]:
    return [each.thing for each in versions if isinstance(each.thing, Pod)]


def divide(record: Iterable[Seen], names: dict[str, bool]) -> dict[str, WorkloadRecord]:
    """The record of each workload; `names` has whether it is a Job."""
    found = {name: WorkloadRecord(name, is_job) for name, is_job in names.items()}
    for seen in record:
        thing = seen.thing
        match thing:
            case Pod() if thing.work in found:
                found[thing.work].pods.setdefault(thing.uid, []).append(seen)
            case KubeJob() if thing.work in found:
                found[thing.work].jobs.append(seen)
            case FluxJobSeen():
                name = ([*thing.workload.split("/"), "", "", ""])[2]
                if name in found:
                    found[name].fluxjobs.append(seen)
            case _:
                pass
    return found
