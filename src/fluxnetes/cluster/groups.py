"""Groups: the pods that start together, and the workloads that create them.

A *group* is what a user thinks of as one job: a Job and its pods, pods and Jobs that name one group
label or PodGroup, or a single pod (`membership` decides). Its *members* are its live pods and the
pods that a workload of it has yet to create. A *part* of a group is one job of the queue (see
`parts`). Mostly a group has one part. It has more when pods come after the group has started: those
are queued as a part of their own.

    pods of the group ──▶ wait together ──▶ one part, queued ──▶ seats ──▶ bound ──▶ ended

Two owners change a group, both through its methods: the cluster model records what the API server
shows (pods, workloads, PodGroups, labels), and the controller records what the queue decides
(parts, seats, and that the group is closed).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from fluxnetes.cluster.adapters import ADAPTERS, WorkloadAdapter, WorkloadOutcome
from fluxnetes.cluster.labels.names import GATES, WALLTIME
from fluxnetes.cluster.labels.parse import NO_OPTIONS, WorkloadLabels, options_or_error
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.common.reasons import Reason
from fluxnetes.kube.objects.base import Metadata, Object
from fluxnetes.kube.objects.podgroups import AnyPodGroup
from fluxnetes.kube.objects.pods import Pod, PodSpec, PodTemplate

POD, LABELLED = "Pod", "Group"
"""Kinds of groups besides those of workloads: a single pod; what names one group label or one
PodGroup."""


class GroupKey(NamedTuple):
    """Identifies a group: a Job and a label group of the same name are two groups.

    So are a Job and the Job that is created again under its name while pods of the first still end.
    """

    kind: str
    namespace: str
    name: str
    uid: str = ""
    """Of the workload or the single pod; label groups have none."""

    def __str__(self) -> str:
        return f"{self.kind.lower()} {self.namespace}/{self.name}"

    @classmethod
    def of(cls, reference: str) -> GroupKey:
        """The group that a job of the queue stands for, from the job's workload reference."""
        return cls(*(*reference.split("/"), "", "", "")[:4])


@dataclass(slots=True)
class Member:
    """A pod of a group, with what was read from it."""

    pod: Pod
    owner: str = ""
    """The uid of the workload of the group that created it, which was checked; empty: none."""
    index: int | None = None
    """Its number, if its workload numbers its pods."""
    options: WorkloadLabels | None = None
    footprint: Footprint | None = None
    """None: it has to be read (again)."""

    def remember_footprint(self, footprint: Footprint) -> Footprint:
        self.footprint = footprint
        return footprint

    def forget_footprint(self) -> None:
        """Something that the footprint depends on has changed."""
        self.footprint = None


@dataclass(frozen=True, slots=True)
class NotQueued:
    """Why a group, or some of its pods, is not in the queue."""

    reason: Reason
    is_refused: bool = False
    """Whether it stays so until its user changes something; else it waits for something."""


