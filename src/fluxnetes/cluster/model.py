"""What there is on the cluster, sorted into groups.

Every object that is seen goes in here, one call an object. Pods that name one of our schedulers,
and workloads whose template does, are sorted into groups; groups that something happened to are
*dirty* until somebody settles them. All other pods that are bound count as others'.

Who owns a pod is what its ownerReferences claim, and users can write those. So a claim counts only
if there is such a workload, with that uid, in the pod's namespace, and it is ours. Pods can be seen
before the workload that made them, and wait here for it. If there is one that is not ours, they
stand for themselves; if there is none, they wait to be deleted, as Kubernetes does with what is
left of an owner that is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import LABELLED, NO_OPTIONS, POD, GroupKey, Member, WorkloadGroup
from fluxnetes.cluster.labels.names import SCHEDULER_NAMES
from fluxnetes.cluster.labels.parse import InvalidLabel, WorkloadLabels, read_options
from fluxnetes.cluster.node_graph import NodeChanges, NodeGraph
from fluxnetes.cluster.pods.anti_affinity_index import AntiAffinityIndex
from fluxnetes.cluster.pods.priorities import PriorityClasses, priority_of
from fluxnetes.cluster.pods.requests import held_amounts
from fluxnetes.cluster.usage.borrowed import BorrowedUsage
from fluxnetes.cluster.usage.foreign import Amounts, ForeignUsage
from fluxnetes.kube.objects.base import Key, Metadata, Object, Owner
from fluxnetes.kube.objects.podgroups import NativePodGroup, PodGroup
from fluxnetes.kube.objects.pods import Pod


class ClusterModel:
    """All groups, and what others hold."""

    def __init__(self, node_graph: NodeGraph, names: Collection[str] = SCHEDULER_NAMES) -> None:
        self.node_graph = node_graph
        self.names = frozenset(names)
        self.groups: dict[GroupKey, WorkloadGroup] = {}
        self.foreign = ForeignUsage()
        self._guests = BorrowedUsage()
        self.dirty: dict[GroupKey, None] = {}
        """A set that remembers who came first."""
        self.sat_down: dict[str, None] = {}
        """Uids of pods that were seen where they were to go, and of which there is no other news.
        Their groups are not dirty for that."""
        self.priority_classes: PriorityClasses = {}
        """Somebody else fills it, and says so (`touch_classified`)."""
        self._not_ours: set[str] = set()
        """Uids of workloads that are there and have nothing to do with us."""
        self.homeless: dict[str, Pod] = {}
        """Pods, by uid, whose workload nobody has seen yet."""
        self._group_of: dict[str, GroupKey] = {}
        """By uid of pod or workload."""
        self._workloads: dict[str, tuple[str, Object]] = {}
        """Kind and object of those that are ours, by uid."""
        self.anti_affinity = AntiAffinityIndex()
        self._bound: dict[str, Pod] = {}
        """All pods that are on a node and have not ended, ours and others'."""
        self._pod_groups: dict[Key, PodGroup | NativePodGroup] = {}

    def group_of(self, uid: str) -> WorkloadGroup | None:
        """The group of a pod or a workload."""
        key = self._group_of.get(uid)
        return self.groups.get(key) if key is not None else None

    # -- pods ----------------------------------------------------------------------------------

    def put_pod(self, pod: Pod) -> None:
        """A pod is there, new or changed."""
        uid = pod.metadata.uid
        if pod.spec.affinity is not None:
            self._see_terms(pod)
        if pod.spec.scheduler_name not in self.names:
            self.account(pod)
            return
        group = self.group_of(uid)
        if group is None:
            group = self._take_in(pod)
            if group is None:
                self.account(pod)
                return
        member = group.pods[uid]
        known = member.pod
        if known is not pod:
            self._refresh(group, member, pod)
        if _only_sat_down(group, known, pod):
            self.sat_down[uid] = None
        else:
            self._touch(group, uid)
        self.account(pod)

    def _refresh(self, group: WorkloadGroup, member: Member, pod: Pod) -> None:
        """A pod changed; what was read from it may not hold any more."""
        before, member.pod = member.pod, pod
        if before.spec != pod.spec:
            member.footprint = None
        said, says = before.metadata, pod.metadata
        if not pod.spec.node_name and (said.labels, said.annotations) != (
            says.labels,
            says.annotations,
        ):
            member.footprint = None
            self._hear(group, member)

    def _hear(self, group: WorkloadGroup, member: Member) -> None:
        """Read the marks of a pod, which count for its group unless workloads speak for it."""
        member.options = _note(group, member.pod.metadata.uid, member.pod.metadata)
        if not group.workloads:
            group.options = _combined_all(group)

    def drop_pod(self, pod: Pod) -> None:
        """A pod is gone."""
        uid = pod.metadata.uid
        self.foreign.drop(uid)
        self._bound.pop(uid, None)
        self._guests.drop(uid)
        self._account_guests()
        self.homeless.pop(uid, None)
        if pod.spec.affinity is not None:
            self.anti_affinity.lose(pod)
        group = self.group_of(uid)
        if group is not None:
            del self._group_of[uid]
            del group.pods[uid]
            group.refusals.pop(uid, None)
            self._touch(group, uid)

    def account(self, pod: Pod) -> None:
        """Count what a pod holds, as far as no job of ours stands for it."""
        uid, node = pod.metadata.uid, pod.spec.node_name
        if not node or pod.is_over:
            self._bound.pop(uid, None)
            self.foreign.drop(uid)
            self._guests.drop(uid)
            self._account_guests()
            return
        self._bound[uid] = pod
        group = self.group_of(uid)
        seat = group.seats.get(uid) if group is not None else None
        counted: Amounts = ()
        if seat is None:
            held = held_amounts(pod, exclusive=group is not None and _is_alone(group, uid))
            counted = self._guests.beyond(pod, held)
        else:
            self._guests.drop(uid)
        if self.anti_affinity.pooled:
            known = {} if seat is None else dict(seat[0].footprints[seat[1]].amounts)
            apart = self.anti_affinity.held_by(pod)
            counted += tuple(each for each in apart if each[0] not in known)
        if counted:
            self.foreign.put(uid, node, counted)
        else:
            self.foreign.drop(uid)
        self._account_guests()

    def lend(self, job: int, nodes: Mapping[str, Mapping[str, int]] | None) -> None:
        """What a caller's job has of nodes, pods that name it may use; None: no more."""
        self._guests.lend(job, nodes)
        self._account_guests()

    def _account_guests(self) -> None:
        """Some of them may be covered better, or worse, than they were."""
        for uid in self._guests.take_again():
            if uid in self._bound:
                self.account(self._bound[uid])

    def borrowers(self, job: int) -> int:
        """How many pods use what a caller's job has."""
        return self._guests.using(job)

    def account_everybody(self) -> None:
        """There is a pool that was not there before."""
        for pod in self._bound.values():
            self.account(pod)

    def need(self, pools: Mapping[str, int]) -> NodeChanges:
        """See to it that all machines have these pools, with what others hold of them."""
        turn = self.node_graph.need(pools)
        if turn:
            self.foreign.touch_all()
        return turn

    def _see_terms(self, pod: Pod) -> None:
        """Somebody keeps away from others, perhaps from pods of ours that wait."""
        for term in self.anti_affinity.see(pod):
            for group in self.groups.values():
                for member in group.pods.values():
                    metadata = member.pod.metadata
                    if term.matches(metadata.namespace, metadata.labels):
                        member.footprint = None
                        self.dirty[group.key] = None

    def settle_homeless(self, uids: Collection[str]) -> None:
        """Pods of a workload that is not ours stand for themselves.

        The others stay: their workload was deleted, and Kubernetes will delete them too, or there
        never was one, with the same effect. Nothing of them may start until then.
        """
        for uid in uids:
            pod = self.homeless.get(uid)
            owner = pod.metadata.controller if pod is not None else None
            if pod is not None and (owner is None or owner.uid in self._not_ours):
                del self.homeless[uid]
                self._join(pod, self._key_of_pod(pod, None), "")

    def unsized(self) -> list[WorkloadGroup]:
        """Groups whose PodGroup nobody has seen, and who could do without."""
        return [g for g in self.groups.values() if g.waits_for_pod_group and not _is_native(g)]

    def do_without_pod_group(self, groups: Iterable[WorkloadGroup]) -> None:
        """They have waited long enough: a group of Fluence's that says no size is of one pod."""
        for group in groups:
            group.wants_pod_group = False
            self._touch(group)

    def _take_in(self, pod: Pod) -> WorkloadGroup | None:
        """Sort a pod that is new; None: its workload must be seen first."""
        owner = pod.metadata.controller
        if owner is None or not _is_workload(owner):
            return self._join(pod, self._key_of_pod(pod, None), "")
        known = self._workloads.get(owner.uid)
        if known is None or known[1].metadata.namespace != pod.metadata.namespace:
            self.homeless[pod.metadata.uid] = pod
            return None
        return self._join(pod, self._key_of_pod(pod, owner.uid), owner.uid)

    def _join(self, pod: Pod, key: GroupKey, owner: str) -> WorkloadGroup:
        group = self._group(key)
        options = _note(group, pod.metadata.uid, pod.metadata)
        index = ADAPTERS[group.kinds[owner]].index(pod) if owner in group.kinds else None
        uid = pod.metadata.uid
        group.pods[uid] = Member(pod, owner if owner in group.kinds else "", index, options)
        self._group_of[uid] = key
        if key.kind == LABELLED:
            group.wants_pod_group |= (
                bool(options.pod_group) or pod.spec.scheduling_group is not None
            )
        if not group.workloads:
            # Once a group is over, pods that come are another one of the same name.
            known = group.options if group.closed is None and len(group.pods) > 1 else NO_OPTIONS
            group.options = _combined(known, options)
        self._touch(group, uid)
        return group

    def _key_of_pod(self, pod: Pod, owner: str | None) -> GroupKey:
        if owner is not None:
            return self._group_of[owner]
        metadata = pod.metadata
        options, _ = _marks(metadata)
        native = pod.spec.scheduling_group
        name = options.group or (native.pod_group_name if native is not None else "")
        if name:
            return GroupKey(LABELLED, metadata.namespace, name)
        return GroupKey(POD, metadata.namespace, metadata.name, metadata.uid)

    # -- workloads -----------------------------------------------------------------------------

    def put_workload(self, kind: str, workload: Any) -> None:
        """A workload is there, new or changed."""
        adapter = ADAPTERS[kind]
        uid = workload.metadata.uid
        template = adapter.template(workload)
        if template.spec.scheduler_name not in self.names:
            self._not_ours.add(uid)
            return
        merged = _merged(template.metadata, workload.metadata)
        options, _ = _marks(merged)
        is_new = uid not in self._workloads
        self._workloads[uid] = (kind, workload)
        if is_new:
            self._group_of[uid] = _key_of_workload(kind, workload, options, adapter.size(workload))
        group = self._group(self._group_of[uid])
        group.workloads[uid] = workload
        group.kinds[uid] = kind
        group.priorities[uid] = priority_of(template.spec, self.priority_classes)
        self._hear_workload(group, uid, merged)
        self._touch(group)
        if is_new:
            self._bring_home(uid)

    def _hear_workload(self, group: WorkloadGroup, uid: str, merged: Metadata) -> None:
        before, group.said[uid] = group.said.get(uid), _note(group, uid, merged)
        group.options = _combined_all(group)
        if before is not None and before != group.said[uid]:
            for member in group.pods.values():
                member.footprint = None

    def drop_workload(self, workload: Object) -> None:
        """A workload is gone; its pods will be soon."""
        uid = workload.metadata.uid
        group = self.group_of(uid)
        self._workloads.pop(uid, None)
        self._not_ours.discard(uid)
        if group is not None:
            del self._group_of[uid]
            group.workloads.pop(uid, None)
            group.priorities.pop(uid, None)
            group.refusals.pop(uid, None)
            self._touch(group)

    def _bring_home(self, owner: str) -> None:
        mine = [
            pod
            for pod in self.homeless.values()
            if pod.metadata.controller is not None and pod.metadata.controller.uid == owner
        ]
        for pod in mine:
            del self.homeless[pod.metadata.uid]
            self.put_pod(pod)

    # -- pod groups ----------------------------------------------------------------------------

    def put_pod_group(self, pod_group: PodGroup | NativePodGroup) -> None:
        self._pod_groups[pod_group.key] = pod_group
        self._set_pod_group(pod_group.key, pod_group)

    def drop_pod_group(self, pod_group: PodGroup | NativePodGroup) -> None:
        self._pod_groups.pop(pod_group.key, None)
        self._set_pod_group(pod_group.key, None)

    def _set_pod_group(self, key: Key, pod_group: PodGroup | NativePodGroup | None) -> None:
        group = self.groups.get(GroupKey(LABELLED, *key))
        if group is not None:
            group.pod_group = pod_group
            self._touch(group)

    # -- groups --------------------------------------------------------------------------------

    def _group(self, key: GroupKey) -> WorkloadGroup:
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = WorkloadGroup(key)
            if key.kind == LABELLED:
                group.pod_group = self._pod_groups.get((key.namespace, key.name))
        return group

    def empty_group(self, key: GroupKey) -> WorkloadGroup:
        """A group of which nothing is left but its job; or one of that name that is new."""
        return self._group(key)

    def _touch(self, group: WorkloadGroup, uid: str = "") -> None:
        self.dirty[group.key] = None
        if uid:
            group.changed.add(uid)

    def touch_claimants(self) -> None:
        """Something changed about volumes: look again at those who wait and claim some."""
        for group in self.groups.values():
            if _has_claims(group) and not any(part.holds for part in group.parts):
                self.dirty[group.key] = None
                for member in group.pods.values():
                    member.footprint = None

    def touch_classified(self) -> None:
        """Priority classes came, went or changed."""
        for uid in self._workloads:
            group = self.groups[self._group_of[uid]]
            priority = priority_of(group.template(uid).spec, self.priority_classes)
            if group.priorities[uid] != priority:
                group.priorities[uid] = priority
                self._touch(group)

    def forget(self, group: WorkloadGroup) -> None:
        """Nothing of a group is left."""
        self.groups.pop(group.key, None)

    def take_sat_down(self) -> list[tuple[WorkloadGroup, Member]]:
        """Pods that sat down since the last time and are still of their group."""
        uids, self.sat_down = self.sat_down, {}
        groups = ((uid, self.group_of(uid)) for uid in uids)
        return [(group, group.pods[uid]) for uid, group in groups if group is not None]

    def take_dirty(self, most: int | None = None) -> list[WorkloadGroup]:
        """Groups that something happened to since the last time, or the first so many of them."""
        taken = list(islice(self.dirty, most))
        for key in taken:
            del self.dirty[key]
        return [self.groups[key] for key in taken if key in self.groups]


