"""Rebuilds from the cluster what the store does not know: running jobs, ended groups, order of
arrival.

With an empty database everything is found here. With one that is up to date there is little: what
happened while no controller ran.

The start of a job is that of its first pod, even if that pod has ended and another replaced it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.demand import (
    Prerequisite,
    UnsupportedPod,
    demand_of,
    footprint_of,
    pod_priority,
    queue_of,
)
from fluxnetes.cluster.groups import WorkloadGroup
from fluxnetes.cluster.labels.names import JOB, TASK
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.cluster.pods.reader import PodReader
from fluxnetes.controller.seats import written_number
from fluxnetes.controller.state import ControllerState, WorkloadName
from fluxnetes.controller.submission import submission_of
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.events import Adopt


@dataclass(slots=True)
class PodAdoption:
    """Creates jobs for bound pods of ours that the store does not know."""

    shared: ControllerState
    reader: PodReader

    def run(self) -> int:
        """Adopt all such pods; returns the number of jobs."""
        count = 0
        for group in list(self.shared.model.groups.values()):
            by_job: dict[int, list[tuple[int, str]]] = {}
            for uid, member in group.pods.items():
                job, task = written_number(member.pod, JOB), written_number(member.pod, TASK)
                bound = member.pod.spec.node_name in self.shared.model.node_graph.nodes
                if job and bound and not member.pod.is_over and uid not in group.seats:
                    by_job.setdefault(job, []).append((task or 0, uid))
            for job, pods in by_job.items():
                if job not in self.shared.parts:
                    count += self._adopt(group, job, [uid for _, uid in sorted(pods)])
        return count

    def _adopt(self, group: WorkloadGroup, job: int, uids: list[str]) -> bool:
        members = [group.pods[uid] for uid in uids]
        try:
            footprints = [footprint_of(group, member, self.reader) for member in members]
        except (UnsupportedPod, Prerequisite):
            return False
        order = sorted(range(len(uids)), key=lambda n: footprints.index(footprints[n]))
        uids = [uids[n] for n in order]
        demand = demand_of(group, tuple(footprints[n] for n in order), None)
        nodes = tuple(group.pods[uid].pod.spec.node_name for uid in uids)
        start = min(_starts(group, job), default=self.shared.now)
        adopted = submission_of(group, demand, job)
        if not self.shared.send(Adopt(adopted, start, nodes, endless=demand.endless)):
            return False
        part = GroupPart(job, demand.footprints)
        self.shared.job_submitted(group, part)
        self.shared.job_placed(part, list(nodes), frozenset())
        for task, uid in enumerate(uids):
            group.take_seat(uid, part, task)
            part.pod_bound(task)
            self.shared.model.account(group.pods[uid].pod)
        return True


def _starts(group: WorkloadGroup, job: int) -> Iterator[int]:
    """When the pods of a job started."""
    for member in group.pods.values():
        start = member.pod.status.start_time
        if start is not None and written_number(member.pod, JOB) == job:
            yield int(start.timestamp())


# --- what has ended ----------------------------------------------------------------------------


def ended_before(shared: ControllerState) -> dict[WorkloadName, bool]:
    """Groups that have ended and that the store does not know, and whether they succeeded."""
    found = {}
    for key, group in shared.model.groups.items():
        if key[:3] not in shared.last_job:
            ok = _outcome(group)
            if ok is not None:
                found[key[:3]] = ok
    return found


def _outcome(group: WorkloadGroup) -> bool | None:
    """Whether a group succeeded, by its objects; None: it has not ended, or never ran."""
    if group.workloads:
        ends = [ADAPTERS[group.kinds[uid]].end(each) for uid, each in group.workloads.items()]
        known = [end.ok for end in ends if end is not None]
        return all(known) if len(known) == len(ends) else None
    pods = [member.pod for member in group.pods.values()]
    if not pods or not all(pod.is_over and written_number(pod, JOB) for pod in pods):
        return None
    return all(pod.status.phase == "Succeeded" for pod in pods)


# --- order of arrival --------------------------------------------------------------------------


def sort_by_arrival(model: ClusterModel, config: SchedulerConfig) -> None:
    """Have groups looked at in the order in which they start: jobs are submitted in this order."""
    queues = {queue.name: queue.priority for queue in config.queues}

    def rank(group: WorkloadGroup) -> tuple[float, ...]:
        return -queues.get(queue_of(group), 0), -pod_priority(group), _arrival(group)

    model.sort_dirty(rank)


def _arrival(group: WorkloadGroup) -> float:
    """When a group came: its workload, or the last of its pods, which made it complete."""
    objects = group.workloads.values() or [member.pod for member in group.pods.values()]
    times = [each.metadata.creation_timestamp for each in objects]
    return max((time.timestamp() for time in times if time is not None), default=0.0)
