"""What only the cluster knows: jobs of pods that we bound, how groups ended, and who came first.

With an empty database all of it is found here. With one that is up to date there is little: what
came while nobody looked.

How long a job has run is told by its first pod, also if that one has ended and another took its
place.
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
from fluxnetes.cluster.groups import GroupKey, GroupPart, WorkloadGroup
from fluxnetes.cluster.labels.names import JOB, TASK
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.pods.reader import PodReader
from fluxnetes.controller.seats import written_number
from fluxnetes.controller.state import ControllerState
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.events import Adopt
from fluxnetes.queue.jobs import OnLoss, Submission


@dataclass(slots=True)
class PodAdoption:
    """Makes jobs of pods that we bound and the store knows nothing of."""

    shared: ControllerState
    reader: PodReader

    def run(self) -> int:
        count = 0
        for group in list(self.shared.model.groups.values()):
            by_job: dict[int, list[tuple[int, str]]] = {}
            for uid, member in group.pods.items():
                job, task = written_number(member.pod, JOB), written_number(member.pod, TASK)
                bound = member.pod.spec.node_name in self.shared.model.node_graph.node_graph
                if job and bound and not member.pod.is_over and uid not in group.seats:
                    by_job.setdefault(job, []).append((task or 0, uid))
            for job, sitting in by_job.items():
                if job not in self.shared.parts:
                    count += self._adopt(group, job, [uid for _, uid in sorted(sitting)])
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
        submission = Submission(
            id=job,
            request=demand.gang,
            walltime=demand.walltime,
            queue=demand.queue,
            user=group.key.namespace,
            namespace=group.key.namespace,
            name=group.key.name,
            job_class=demand.job_class,
            priority=demand.priority,
            requeue=demand.requeue,
            on_loss=OnLoss.REQUEUE if demand.requeue else OnLoss.FAIL,
            workload=group.reference,
        )
        start = min(_starts(group, job), default=self.shared.now)
        if not self.shared.tell(Adopt(submission, start, nodes)):
            return False
        part = GroupPart(job, demand.footprints)
        self.shared.add(group, part)
        self.shared.place(part, list(nodes), frozenset())
        for task, uid in enumerate(uids):
            group.sit(uid, part, task)
            part.bound.add(task)
            part.to_bind.discard(task)
            self.shared.model.account(group.pods[uid].pod)
        return True


def _starts(group: WorkloadGroup, job: int) -> Iterator[int]:
    """When the pods of a job started."""
    for member in group.pods.values():
        start = member.pod.status.start_time
        if start is not None and written_number(member.pod, JOB) == job:
            yield int(start.timestamp())


# --- what has ended ----------------------------------------------------------------------------


def ended_before(shared: ControllerState) -> dict[tuple[str, str, str], bool]:
    """Groups that have ended and that the store knows nothing of, and whether they ended well."""
    found = {}
    for key, group in shared.model.groups.items():
        if key[:3] not in shared.last_job:
            ok = _outcome(group)
            if ok is not None:
                found[key[:3]] = ok
    return found


def _outcome(group: WorkloadGroup) -> bool | None:
    """Whether a group ended well, as its objects say; None: it has not ended, or never ran."""
    if group.workloads:
        ends = [ADAPTERS[group.kinds[uid]].end(each) for uid, each in group.workloads.items()]
        known = [end.ok for end in ends if end is not None]
        return all(known) if len(known) == len(ends) else None
    pods = [member.pod for member in group.pods.values()]
    if not pods or not all(pod.is_over and written_number(pod, JOB) for pod in pods):
        return None
    return all(pod.status.phase == "Succeeded" for pod in pods)


# --- who came first ----------------------------------------------------------------------------


def line_up(model: ClusterModel, config: SchedulerConfig) -> None:
    """Have those looked at first who go first; they get in line in this order."""
    queues = {queue.name: queue.priority for queue in config.queues}

    def rank(key: GroupKey) -> tuple[int, int, float]:
        group = model.groups[key]
        return -queues.get(queue_of(group), 0), -pod_priority(group), _came(group)

    model.dirty = dict.fromkeys(sorted(filter(model.groups.__contains__, model.dirty), key=rank))


def _came(group: WorkloadGroup) -> float:
    """When a group came: its workload, or the last of its pods, with which it was complete."""
    things = group.workloads.values() or [member.pod for member in group.pods.values()]
    moments = [each.metadata.creation_timestamp for each in things]
    return max((moment.timestamp() for moment in moments if moment is not None), default=0.0)