@dataclass(slots=True, eq=False)
class WorkloadGroup:
    """The objects that belong together, and the jobs of the queue that stand for them."""

    key: GroupKey
    workloads: dict[str, Object] = field(default_factory=dict)
    """By uid."""
    kinds: dict[str, str] = field(default_factory=dict)
    """The kind of each workload."""
    workload_options: dict[str, WorkloadLabels] = field(default_factory=dict)
    """What each workload asks for, by labels and annotations of its own or of its template."""
    priorities: dict[str, int | None] = field(default_factory=dict)
    """The priority of pods of each workload's template; None: its PriorityClass does not exist."""
    created: dict[str, Footprint] = field(default_factory=dict)
    """What the last pod that each workload created asked for: admission may change pods, so the
    next ones ask for the same rather than for what the template says."""
    pod_group: AnyPodGroup | None = None
    pod_group_name: str = ""
    """The PodGroup that its members name; empty: none."""
    wants_pod_group: bool = False
    """Whether it waits for that PodGroup to be seen; see `waits_for_pod_group`."""
    lost_pod_group: bool = False
    """Whether its PodGroup was there, and was deleted."""
    members_elsewhere: int = 0
    """Pods of workloads that name this group, and that are groups of their own: on a node, or
    succeeded. They count towards the minimum of its PodGroup."""
    creates_others: set[str] = field(default_factory=set)
    """Uids of workloads whose template names another scheduler by now."""
    moved_to: GroupKey | None = None
    """The group that its members belong to since its PodGroup was seen or changed."""
    pods: dict[str, Member] = field(default_factory=dict)
    """By uid."""
    options: WorkloadLabels = NO_OPTIONS
    """What its objects ask for together."""
    said: set[WorkloadLabels] = field(default_factory=set)
    """All that its objects ever asked for. If it is more than one thing, they may disagree."""
    parts: list[GroupPart] = field(default_factory=list)
    """Those that wait or hold something."""
    seats: dict[str, tuple[GroupPart, int]] = field(default_factory=dict)
    """The part and task of each pod that has a seat, by uid."""
    ended_workloads: dict[str, WorkloadOutcome] = field(default_factory=dict)
    """How workloads ended, by uid; also of those that were deleted since."""
    deleted_workloads: set[str] = field(default_factory=set)
    """Workloads that were deleted before they ended, by uid."""
    ended_pods: dict[str, Pod] = field(default_factory=dict)
    """How pods were when they ended, by uid: of those that changed or went since. Kept for as long
    as the group has parts."""
    gone_for_good: set[str] = field(default_factory=set)
    """Uids of pods that are gone and that no workload replaces; for as long as it has parts."""
    changed_pods: set[str] = field(default_factory=set)
    """Uids of pods that changed since the controller last looked at the group."""
    closed: ClosedGroup | None = None
    rejected_late: tuple[Footprint, ...] = ()
    """What was rejected for pods that came late, while others of it run; not asked for again."""
    label_errors: dict[str, str] = field(default_factory=dict)
    """Invalid labels of some of its objects, by uid; while there are any it cannot be queued."""
    not_queued: NotQueued | None = None

    # -- what can be said of it ----------------------------------------------------------------

    @property
    def waits_for_pod_group(self) -> bool:
        """Whether its size is unknown until its PodGroup is seen, or is there again."""
        wants = self.wants_pod_group or self.lost_pod_group
        return wants and self.pod_group is None and least_by_labels(self.options) is None

    def template(self, uid: str) -> PodTemplate:
        """What the pods of one of its workloads will look like."""
        template: PodTemplate = ADAPTERS[self.kinds[uid]].template(self.workloads[uid])
        return template

    def workload_name(self, uid: str) -> str:
        """How users refer to one of its workloads, also if that is gone: `job/train`."""
        workload = self.workloads.get(uid)
        name = self.key.name if workload is None else workload.metadata.name
        return f"{self.kinds[uid].lower()}/{name}"

    def is_closed_to(self, uid: str) -> bool:
        """Whether a pod (without a uid: one that is yet to come) is not to be queued again."""
        closed = self.closed
        return closed is not None and (closed.for_good or not uid or uid in closed.pods)

    def creates_no_more(self, uid: str) -> bool:
        """Whether pods that a workload has yet to create are not to be queued again."""
        closed = self.closed
        if uid in self.creates_others:
            return True
        if closed is None or self.key.kind != LABELLED:
            return closed is not None
        return uid in closed.members

    @property
    def open_workloads(self) -> dict[str, Object]:
        """Its workloads, by uid, without those of an earlier group of the same name."""
        if self.closed is None or not self.closed.members:
            return self.workloads
        earlier = self.closed.members
        return {uid: each for uid, each in self.workloads.items() if uid not in earlier}

    def options_of(self, member: Member) -> WorkloadLabels:
        """What counts for a pod: its workload's labels or, if none created it, the pod's own."""
        return self.workload_options.get(member.owner) or member.options or NO_OPTIONS

    @property
    def is_service(self) -> bool:
        """Whether all of its pods run until they are removed, each for itself."""
        workloads = self.open_workloads
        if not workloads or not all(ADAPTERS[self.kinds[uid]].is_service for uid in workloads):
            return False
        return self.key.kind != LABELLED or all(member.owner for member in self.pods.values())

    @property
    def leading(self) -> GroupPart | None:
        """The part that stands for the group where there can be only one: the first that holds
        something; else the first."""
        return next((part for part in self.parts if part.holds), next(iter(self.parts), None))

    @property
    def waiting(self) -> GroupPart | None:
        """The part that waits for resources; if there is none, one that waits for its pods."""
        waiting = [part for part in self.parts if not part.holds]
        return next((part for part in waiting if not part.gathers), next(iter(waiting), None))

    @property
    def holding(self) -> list[GroupPart]:
        """The parts that hold resources."""
        return [part for part in self.parts if part.holds]

    @property
    def is_deleted(self) -> bool:
        """Whether its user deleted it: its workload, or all of its pods without a workload."""
        if self.key.kind in (POD, LABELLED):
            return not self.workloads and not self.pods
        return not self.workloads

    @property
    def is_gone(self) -> bool:
        return not self.pods and not self.workloads and not self.parts

    @property
    def reference(self) -> str:
        """How the queue and the store know the group; `GroupKey.of` is the reverse."""
        return "/".join(self.key).rstrip("/")

    # -- pods: called by the cluster model -----------------------------------------------------

    def add_pod(self, pod: Pod, owner: str) -> None:
        """A pod is new; `owner` is the uid of the workload that created it, or empty."""
        uid = pod.metadata.uid
        options = self._read(uid, pod.metadata)
        owner = owner if owner in self.kinds else ""
        index = ADAPTERS[self.kinds[owner]].index(pod) if owner else None
        self.pods[uid] = Member(pod, owner, index, options)
        if self.key.kind == LABELLED and names_pod_group(options, pod.spec):
            self.pod_group_name, self.wants_pod_group = self.key.name, True
        if self._speaks(self.pods[uid]):
            self.said.add(options)
            self.options = self._combined_with(options)
        self.changed_pods.add(uid)

    def update_pod(self, pod: Pod) -> None:
        """A pod changed; what was read from it may not hold any more."""
        member = self.pods[pod.metadata.uid]
        before, member.pod = member.pod, pod
        if before.is_over and self.parts and not member.owner:
            # How it ended first: a pod that is deleted later may be said to have failed then.
            self.ended_pods.setdefault(pod.metadata.uid, before)
        if before.spec != pod.spec:
            member.forget_footprint()
        old, new = before.metadata, pod.metadata
        is_relabelled = (old.labels, old.annotations) != (new.labels, new.annotations)
        if is_relabelled and pod.spec.node_name:
            # Of a pod that runs only the walltime can change.
            if _walltime_text(old) != _walltime_text(new):
                options = member.options or NO_OPTIONS
                member.options = replace(options, walltime=self._read(new.uid, new).walltime)
                self._speak_again(member)
        elif is_relabelled:
            member.forget_footprint()
            member.options = self._read(new.uid, new)
            self._speak_again(member)

    def remove_pod(self, pod: Pod) -> None:
        """A pod is gone; this is what it was in the end."""
        uid = pod.metadata.uid
        member = self.pods.pop(uid)
        if self.parts and not member.owner:
            self.gone_for_good.add(uid)
        if pod.is_over and self.parts:
            self.ended_pods.setdefault(uid, pod)
        self.label_errors.pop(uid, None)
        self.changed_pods.add(uid)
        self._speaker_gone()

    def pod_changed(self, uid: str) -> None:
        """The controller has to look at a pod."""
        self.changed_pods.add(uid)

    def pod_read(self, member: Member, footprint: Footprint) -> Footprint:
        """The footprint of a pod was read."""
        if member.owner:
            self.created[member.owner] = footprint
        return member.remember_footprint(footprint)

    def take_changed_pods(self) -> set[str]:
        """Uids of the pods that changed since the last call."""
        changed, self.changed_pods = self.changed_pods, set()
        return changed

    def forget_footprints(self) -> None:
        """Something that the footprints of all its pods depend on has changed."""
        self.created.clear()
        for member in self.pods.values():
            member.forget_footprint()

    # -- workloads and PodGroups: called by the cluster model ----------------------------------

    def put_workload(
        self, kind: str, workload: Object, merged: Metadata, priority: int | None
    ) -> None:
        """A workload is new or changed; `merged` is its metadata over that of its template."""
        uid = workload.metadata.uid
        if uid in self.workloads:
            self._follow(ADAPTERS[kind], self.workloads[uid], workload)
        self.workloads[uid] = workload
        self.kinds[uid] = kind
        self._note_end(workload)
        self.priorities[uid] = priority
        before = self.workload_options.get(uid)
        options = self.workload_options[uid] = self._read(uid, merged)
        self.moved_to = None
        self.deleted_workloads.discard(uid)
        self.said.add(options)
        self.options = self._all_combined()
        spec = self.template(uid).spec
        if names_pod_group(options, spec):
            self.pod_group_name = named_group(options, spec)
            self.wants_pod_group |= before is None
        if before is not None and before != options:
            self.forget_footprints()

    def _follow(self, adapter: WorkloadAdapter[Any], before: Object, after: Object) -> None:
        """A workload changed. Only a service has another template, or is used again."""
        if adapter.template(before) != adapter.template(after):
            self.created.pop(after.metadata.uid, None)
        if adapter.is_service and not adapter.size(before) and adapter.size(after):
            self.reopen()

    def remove_workload(self, workload: Object) -> None:
        """A workload is gone; this is what it was in the end.

        In a group of its own, what it asked for still counts for its pods that are left.
        """
        uid = workload.metadata.uid
        self._note_end(workload)
        if uid not in self.ended_workloads:
            self.deleted_workloads.add(uid)
        self.workloads.pop(uid, None)
        self.priorities.pop(uid, None)
        self.label_errors.pop(uid, None)
        self.created.pop(uid, None)
        self._speaker_gone()

    def _note_end(self, workload: Object) -> None:
        uid = workload.metadata.uid
        end = ADAPTERS[self.kinds[uid]].end(workload)
        if end is not None:
            self.ended_workloads[uid] = end

    def set_creates_ours(self, uid: str, is_so: bool) -> None:
        """Whether pods that a workload creates from now on are ours; a template can change."""
        if is_so:
            self.creates_others.discard(uid)
        else:
            self.creates_others.add(uid)

    def set_priority(self, uid: str, priority: int | None) -> bool:
        """The PriorityClass of a workload's template may have changed; whether it has."""
        has_changed = self.priorities[uid] != priority
        self.priorities[uid] = priority
        return has_changed

    def leave_for(self, uid: str, key: GroupKey) -> None:
        """A workload and its pods belong to another group from now on, and are gone from here."""
        self.deleted_workloads.discard(uid)
        if not self.workloads and not self.pods:
            self.moved_to = key

    def set_pod_group(self, pod_group: AnyPodGroup | None) -> None:
        """Its PodGroup is new or changed; None: there is none, or it is gone."""
        was_there = self.pod_group is not None or self.lost_pod_group
        self.lost_pod_group = pod_group is None and was_there
        self.pod_group = pod_group

    def forget_pod_group(self) -> None:
        """Its workload names another PodGroup, or none."""
        self.pod_group, self.lost_pod_group = None, False

    def do_without_pod_group(self) -> None:
        """Its PodGroup was waited for long enough."""
        self.wants_pod_group = False

    def set_members_elsewhere(self, count: int) -> bool:
        """So many pods that name this group run in groups of their own; whether that is news."""
        is_news = self.members_elsewhere != count
        self.members_elsewhere = count
        return is_news

    def _read(self, uid: str, metadata: Metadata) -> WorkloadLabels:
        """Read the labels of one of its objects, and remember what is invalid about them."""
        options, error = options_or_error(metadata)
        if error:
            self.label_errors[uid] = error
        else:
            self.label_errors.pop(uid, None)
        return options

    # -- what its members ask for together -----------------------------------------------------

    def _speaks(self, member: Member) -> bool:
        """Whether the labels of a pod count for its group: those of its workload do otherwise."""
        return not member.owner or not self.workloads

    def speakers(self) -> Iterator[tuple[str, WorkloadLabels]]:
        """What its members ask for, workloads first, and who they are."""
        for uid in self.open_workloads:
            yield self.workload_name(uid), self.workload_options[uid]
        for uid, member in self.pods.items():
            if member.options is not None and self._speaks(member) and not self.is_closed_to(uid):
                yield f"pod/{member.pod.metadata.name}", member.options

    def _speak_again(self, member: Member) -> None:
        """A pod asks for something else."""
        if self._speaks(member) and member.options is not None:
            self.said.add(member.options)
            self.options = self._all_combined()

    def _speaker_gone(self) -> None:
        """A member is gone. Of a group that waits, what it alone asked for counts no longer."""
        if self.key.kind == LABELLED and len(self.said) > 1 and not self.holding:
            self.options = self._all_combined()

    def _combined_with(self, options: WorkloadLabels) -> WorkloadLabels:
        """What its members ask for with one pod more, which asks for this."""
        if self.closed is None:
            is_first = len(self.pods) == 1 and not self.workloads
            return _combined(NO_OPTIONS if is_first else self.options, options)
        # Once a group has ended, what comes is another group of the same name.
        return self._all_combined() if self.workloads else options

    def _all_combined(self) -> WorkloadLabels:
        """What all of its members ask for."""
        options = NO_OPTIONS
        for _, each in self.speakers():
            options = _combined(options, each)
        return options

    # -- jobs of the queue: called by the controller -------------------------------------------

    def add_part(self, part: GroupPart) -> None:
        """Some of its members are queued."""
        self.parts.append(part)

    def requeue_part(self, part: GroupPart) -> None:
        """The job of a part waits again, and its pods have no seats."""
        self.seats = {uid: seat for uid, seat in self.seats.items() if seat[0] is not part}
        part.requeue()

    def remove_part(self, part: GroupPart) -> None:
        """The job of a part has ended."""
        self.parts.remove(part)
        if not self.parts:
            self.ended_pods.clear()
            self.gone_for_good.clear()
        self.seats = {uid: seat for uid, seat in self.seats.items() if seat[0] is not part}

    def close(self, closed: ClosedGroup) -> None:
        """Its job has ended, and what was there then is not queued again."""
        self.closed = closed
        self.deleted_workloads.clear()

    def reopen(self) -> None:
        """What was closed is queued again."""
        self.closed = None

    def reject_late(self, footprints: tuple[Footprint, ...]) -> None:
        """The queue rejected pods that came late; the same is not asked for again."""
        self.rejected_late = footprints

    def queued(self) -> None:
        """Nothing keeps it from being queued."""
        self.not_queued = None

    def wait_for(self, reason: Reason) -> None:
        """It cannot be queued before something else happens."""
        self.not_queued = NotQueued(reason)

    def refuse(self, reason: Reason) -> None:
        """It cannot be queued as it is."""
        self.not_queued = NotQueued(reason, is_refused=True)

    # -- seats: called by the controller -------------------------------------------------------

    def take_seat(self, uid: str, part: GroupPart, task: int) -> None:
        """A pod has a seat of a part now."""
        part.take_seat(task, uid)
        self.seats[uid] = (part, task)

    def leave_seat(self, uid: str) -> None:
        """A pod gives its seat up."""
        part, task = self.seats.pop(uid)
        part.leave_seat(task)


