"""Begins a term of leadership: from the store and the cluster to the state of a controller.

The graph is built from the nodes. The queue resumes from the store. Pods that are bound take the
seats that their annotations name. Then the first round finishes or undoes what was half done,
because it looks at where things are and not at what happened.

Where the store does not know pods that we bound (an empty database), their jobs are built from the
cluster: they run, with the walltime of their objects, since their pods started (`adoption`). What
only the store knew (history, usage, how long jobs have waited) is lost, and the log says so.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.demand import Prerequisite, UnsupportedPod, footprint_of
from fluxnetes.cluster.groups import LABELLED, GroupKey, WorkloadGroup, is_live
from fluxnetes.cluster.labels.names import JOB, TASK
from fluxnetes.cluster.labels.parse import NO_OPTIONS
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import cluster_of
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.cluster.pods.reader import PodReader
from fluxnetes.controller.decisions import closed_by, is_withdrawn
from fluxnetes.controller.leadership.adoption import PodAdoption, ended_before, sort_by_arrival
from fluxnetes.controller.leadership.held_pools import keep_held_pools, resume_earlier_sizes
from fluxnetes.controller.seats import written_number, written_seat
from fluxnetes.controller.state import ControllerSettings, ControllerState
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.jobspec.constraint import Constraint, Properties
from fluxnetes.kube.objects.base import Metadata, Object
from fluxnetes.kube.objects.pods import PodSpec
from fluxnetes.match.gang.model import Gang
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Allocation, Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.events import PartsLost
from fluxnetes.queue.jobs import Origin, QueueJob
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, JobState
from fluxnetes.store.errors import StoreRefused
from fluxnetes.store.store import Store
from fluxnetes.store.system import StoredSystem
from fluxnetes.store.translate import translate

_log = logging.getLogger("fluxnetes.controller")


@dataclass(frozen=True, slots=True)
class RecoveredTerm:
    """The state that a term begins with."""

    shared: ControllerState
    resumed: int
    """Jobs that the store knew."""
    adopted: int
    """Jobs that only the cluster knew."""
    ended: list[tuple[WorkloadGroup, QueueJob]]
    """Groups that still exist, and the ended job of each; its end may not have been reported."""


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
    """Build the controller's state from the store and the cluster.

    `stored` is the queue as the store has it, and `before` the graph and configuration that it
    belongs to.
    """
    anywhere = _anywhere(reader)
    _keep_grouped(model, stored)
    _read_everything(reader)
    keep_held_pools(model, before, stored.allocations)
    _mark_closed(model)
    graph = model.node_graph.graph
    snapshot, lost = _on_our_graph(stored, before, graph)
    await store.keep_system(graph, config, fence, snapshot.allocations, before)
    matcher = Matcher(graph, policy=config.match_policy)
    # What happened while no controller led is not known before the first round.
    scheduler = Scheduler.resume(matcher, config, snapshot, now=now, enforce_walltimes=False)
    shared = ControllerState(
        model,
        matcher,
        scheduler,
        reader,
        anywhere,
        settings,
        now=now,
        clock=clock,
        next_id=_next_id(snapshot, model),
    )
    if lost:
        shared.send(PartsLost(lost))
    _Resumption(shared, snapshot).run()
    ended = await _close_ended(store, shared)
    adopted = PodAdoption(shared, reader).run()
    resume_earlier_sizes(shared, before)
    shared.remember_outcomes(ended_before(shared))
    sort_by_arrival(model, config)
    if adopted and not snapshot.jobs:
        _log.warning(
            "the store does not know %d running jobs; they were adopted from the cluster, "
            "and their history and usage are lost",
            adopted,
        )
    return RecoveredTerm(shared, len(snapshot.jobs), adopted, ended)


# --- the graph ---------------------------------------------------------------------------------


@dataclass(slots=True)
class PodReadAhead:
    """Reads the pods that were listed so far, while the list goes on."""

    reader: PodReader
    _read: int = 0

    def read_more(self) -> None:
        """Read the pods of new groups; what comes or changes later is read by `recover`."""
        groups = list(self.reader.model.groups.values())
        for group in groups[self._read :]:
            _read_pods(group, self.reader)
        self._read = len(groups)


def _read_everything(reader: PodReader) -> None:
    """Put all rules and pools on the graph before the queue uses it."""
    for group in list(reader.model.groups.values()):
        _read_pods(group, reader)
        for uid in group.workloads:
            template = group.template(uid)
            with suppress(UnsupportedPod, Prerequisite):
                reader(
                    template.spec,
                    template.metadata,
                    group.workload_options[uid],
                    group.key.namespace,
                )
    reader.take_changes()


def _read_pods(group: WorkloadGroup, reader: PodReader) -> None:
    for member in group.pods.values():
        # What is wrong with a pod is reported when its group is settled.
        with suppress(UnsupportedPod, Prerequisite):
            if not member.pod.is_over:
                footprint_of(group, member, reader)


def _anywhere(reader: PodReader) -> Constraint:
    """The nodes that are open to a pod without tolerations, selectors or affinity."""
    plain = reader(PodSpec(), Metadata(), NO_OPTIONS, "default")
    return Properties((plain.rule,))


def _mark_closed(model: ClusterModel) -> None:
    """Close nodes on the graph before the queue plans."""
    graph = model.node_graph.graph
    for graph_node in model.node_graph.nodes.values():
        graph.set_closed(graph_node.vertex, graph_node.closed)


def _on_our_graph(
    snapshot: Snapshot, before: StoredSystem | None, graph: ResourceGraph
) -> tuple[Snapshot, tuple[int, ...]]:
    """A snapshot translated to this graph, and the jobs that lost nodes by that."""
    if before is None:
        return snapshot, ()
    translated = translate(snapshot, before, graph)
    return translated.snapshot, translated.lost


def zones_of(before: StoredSystem | None) -> dict[str, str]:
    """The subnet of each node of the stored graph, by name."""
    if before is None:
        return {}
    graph, tree = before.graph, before.graph.topology()
    nodes = np.flatnonzero(graph.type_id[tree.vertex] == graph.types.get("node"))
    subnets = tree.vertex[tree.parent[nodes]]
    return dict(zip(graph.names(tree.vertex[nodes]), graph.names(subnets), strict=True))


def check_cluster(stored: StoredSystem | None, ours: str) -> None:
    """Raise StoreRefused unless the stored queue belongs to this cluster.

    The queue of another cluster would look like one whose workloads were all deleted.
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


