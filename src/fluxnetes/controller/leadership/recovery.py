"""How a term of leadership begins: from what the store and the cluster say, to a running queue.

The graph is made anew from the nodes. The queue goes on from the store. Pods that are bound sit
where their annotations say. Then the first round finishes or undoes what was half done, because it
looks at where things are and not at what happened.

Where the store knows nothing of pods that we bound (an empty database), their jobs are made from
the cluster: they run, with the walltime that their objects say, since their pods started. What only
the store knew (history, usage, who waited how long) is gone, and the log says so.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from fluxnetes.cluster.demand import Prerequisite, UnsupportedPod, footprint_of
from fluxnetes.cluster.groups import LABELLED, GroupKey, GroupPart, HeldSeat, WorkloadGroup
from fluxnetes.cluster.labels.names import JOB
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import cluster_of
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.cluster.pods.reader import PodReader
from fluxnetes.controller.decisions import close
from fluxnetes.controller.leadership.adoption import PodAdoption, ended_before, line_up
from fluxnetes.controller.seats import written_number, written_seat
from fluxnetes.controller.state import ControllerSettings, ControllerState
from fluxnetes.controller.submission import WITHDRAWN
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.match.gang.model import Gang
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Allocation, Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.events import PartsLost
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import HOLDING, WAITING, JobState
from fluxnetes.service.mailbox import CALLED
from fluxnetes.store.errors import StoreRefused
from fluxnetes.store.store import Store
from fluxnetes.store.system import StoredSystem
from fluxnetes.store.translate import translate

_log = logging.getLogger("fluxnetes.controller")


@dataclass(frozen=True, slots=True)
class RecoveredTerm:
    """What a term begins with."""

    shared: ControllerState
    resumed: int
    """Jobs that the store knew."""
    adopted: int
    """Jobs that only the cluster knew."""
    ended: list[tuple[WorkloadGroup, QueueJob]]
    """Groups that are still there, and the job that each was; its end may not have been told."""


async def recover(
    store: Store,
    stored: Snapshot,
    before: StoredSystem | None,
    fence: int,
    config: SchedulerConfig,
    model: ClusterModel,
    reader: PodReader,
    *,
    now: int,
    clock: float,
    settings: ControllerSettings,
) -> RecoveredTerm:
    """Make a desk from what the store and the cluster say.

    `stored` is the queue as the store has it, and `before` the system that it belongs to.
    """
    _read_everything(reader)
    _mark_ground(model)
    graph = model.node_graph.graph
    snapshot, lost = _on_our_graph(stored, before, graph)
    await store.keep_system(graph, config, fence, snapshot.allocations, before)
    matcher = Matcher(graph, policy=config.match_policy)
    scheduler = Scheduler.resume(matcher, config, snapshot, now=now)
    shared = ControllerState(model, matcher, scheduler, settings, now=now, clock=clock)
    if lost:
        shared.tell(PartsLost(lost))
    _Resumption(shared, snapshot).run()
    ended = await _close_ended(store, shared)
    shared.next_id = _next_id(snapshot, model)
    adopted = PodAdoption(shared, reader).run()
    shared.ended_before = ended_before(shared)
    line_up(model, config)
    if adopted and not snapshot.jobs:
        _log.warning(
            "the store knew nothing of %d jobs that run here; they were taken over from the "
            "cluster, and their history and usage are lost",
            adopted,
        )
    return RecoveredTerm(shared, len(snapshot.jobs), adopted, ended)


# --- the ground --------------------------------------------------------------------------------


@dataclass(slots=True)
class PodReadAhead:
    """Reads the pods that have come so far, while the others are on their way."""

    reader: PodReader
    _read: int = 0

    def read_more(self) -> None:
        """Those of groups that are new; what comes or changes later is read in the end."""
        groups = list(self.reader.model.groups.values())
        for group in groups[self._read :]:
            _read_pods(group, self.reader)
        self._read = len(groups)


def _read_everything(reader: PodReader) -> None:
    """Have all rules and pools on the graph before the queue looks at it."""
    for group in list(reader.model.groups.values()):
        _read_pods(group, reader)
        for uid in group.workloads:
            template = group.template(uid)
            with suppress(UnsupportedPod, Prerequisite):
                reader(template.spec, template.metadata, group.said[uid], group.key.namespace)
    reader.take_turn()


def _read_pods(group: WorkloadGroup, reader: PodReader) -> None:
    for member in group.pods.values():
        # What is wrong with a pod is told when its group is settled.
        with suppress(UnsupportedPod, Prerequisite):
            if not member.pod.is_over:
                footprint_of(group, member, reader)


def _mark_ground(model: ClusterModel) -> None:
    """What is closed and what others hold, before anybody plans."""
    graph = model.node_graph.graph
    for machine in model.node_graph.node_graph.values():
        graph.set_closed(machine.vertex, machine.closed)


def _on_our_graph(
    snapshot: Snapshot, before: StoredSystem | None, graph: ResourceGraph
) -> tuple[Snapshot, tuple[int, ...]]:
    """A snapshot as of this graph, and the jobs of which parts are not there any more."""
    if before is None:
        return snapshot, ()
    translated = translate(snapshot, before, graph)
    return translated.snapshot, translated.lost


def zones_of(before: StoredSystem | None) -> dict[str, str]:
    """The subnet of each node of the graph that was last written down, by name."""
    if before is None:
        return {}
    graph, tree = before.graph, before.graph.topology()
    nodes = np.flatnonzero(graph.type_id[tree.vertex] == graph.types.get("node"))
    subnets = tree.vertex[tree.parent[nodes]]
    return dict(zip(graph.names(tree.vertex[nodes]), graph.names(subnets), strict=True))


def check_cluster(stored: StoredSystem | None, ours: str) -> None:
    """Raise StoreRefused unless a stored queue is that of this cluster.

    Another's would look like one whose workloads were all deleted.
    """
    if stored is None or (theirs := cluster_of(stored.graph)) == ours:
        return
    if not theirs:
        raise StoreRefused(
            "the queue in this database is that of `fluxnetes serve`, not of a cluster; name "
            "another database"
        )
    raise StoreRefused(
        f"the queue in this database is that of another cluster ({theirs}; this one is "
        f"{ours}); name another database"
    )


def _next_id(snapshot: Snapshot, model: ClusterModel) -> int:
    known = [job.id for job in snapshot.jobs] + [id for id, _ in snapshot.outcomes]
    bound = [written_number(m.pod, JOB) for g in model.groups.values() for m in g.pods.values()]
    return 1 + max([0, snapshot.arrivals, *known, *(n for n in bound if n is not None)])


# --- jobs that the store knows -----------------------------------------------------------------


@dataclass(slots=True)
class _Resumption:
    """Brings jobs of the queue and groups of the cluster together again."""

    shared: ControllerState
    snapshot: Snapshot
    _groups: dict[str, WorkloadGroup] = field(default_factory=dict)

    def run(self) -> None:
        self._groups = {group.reference: group for group in self.shared.model.groups.values()}
        held = {each.job: each for each in self.snapshot.allocations}
        for job in self.snapshot.jobs:
            workload = job.submission.workload
            if workload and not workload.startswith(CALLED) and job.state in WAITING | HOLDING:
                self._resume(job, held.get(job.id))

    def _resume(self, job: QueueJob, allocation: Allocation | None) -> None:
        group = self._groups.get(job.submission.workload)
        if group is None:
            group = self._gone(job.submission.workload)
        part = GroupPart(job.id, _footprints(job))
        self.shared.add(group, part)
        if allocation is not None and job.state in HOLDING:
            nodes = self.shared.nodes_of(allocation)
            self.shared.doubtful.update(nodes)
            self.shared.place(part, nodes, allocation.ended_tasks)
            _sit_down(self.shared, group, part, was_full=job.state is JobState.RUNNING)
            self.shared.carry(group)
        self.shared.model.dirty[group.key] = None

    def _gone(self, reference: str) -> WorkloadGroup:
        """A group of which nothing is left; the first round will see that."""
        return self.shared.model.empty_group(GroupKey.of(reference))


def _footprints(job: QueueJob) -> tuple[Footprint, ...]:
    request = job.submission.request
    shapes = request.shapes if isinstance(request, Gang) else ()
    return tuple(Footprint.of(shape) for shape in shapes for _ in range(shape.count))


def _sit_down(
    shared: ControllerState, group: WorkloadGroup, part: GroupPart, *, was_full: bool
) -> None:
    """Pods that are bound sit where the bind said.

    Those that ended while nobody looked sit down too, and are seen to have ended in the first
    round. Where nobody is left of a group that was complete, a replacement may come.
    """
    for uid, member in sorted(group.pods.items(), key=lambda item: item[1].pod.is_over):
        pod = member.pod
        task = written_seat(shared, part, pod)
        if task is not None and task not in part.pods:
            group.sit(uid, part, task)
            part.bound.add(task)
            part.to_bind.discard(task)
            group.changed.add(uid)
            shared.model.account(pod)
    if was_full:
        until = shared.clock + shared.settings.keep_seat
        empty = set(range(len(part.nodes))) - part.ended - part.pods.keys()
        # How those did who sat there only their workload knows, and makes them again if need be.
        part.kept |= {task: HeldSeat(until, ok=bool(group.workloads)) for task in empty}


async def _close_ended(
    store: Store, shared: ControllerState
) -> list[tuple[WorkloadGroup, QueueJob]]:
    """What ended before is not queued again."""
    ended = []
    groups = {group.reference: group for group in shared.model.groups.values() if not group.parts}
    for reference, job in (await store.ended(groups)).items():
        group = groups[reference]
        shared.last_job[group.key[:3]] = job.id
        if job.reason.startswith(WITHDRAWN) or job.end is None:
            continue
        closed = close(group, job)
        if group.key.kind == LABELLED:
            old = [uid for uid, m in group.pods.items() if _is_older(m.pod, job.submitted)]
            closed = replace(closed, pods=frozenset(old))
        group.closed = closed
        ended.append((group, job))
    return ended


def _is_older(pod: Pod, moment: int) -> bool:
    created = pod.metadata.creation_timestamp
    return created is not None and created.timestamp() <= moment