def _walltime_text(metadata: Metadata) -> tuple[str | None, str | None]:
    return metadata.labels.get(WALLTIME), metadata.annotations.get(WALLTIME)


def named_group(options: WorkloadLabels, spec: PodSpec) -> str:
    """The group label or the PodGroup that a pod or a template names; empty: none."""
    native = spec.scheduling_group
    return options.group or (native.pod_group_name if native is not None else "")


def names_pod_group(options: WorkloadLabels, spec: PodSpec) -> bool:
    """Whether what a pod or a template names is a PodGroup."""
    return bool(options.pod_group) or spec.scheduling_group is not None


def least_by_labels(options: WorkloadLabels) -> int | None:
    """The number of members that must start together, as labels say it."""
    return options.min_size if options.min_size is not None else options.size


def _combined(known: WorkloadLabels, more: WorkloadLabels) -> WorkloadLabels:
    """What several objects ask for together: the first that says something counts, but the largest
    of their sizes. Where that matters, objects that say different things start nothing at all
    (`agreement`)."""
    if known is NO_OPTIONS or known is more:
        return more
    if more is NO_OPTIONS:
        return known
    news: dict[str, Any] = {
        name: getattr(more, name)
        for name in _FIRST_COUNTS
        if getattr(known, name) is None and getattr(more, name) is not None
    }
    size = max(known.size or 0, more.size or 0) or None
    hold = known.hold or more.hold
    if not news and (size, hold) == (known.size, known.hold):
        return known  # nearly always: thousands of pods ask for the same
    return replace(known, size=size, hold=hold, **news)


_FIRST_COUNTS = ("queue", "walltime", "min_size", "max_size", "priority", "begin")


@dataclass(frozen=True, slots=True)
class ClosedGroup:
    """The group's job has ended; the pods that were there then are not queued again."""

    pods: frozenset[str]
    for_good: bool
    """Whether new pods do not open it again either: it was rejected or cancelled."""
    workloads: frozenset[str] = frozenset()
    """Those that had ended by then; they say nothing about a later group of the same label."""
    members: frozenset[str] = frozenset()
    """In a group that labels or a PodGroup name: all workloads that took part in the job. What they
    create after its end is no part of a later group of the same name."""
    is_refused: bool = False
    """Whether its pods are not placed: it was rejected, or cancelled while it waited."""


def is_live(pod: Pod) -> bool:
    """Whether a pod runs or may yet run."""
    return not pod.is_over and pod.metadata.deletion_timestamp is None


def foreign_gate(pod: Pod) -> str:
    """A scheduling gate that another component has to remove; empty: there is none."""
    gates = pod.spec.scheduling_gates
    return next((gate.name for gate in gates if gate.name not in GATES), "") if gates else ""