def _keep_grouped(model: ClusterModel, stored: Snapshot) -> None:
    """Workloads stay in the groups that the stored jobs stand for.

    Of a job that waits, only a PodGroup can have changed that meanwhile: then what it says now
    counts, as it would have without the restart.
    """
    jobs = [job for job in stored.jobs if job.submission.origin is Origin.CLUSTER]
    live = [(GroupKey.of(j.submission.workload), j) for j in jobs if j.state not in ENDED]
    alone = {key.uid for key, _ in live if key.kind in ADAPTERS}
    for key, job in live:
        if key.kind in ADAPTERS and (job.state in HOLDING or not model.sized_by_pod_group(key.uid)):
            model.keep_grouped(key.uid, key)
    for key, job in live:
        if key.kind == LABELLED and job.state in HOLDING:
            for uid in _took_part(model, key, job):
                if uid not in alone:
                    model.keep_grouped(uid, key)


def _took_part(model: ClusterModel, key: GroupKey, job: QueueJob) -> Iterator[str]:
    """The workloads that name a group, and that its job stands for: they were there when it was
    placed, or one of their pods was bound for it."""
    for uid in model.workloads_naming(key):
        group = model.group_of(uid)
        if group is None or group.key == key:
            continue
        has_ended = uid in group.ended_workloads
        was_there = job.start is not None and _is_older(group.workloads[uid], job.start)
        mine = (member.pod for member in group.pods.values() if member.owner == uid)
        is_bound = any(written_number(pod, JOB) == job.id and pod.spec.node_name for pod in mine)
        if is_bound or (was_there and not has_ended):
            yield uid


# --- jobs that the store knows -----------------------------------------------------------------


