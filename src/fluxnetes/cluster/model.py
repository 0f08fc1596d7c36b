"""The cluster as the API server shows it, sorted into groups.

The watchers pass every object in, one call per object. Pods that name one of our schedulers, and
workloads whose template does, are sorted into groups. A group that something happened to is *dirty*
until the controller takes it (`take_dirty`). All other bound pods count as foreign usage.

The owner of a pod is what its ownerReferences claim, as far as `owners` can verify it, and it
counts if the workload at the top is ours. A pod can be seen before the workloads above it: it is an
*orphan* until then. If the workload turns out not to be ours, the pod is a group of its own; if
there is no such workload, the pod waits to be deleted, as Kubernetes does with the dependents of an
owner that is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping
from itertools import islice
from typing import Any

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import (
    LABELLED,
    GroupKey,
    Member,
    WorkloadGroup,
    is_live,
    named_group,
)
from fluxnetes.cluster.labels.names import SCHEDULER_NAMES
from fluxnetes.cluster.labels.parse import WorkloadLabels, options_or_error
from fluxnetes.cluster.membership import key_of_pod, key_of_workload, size_of_named
from fluxnetes.cluster.node_graph import NodeChanges, NodeGraph
from fluxnetes.cluster.owners import AwaitedOwners, OwnerLinks, workload_owner
from fluxnetes.cluster.pod_groups import PodGroupIndex
from fluxnetes.cluster.pods.anti_affinity_index import AntiAffinityIndex
from fluxnetes.cluster.pods.priorities import PriorityClasses, priority_of
from fluxnetes.cluster.pods.requests import held_amounts
from fluxnetes.cluster.usage.borrowed import BorrowedUsage
from fluxnetes.cluster.usage.foreign import Amounts, ForeignUsage
from fluxnetes.kube.objects.base import Key, Metadata, Object
from fluxnetes.kube.objects.podgroups import AnyPodGroup
from fluxnetes.kube.objects.pods import Pod


class ClusterModel:
    """All groups, what foreign pods hold, and which groups are to be looked at."""

    def __init__(self, node_graph: NodeGraph, names: Collection[str] = SCHEDULER_NAMES) -> None:
        self.node_graph = node_graph
        self.names = frozenset(names)
        self.groups: dict[GroupKey, WorkloadGroup] = {}
        self.foreign = ForeignUsage()
        self.anti_affinity = AntiAffinityIndex()
        self.pod_groups = PodGroupIndex()
        self.orphans: dict[str, Pod] = {}
        """Pods, by uid, whose workload was not seen yet."""
        self._awaited = AwaitedOwners()
        self._borrowed = BorrowedUsage()
        self._dirty: dict[GroupKey, None] = {}
        """A set in order of insertion."""
        self._dirty_prioritized: set[GroupKey] = set()
        """Those of them that ask for a priority."""
        self._newly_bound: dict[str, None] = {}
        """Uids of pods that were seen on the node of their seat, with no other change. That alone
        does not make a group dirty."""
        self._priority_classes: PriorityClasses = {}
        self._not_ours: set[str] = set()
        """Uids of workloads whose template names another scheduler."""
        self._group_of: dict[str, GroupKey] = {}
        """By uid of pod or workload."""
        self._kept: dict[str, GroupKey] = {}
        """The groups that workloads belonged to in an earlier term, by uid."""
        self._workloads: dict[str, tuple[str, Object]] = {}
        """Kind and object of the workloads that are ours and have no other above them, by uid."""
        self._links = OwnerLinks(self._workloads)
        self._bound: dict[str, Pod] = {}
        """All pods that are on a node and have not ended, ours and foreign ones, by uid."""

    def group_of(self, uid: str) -> WorkloadGroup | None:
        """The group of a pod or a workload."""
        key = self._group_of.get(uid)
        return self.groups.get(key) if key is not None else None

    # -- pods ----------------------------------------------------------------------------------

    def put_pod(self, pod: Pod) -> None:
        """A pod is new or changed."""
        uid = pod.metadata.uid
        if pod.spec.affinity is not None:
            self._add_terms(pod)
        if pod.spec.scheduler_name not in self.names:
            self.account(pod)
            return
        group = self.group_of(uid)
        if group is None:
            group = self._sort_new(pod)
            if group is None:
                self.account(pod)
                return
        known = group.pods[uid].pod
        if known is not pod:
            group.update_pod(pod)
        if _is_only_bound(group, known, pod):
            self._newly_bound[uid] = None
        else:
            group.pod_changed(uid)
            self.mark_dirty(group)
        self._count_elsewhere(self.pod_groups.named_by(group.pods[uid].owner))
        self.account(pod)

    def drop_pod(self, pod: Pod) -> None:
        """A pod is gone."""
        uid = pod.metadata.uid
        self.foreign.drop(uid)
        self._bound.pop(uid, None)
        self._borrowed.drop(uid)
        self._account_borrowers()
        self.orphans.pop(uid, None)
        self._awaited.stop(uid)
        if pod.spec.affinity is not None:
            self.anti_affinity.drop(pod)
        group = self.group_of(uid)
        if group is not None:
            del self._group_of[uid]
            owner = group.pods[uid].owner
            group.remove_pod(pod)
            self.mark_dirty(group)
            self._count_elsewhere(self.pod_groups.named_by(owner))

    def account(self, pod: Pod) -> None:
        """Count what a pod holds on its node, unless a job of the queue already accounts for it."""
        uid, node = pod.metadata.uid, pod.spec.node_name
        if not node or pod.is_over:
            self._bound.pop(uid, None)
            self.foreign.drop(uid)
            self._borrowed.drop(uid)
            self._account_borrowers()
            return
        self._bound[uid] = pod
        group = self.group_of(uid)
        seat = group.seats.get(uid) if group is not None else None
        counted: Amounts = ()
        if seat is None:
            held = held_amounts(pod, exclusive=group is not None and _is_exclusive(group, uid))
            counted = self._borrowed.beyond(pod, held)
        else:
            self._borrowed.drop(uid)
        if self.anti_affinity.pooled:
            known = {} if seat is None else dict(seat[0].footprints[seat[1]].amounts)
            apart = self.anti_affinity.held_by(pod)
            counted += tuple(each for each in apart if each[0] not in known)
        if counted:
            self.foreign.put(uid, node, counted)
        else:
            self.foreign.drop(uid)
        self._account_borrowers()

    def lend(self, job: int, nodes: Mapping[str, Mapping[str, int]] | None) -> None:
        """Pods that name a caller's job may use what the job holds of nodes; None: no longer."""
        self._borrowed.lend(job, nodes)
        self._account_borrowers()

    def _account_borrowers(self) -> None:
        """Count pods again that may be covered better, or worse, than before."""
        for uid in self._borrowed.take_uncovered():
            if uid in self._bound:
                self.account(self._bound[uid])

    def borrowers(self, job: int) -> int:
        """The number of pods that use what a caller's job holds."""
        return self._borrowed.using(job)

    def bound_pod(self, uid: str) -> Pod | None:
        """A pod that is on a node and has not ended, ours or a foreign one."""
        return self._bound.get(uid)

    def account_all(self) -> None:
        """Count all bound pods again: there is a new pool."""
        for pod in self._bound.values():
            self.account(pod)

    def need(self, pools: Mapping[str, int]) -> NodeChanges:
        """Give all nodes these pools, and count what foreign pods hold of them."""
        changes = self.node_graph.need(pools)
        if changes:
            self.foreign.touch_all()
        return changes

    def _add_terms(self, pod: Pod) -> None:
        """Index a pod's anti-affinity terms, which may concern pods of ours that wait."""
        for term in self.anti_affinity.add(pod):
            for group in self.groups.values():
                for member in group.pods.values():
                    metadata = member.pod.metadata
                    if term.matches(metadata.namespace, metadata.labels):
                        member.forget_footprint()
                        self.mark_dirty(group)

    def settle_orphans(self, uids: Collection[str], unwatched: Container[str] = ()) -> None:
        """Pods of a workload that is not ours, or of a kind that cannot be watched, become groups
        of their own.

        The others stay orphans: their workload was deleted, and Kubernetes will delete them too, or
        there never was one, with the same effect. None of them may start until then.
        """
        for uid in uids:
            pod = self.orphans.get(uid)
            if pod is not None and self._awaited.is_in_vain(uid, self._not_ours, unwatched):
                del self.orphans[uid]
                self._awaited.stop(uid)
                self._join(pod, self._key_of_pod(pod), "")

    def without_pod_group(self) -> list[WorkloadGroup]:
        """Groups whose PodGroup was never seen, and that can start without it."""
        waiting = (each for each in self.groups.values() if each.waits_for_pod_group)
        return [each for each in waiting if not (each.lost_pod_group or _is_native(each))]

    def do_without_pod_group(self, groups: Iterable[WorkloadGroup]) -> None:
        """They have waited long enough: a group of Fluence's without a size has one pod."""
        for group in groups:
            group.do_without_pod_group()
            self.mark_dirty(group)

    def _sort_new(self, pod: Pod) -> WorkloadGroup | None:
        """Put a new pod into its group; None: its workload must be seen first."""
        top = self._links.top(pod.metadata)
        if top is None:
            return self._join(pod, self._key_of_pod(pod), "")
        if isinstance(top, str):
            return self._join(pod, self._group_of[top], top)
        self.orphans[pod.metadata.uid] = pod
        self._awaited.wait(pod.metadata.uid, top)
        return None

    def _join(self, pod: Pod, key: GroupKey, owner: str) -> WorkloadGroup:
        group = self._group(key)
        group.add_pod(pod, owner)
        self._group_of[pod.metadata.uid] = key
        self.mark_dirty(group)
        return group

    def _key_of_pod(self, pod: Pod) -> GroupKey:
        return key_of_pod(pod, options_or_error(pod.metadata)[0])

    # -- workloads -----------------------------------------------------------------------------

    def put_workload(self, kind: str, workload: Any) -> None:
        """A workload is new or changed."""
        uid, is_new = workload.metadata.uid, workload.metadata.uid not in self._workloads
        template = ADAPTERS[kind].template(workload)
        is_ours = template.spec.scheduler_name in self.names
        if is_new and not is_ours:
            self._not_ours.add(uid)
            return
        self._not_ours.discard(uid)
        if workload_owner(workload.metadata) is not None:
            self._put_link(workload)
            return
        if uid in self._links:  # nothing owns it any more
            self._links.drop(uid)
            self._sort_again(uid)
        self._workloads[uid] = (kind, workload)
        merged = _merged(template.metadata, workload.metadata)
        options, _ = options_or_error(merged)
        if is_new:
            own = self._kept.get(uid) or self._key_of_workload(kind, workload, options)
            self._group_of[uid] = own
        group = self._group(self._group_of[uid])
        priority = priority_of(template.spec, self._priority_classes)
        group.put_workload(kind, workload, merged, priority)
        group.set_creates_ours(uid, is_ours)
        self._note_name(group, uid, named_group(options, template.spec))
        self.mark_dirty(group)
        if is_new:
            self._adopt_orphans(uid)

    def _put_link(self, workload: Object) -> None:
        """A workload that another one owns: its pods belong to that."""
        uid, is_new = workload.metadata.uid, workload.metadata.uid not in self._links
        had_no_owner = uid in self._workloads
        if had_no_owner:
            self.drop_workload(workload)
        self._links.put(workload)
        if had_no_owner:
            self._sort_again(uid)
        if is_new:
            self._adopt_orphans(uid)

    def _sort_again(self, owner: str) -> None:
        """The pods that a workload created may belong to another group by now."""
        found = [
            member.pod
            for group in self.groups.values()
            for member in group.pods.values()
            if member.pod.metadata.controller is not None
            and member.pod.metadata.controller.uid == owner
        ]
        for pod in found:
            self.drop_pod(pod)
            self.put_pod(pod)

    def keep_grouped(self, uid: str, key: GroupKey) -> None:
        """A workload belonged to this group in an earlier term, and still does, though it may have
        been scaled since, and its PodGroup changed."""
        self._kept[uid] = key
        if uid in self._workloads and self._group_of[uid] != key:
            self._move(uid, key)

    def sized_by_pod_group(self, uid: str) -> bool:
        """Whether a PodGroup alone says how large the group is that a workload names."""
        group, named = self.group_of(uid), self.pod_groups.named_by(uid)
        if group is None or named is None or uid not in group.workload_options:
            return False
        by_labels = size_of_named(group.workload_options[uid], None)
        return by_labels is None and self.pod_groups.minimum(named) is not None

    def workloads_naming(self, key: GroupKey) -> list[str]:
        """Uids of the workloads that name a group, whether they belong to it or not."""
        return self.pod_groups.namers((key.namespace, key.name))

    def _move(self, uid: str, key: GroupKey) -> None:
        """A workload and its pods belong to another group from now on."""
        kind, workload = self._workloads[uid]
        before = self.groups[self._group_of[uid]]
        pods = [member.pod for member in before.pods.values() if member.owner == uid]
        for pod in pods:
            self.drop_pod(pod)
        self.drop_workload(workload)
        before.leave_for(uid, key)
        self._kept[uid] = key
        self.put_workload(kind, workload)
        for pod in pods:
            self.put_pod(pod)

    def _key_of_workload(self, kind: str, workload: Object, options: WorkloadLabels) -> GroupKey:
        namespace = workload.metadata.namespace
        name = named_group(options, ADAPTERS[kind].template(workload).spec)
        minimum = self.pod_groups.minimum((namespace, name))
        named = self.groups.get(GroupKey(LABELLED, namespace, name))
        if named is not None and named.lost_pod_group and size_of_named(options, minimum) is None:
            return named.key  # the others wait for their PodGroup, too
        return key_of_workload(kind, workload, options, minimum)

    def drop_workload(self, workload: Object) -> None:
        """A workload is gone; Kubernetes deletes its pods."""
        uid = workload.metadata.uid
        group = self.group_of(uid)
        self._links.drop(uid)
        self._workloads.pop(uid, None)
        self._kept.pop(uid, None)
        self._not_ours.discard(uid)
        if group is not None:
            del self._group_of[uid]
            group.remove_workload(workload)
            self._note_name(group, uid, "")
            self.mark_dirty(group)

    def _adopt_orphans(self, owner: str) -> None:
        """The workload of some orphans was seen, or another step on the way to it."""
        for uid in self._awaited.of(owner):
            self._awaited.stop(uid)
            self.put_pod(self.orphans.pop(uid))

    # -- pod groups ----------------------------------------------------------------------------

    def put_pod_group(self, pod_group: AnyPodGroup) -> None:
        """A PodGroup is new or changed: what names it may belong together now, or no longer."""
        self.pod_groups.put(pod_group)
        self._pod_group_changed(pod_group.key)
        self._regroup(pod_group.key)

    def drop_pod_group(self, pod_group: AnyPodGroup) -> None:
        """A PodGroup is gone. What names it stays together, and waits for it unless it runs."""
        self.pod_groups.drop(pod_group)
        self._pod_group_changed(pod_group.key)

    def _pod_group_changed(self, key: Key) -> None:
        """Tell the groups that name a PodGroup."""
        found = self.pod_groups.find(key)
        own = (self._group_of[uid] for uid in self.pod_groups.namers(key))
        for each in {GroupKey(LABELLED, *key): None, **dict.fromkeys(own)}:
            group = self.groups.get(each)
            if group is not None:
                group.set_pod_group(found)
                self.mark_dirty(group)
        self._count_elsewhere(key)

    def _regroup(self, key: Key) -> None:
        """Sort the workloads again that name a PodGroup. Nothing moves of what has started."""
        for uid in self.pod_groups.namers(key):
            kind, workload = self._workloads[uid]
            group = self.groups[self._group_of[uid]]
            has_ended = ADAPTERS[kind].end(workload) is not None
            if group.holding or has_ended or group.creates_no_more(uid):
                continue
            now = self._key_of_workload(kind, workload, group.workload_options[uid])
            if now != group.key:
                self._move(uid, now)

    def _note_name(self, group: WorkloadGroup, uid: str, name: str) -> None:
        """A workload of a group names this group; empty: none, or it is gone."""
        before = self.pod_groups.named_by(uid)
        key = (group.key.namespace, name) if name else None
        self.pod_groups.note_name(uid, key)
        if group.key.kind != LABELLED:
            if key != before:
                group.forget_pod_group()
            if key is not None:
                group.set_pod_group(self.pod_groups.find(key))
        for each in {before, key}:
            self._count_elsewhere(each)

    def _count_elsewhere(self, key: Key | None) -> None:
        """Count the pods that name a PodGroup, and that are no members of the group of its name."""
        group = self.groups.get(GroupKey(LABELLED, *key)) if key is not None else None
        if key is None or group is None or group.pod_group is None:
            return
        count = 0
        for uid in self.pod_groups.namers(key):
            other = self.groups.get(self._group_of.get(uid, group.key))
            if other is not None and other is not group:
                count += sum(m.owner == uid and _is_placed(m.pod) for m in other.pods.values())
        if group.set_members_elsewhere(count):
            self.mark_dirty(group)

    # -- groups --------------------------------------------------------------------------------

    def _group(self, key: GroupKey) -> WorkloadGroup:
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = WorkloadGroup(key)
            if key.kind == LABELLED:
                named = (key.namespace, key.name)
                group.set_pod_group(self.pod_groups.find(named))
                self._count_elsewhere(named)
        return group

    def empty_group(self, key: GroupKey) -> WorkloadGroup:
        """A group of which nothing is left but its job, or a new one of that name."""
        group = self._group(key)
        others = [key.uid] if key.uid else self.workloads_naming(key)
        for uid in others:
            if uid in self._workloads and self._group_of[uid] != key:
                group.leave_for(uid, self._group_of[uid])
        return group

    def storage_changed(self) -> None:
        """Claims, volumes or storage classes changed: groups that wait for a claim are dirty."""
        for group in self.groups.values():
            if _has_claims(group) and not group.holding:
                group.forget_footprints()
                self.mark_dirty(group)

    def priority_classes_changed(self, classes: PriorityClasses) -> None:
        """Priority classes were created, deleted or changed; `classes` are those that exist."""
        self._priority_classes = classes
        for uid in self._workloads:
            group = self.groups[self._group_of[uid]]
            priority = priority_of(group.template(uid).spec, classes)
            if group.set_priority(uid, priority):
                self.mark_dirty(group)

    def forget(self, group: WorkloadGroup) -> None:
        """Nothing of a group is left."""
        self.groups.pop(group.key, None)
        self._dirty_prioritized.discard(group.key)

    # -- what the controller has to look at ----------------------------------------------------

    @property
    def has_dirty(self) -> bool:
        return bool(self._dirty)

    @property
    def has_prioritized(self) -> bool:
        """Whether a group that is to be looked at asks for a priority."""
        return bool(self._dirty_prioritized)

    def mark_dirty(self, group: WorkloadGroup) -> None:
        """Something happened to a group: the controller has to look at it."""
        self._dirty[group.key] = None
        if group.options.priority:
            self._dirty_prioritized.add(group.key)

    def mark_all_dirty(self, keys: Iterable[GroupKey]) -> None:
        """What these groups waited for has happened; some may be gone."""
        for key in keys:
            if key in self.groups:
                self.mark_dirty(self.groups[key])

    def sort_dirty(self, rank: Callable[[WorkloadGroup], tuple[float, ...]]) -> None:
        """Have groups of a low rank looked at first."""
        known = (self.groups[key] for key in self._dirty if key in self.groups)
        self._dirty = {group.key: None for group in sorted(known, key=rank)}

    def take_dirty(self, most: int | None = None) -> list[WorkloadGroup]:
        """Groups that something happened to since the last call.

        With `most`, all that hold resources, and the first so many of the others.
        """
        taken = [self.groups[key] for key in self._dirty if key in self.groups]
        if most is not None and most < len(taken):
            holding = [group for group in taken if group.parts and group.holding]
            others = (group for group in taken if not (group.parts and group.holding))
            taken = [*holding, *islice(others, most)]
            for group in taken:
                del self._dirty[group.key]
        else:
            self._dirty.clear()
        self._dirty_prioritized.difference_update(group.key for group in taken)
        return taken

    def take_newly_bound(self) -> list[tuple[WorkloadGroup, Member]]:
        """Pods that were bound since the last call, and are still in their group."""
        uids, self._newly_bound = self._newly_bound, {}
        groups = ((uid, self.group_of(uid)) for uid in uids)
        return [(group, group.pods[uid]) for uid, group in groups if group is not None]