def _only_sat_down(group: WorkloadGroup, known: Pod, pod: Pod) -> bool:
    """Whether all news of a pod is that it is bound as we said.

    Its labels may be others than before: the server adds some about its node's place.
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
    """Whether Kubernetes' own rules make it a group, which know no pods without their PodGroup."""
    return any(member.pod.spec.scheduling_group is not None for member in group.pods.values())


def _is_workload(owner: Owner) -> bool:
    """Whether an owner is of a kind that we have an adapter for; there are other kinds of Jobs."""
    adapter = ADAPTERS.get(owner.kind)
    return adapter is not None and adapter.resource.api_version == owner.api_version


def _combined(known: WorkloadLabels, more: WorkloadLabels) -> WorkloadLabels:
    """What pods say together: the first speaks for all, but of sizes the largest counts."""
    if known is NO_OPTIONS:
        return more
    size = max(known.size or 0, more.size or 0) or None
    hold = known.hold or more.hold
    if (size, hold) == (known.size, known.hold):
        return known  # nearly always: thousands of pods say the same
    return replace(known, size=size, hold=hold)


def _combined_all(group: WorkloadGroup) -> WorkloadLabels:
    """Workloads speak for their group; where there are none, its pods do."""
    options = NO_OPTIONS
    for uid in group.workloads:
        options = _combined(options, group.said[uid])
    for uid, member in group.pods.items() if not group.workloads else ():
        if member.options is not None and not group.is_closed_to(uid):
            options = _combined(options, member.options)
    return options