@dataclass(slots=True)
class _Resumption:
    """Connects jobs of the queue with the groups of the cluster again."""

    shared: ControllerState
    snapshot: Snapshot
    _groups: dict[str, WorkloadGroup] = field(default_factory=dict)

    def run(self) -> None:
        self._groups = {group.reference: group for group in self.shared.model.groups.values()}
        held = {each.job: each for each in self.snapshot.allocations}
        for job in self.snapshot.jobs:
            is_live = job.state in WAITING | HOLDING
            if is_live and job.submission.origin is Origin.CLUSTER:
                self._resume(job, held.get(job.id))

    def _resume(self, job: QueueJob, allocation: Allocation | None) -> None:
        group = self._groups.get(job.submission.workload)
        if group is None:
            # Nothing of it is left; the first round will see that.
            group = self.shared.model.empty_group(GroupKey.of(job.submission.workload))
        part = GroupPart(job.id, _footprints(job))
        part.gather(again=job.state is JobState.GATHERING)
        self.shared.job_submitted(group, part)
        if allocation is not None and job.state in HOLDING:
            nodes = self.shared.nodes_of(allocation)
            for node in nodes:
                self.shared.recheck_node(node)
            self.shared.job_placed(part, nodes, allocation.ended_tasks)
            _take_seats(self.shared, group, part, was_full=job.state is JobState.RUNNING)
            self.shared.request_reconcile(group)
        elif part.gathers:
            part.expect_ends(_pods_elsewhere(group, part).values())
        self.shared.model.mark_dirty(group)


def _footprints(job: QueueJob) -> tuple[Footprint, ...]:
    request = job.submission.request
    shapes = request.shapes if isinstance(request, Gang) else ()
    return tuple(Footprint.of(shape) for shape in shapes for _ in range(shape.count))


def _take_seats(
    shared: ControllerState, group: WorkloadGroup, part: GroupPart, *, was_full: bool
) -> None:
    """Give bound pods the seats that their binds wrote.

    Pods that ended while no controller ran get theirs too, and the first round sees that they have
    ended. Seats of a complete group without a pod are held, since a replacement may come.
    """
    for uid, member in sorted(group.pods.items(), key=lambda item: item[1].pod.is_over):
        pod = member.pod
        task = written_seat(shared, part, pod)
        if task is not None and task not in part.pods:
            group.take_seat(uid, part, task)
            part.pod_bound(task)
            group.pod_changed(uid)
            shared.model.account(pod)
    free = set(range(len(part.nodes))) - part.ended - part.pods.keys()
    if was_full:
        until = shared.clock + shared.settings.replacement_pod
        for task in free:
            # Whether its pod succeeded only the workload knows, which replaces it if need be.
            part.hold_seat(task, until, ok=bool(group.workloads))
    elsewhere = _pods_elsewhere(group, part)
    # Pods that wait will take some of the seats; for the others there are none any more.
    waiting = sum(not m.pod.spec.node_name and is_live(m.pod) for m in group.pods.values())
    empty = len(free - elsewhere.keys())
    part.resume(
        has_failed=shared.job(part).tasks_failed > 0,
        elsewhere=elsewhere.values(),
        unseen=empty if was_full else max(0, empty - waiting),
    )


def _pods_elsewhere(group: WorkloadGroup, part: GroupPart) -> dict[int, str]:
    """Pods without a workload that were bound for a part and have no seat, by task: they may be on
    nodes that are gone."""
    found = {}
    for uid, member in group.pods.items():
        task = written_number(member.pod, TASK)
        is_ours = written_number(member.pod, JOB) == part.job and not member.owner
        if is_ours and task is not None and uid not in group.seats and member.pod.spec.node_name:
            found[task] = uid
    return found


async def _close_ended(
    store: Store, shared: ControllerState
) -> list[tuple[WorkloadGroup, QueueJob]]:
    """Close groups whose job has ended, so that they are not queued again."""
    ended = []
    groups = {group.reference: group for group in shared.model.groups.values() if not group.parts}
    for reference, job in (await store.ended(groups)).items():
        group = groups[reference]
        shared.remember_job(group, job.id)
        if is_withdrawn(job) or job.end is None:
            continue
        closed = closed_by(group, job)
        # An end is no reason for pods and workloads that came after it, and have not ended.
        objects = {uid: member.pod for uid, member in group.pods.items()} | group.workloads
        ended_too = group.ended_workloads.keys() & closed.uids
        old = {uid for uid in closed.uids - ended_too if _is_older(objects[uid], job.end)}
        group.close(replace(closed, uids=frozenset(old | ended_too)))
        ended.append((group, job))
    return ended


def _is_older(object: Object, moment: float) -> bool:
    created = object.metadata.creation_timestamp
    return created is not None and created.timestamp() <= moment