def _is_only_bound(group: WorkloadGroup, known: Pod, pod: Pod) -> bool:
    """Whether the only change of a pod is that it is bound to the node of its seat.

    Its labels may be others than before: the API server adds the topology labels of the node.
    """
    if known.spec.node_name or pod.metadata.deletion_timestamp is not None:
        return False
    part, task = group.seats.get(pod.metadata.uid, (None, 0))
    return (
        part is not None
        and pod.spec.node_name == part.nodes[task]
        and pod.status.phase == known.status.phase
    )


def _has_claims(group: WorkloadGroup) -> bool:
    specs = [member.pod.spec for member in group.pods.values()]
    specs += [group.template(uid).spec for uid in group.workloads]
    return any(volume.persistent_volume_claim for spec in specs for volume in spec.volumes)


def _is_native(group: WorkloadGroup) -> bool:
    """Whether Kubernetes' own scheduling groups make it a group: those require the PodGroup."""
    specs = [member.pod.spec for member in group.pods.values()]
    specs += [group.template(uid).spec for uid in group.workloads]
    return any(spec.scheduling_group is not None for spec in specs)


def _is_placed(pod: Pod) -> bool:
    """Whether a pod is on a node, or was there and succeeded."""
    return pod.status.phase == "Succeeded" or (bool(pod.spec.node_name) and is_live(pod))


def _is_exclusive(group: WorkloadGroup, uid: str) -> bool:
    """Whether a pod was given a node of its own."""
    return uid in group.pods and group.options_of(group.pods[uid]).exclusive


def _merged(template: Metadata, workload: Metadata) -> Metadata:
    """A workload's labels and annotations over those of its template."""
    own = workload.labels.keys() | workload.annotations.keys()
    inherited = {key: value for key, value in template.annotations.items() if key not in own}
    return Metadata(
        name=workload.name,
        namespace=workload.namespace,
        labels={**template.labels, **workload.labels},
        annotations={**inherited, **workload.annotations},
    )