def _note(group: WorkloadGroup, uid: str, metadata: Metadata) -> WorkloadLabels:
    """Read what an object of a group says, and keep in mind if something is wrong with that."""
    options, refused = _marks(metadata)
    if refused:
        group.refusals[uid] = refused
    else:
        group.refusals.pop(uid, None)
    return options


def _is_alone(group: WorkloadGroup, uid: str) -> bool:
    """Whether a pod was given its node for itself."""
    return uid in group.pods and group.marks_of(group.pods[uid]).exclusive


def _marks(metadata: Metadata) -> tuple[WorkloadLabels, str]:
    """What an object says, and what is wrong with that."""
    try:
        return read_options(metadata), ""
    except InvalidLabel as bad:
        return NO_OPTIONS, str(bad)


def _merged(template: Metadata, workload: Metadata) -> Metadata:
    """A workload's marks may stand on itself or on its template; its own go first."""
    own = workload.labels.keys() | workload.annotations.keys()
    inherited = {key: value for key, value in template.annotations.items() if key not in own}
    return Metadata(
        name=workload.name,
        namespace=workload.namespace,
        labels={**template.labels, **workload.labels},
        annotations={**inherited, **workload.annotations},
    )


def _key_of_workload(kind: str, workload: Object, options: WorkloadLabels, size: int) -> GroupKey:
    """A workload is a group of its own, unless it says that it is a part of a larger one."""
    namespace, name = workload.key
    if options.group and (options.size or 0) > size:
        return GroupKey(LABELLED, namespace, options.group)
    return GroupKey(kind, namespace, name, workload.metadata.uid)
