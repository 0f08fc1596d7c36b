"""Computes what a group asks of the queue, from its objects as they are now.

A group's size comes from its labels, from its PodGroup, or from the spec of its workloads. It is
*complete* when it has that many members. Pods that a workload has yet to create count as members,
because the workload creates them once it is released. Their shape is that of the template, which is
provisional: admission may change the pods, and then the group asks again.

Once a group has started, members without a seat are asked for as they come.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.agreement import disagreement
from fluxnetes.cluster.groups import (
    LABELLED,
    Member,
    WorkloadGroup,
    foreign_gate,
    is_live,
    least_by_labels,
)
from fluxnetes.cluster.labels.names import GROUP, GROUP_SIZE, MIN_SIZE, size_key
from fluxnetes.cluster.labels.parse import WorkloadLabels
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.common.reasons import Message, Reason, ReasonCode
from fluxnetes.kube.objects.base import Metadata
from fluxnetes.kube.objects.pods import PodSpec
from fluxnetes.match.gang.model import Gang
from fluxnetes.queue.jobs import ElasticSize

ReadFootprint = Callable[[PodSpec, Metadata, WorkloadLabels, str], Footprint]
"""Reads a footprint from a spec, its metadata, its parsed labels, and the namespace.

Raises `UnsupportedPod` for what is not supported, `Prerequisite` for what has to exist first."""


class UnsupportedPod(ValueError):  # noqa: N818 - names what is wrong
    """A pod asks for something that is not supported; the message is for its user."""

    def __init__(self, why: str | Reason) -> None:
        super().__init__(str(why))
        self.reason = _reason(why, ReasonCode.UNSUPPORTED)


class Prerequisite(Exception):  # noqa: N818 - nothing is wrong
    """Something has to happen first; the message is for the user."""

    def __init__(self, why: str | Reason) -> None:
        super().__init__(str(why))
        self.reason = _reason(why, ReasonCode.PREREQUISITE)


def _reason(why: str | Reason, code: ReasonCode) -> Reason:
    return why if isinstance(why, Reason) else Reason.from_text(why, code)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a group asks of the queue."""

    footprints: tuple[Footprint, ...]
    """Of each task; equal ones are adjacent."""
    size: ElasticSize | None
    walltime: int | None
    queue: str
    job_class: int
    priority: int
    hold: bool
    begin: int | None
    after: tuple[tuple[str, str], ...]
    endless: bool
    """Whether no default applies to it: a service that says no walltime has none."""
    requeue: bool
    """Whether it can be requeued once it has started: workloads created all of its pods."""

    @property
    def gang(self) -> Gang:
        return _gang(self.footprints)


@lru_cache(maxsize=1024)
def _gang(footprints: tuple[Footprint, ...]) -> Gang:
    """Equal requests are the same object, which is quick to compare."""
    shapes = (each.shape(len(list(same))) for each, same in groupby(footprints))
    return Gang(tuple(shapes))


@dataclass(frozen=True, slots=True)
class UnseatedMember:
    """A member without a seat: a pod or, without a uid, one that a workload has yet to create."""

    footprint: Footprint
    index: int
    uid: str = ""


def ask(group: WorkloadGroup, read: ReadFootprint) -> Demand | None:
    """What a group asks for now; None: nothing, or it is not complete (see `missing`)."""
    started = any(part.holds for part in group.parts)
    if started and not group.workloads and len(group.seats) >= len(group.pods):
        return None  # all pods have seats: the usual case for a group that has started
    if not started:
        _check_named(group)
    if not group.pods:
        _check_class(group)
    if not started:
        _check_size(group)
    least = 1 if started else least_size(group)
    if not started and _most_members(group) < least:
        return None
    unseated = unseated_members(group, read)
    if len(unseated) < max(1, least):
        _check_gates(group)
        return None
    most = _capacity_left(group, len(unseated)) if started else _most_size(group) or len(unseated)
    if most < 1:
        return None
    footprints = _adjacent(unseated[: max(least, most)])
    size = None
    if least < len(footprints):
        if footprints[0] == footprints[-1]:
            size = ElasticSize(least, len(footprints))
        else:
            footprints = _adjacent(unseated[:least])
    return demand_of(group, footprints, size)


def _check_named(group: WorkloadGroup) -> None:
    """What several objects name must be there, and they must agree about it."""
    if group.waits_for_pod_group and _has_members(group):
        name = group.pod_group_name or group.key.name
        if group.lost_pod_group:
            raise Prerequisite(Reason.of(Message.POD_GROUP_DELETED, name=name, key=GROUP_SIZE))
        raise Prerequisite(Reason.of(Message.POD_GROUP_MISSING, name=name))
    disagrees = disagreement(group)
    if disagrees is not None:
        raise UnsupportedPod(disagrees)


def _has_members(group: WorkloadGroup) -> bool:
    """Whether there are pods to place, or will be."""
    return has_pods_to_place(group) or any(pods_to_come(group, uid) for uid in group.workloads)


def _check_class(group: WorkloadGroup) -> None:
    """The API server creates no pods of a PriorityClass that does not exist."""
    for uid, priority in group.priorities.items():
        if priority is None:
            name = group.template(uid).spec.priority_class_name
            raise Prerequisite(f"there is no PriorityClass {name}")


def _check_gates(group: WorkloadGroup) -> None:
    """A pod with a scheduling gate of another component does not count as a member."""
    for member in group.pods.values():
        gate = foreign_gate(member.pod)
        if gate:
            name = member.pod.metadata.name
            raise Prerequisite(
                f"pod {name} has the scheduling gate {gate}, which another controller has to remove"
            )


def missing(group: WorkloadGroup) -> Reason:
    """How many members of a group are missing."""
    here = [member.pod for uid, member in group.pods.items() if _is_open(group, uid)]
    have = len(here) + sum(pods_to_come(group, uid) for uid in group.workloads)
    return Reason.of(Message.PODS_MISSING, have=have, need=least_size(group), group=str(group.key))


@dataclass(frozen=True, slots=True)
class MissingPods:
    """Pods that a group which has started should have, and for which it holds nothing."""

    missing: int
    need: int

    @property
    def reason(self) -> Reason:
        return Reason.of(Message.GANG_INCOMPLETE, missing=self.missing, need=self.need)


def missing_pods(group: WorkloadGroup) -> MissingPods | None:
    """The pods that a group lost after it had started; None: none.

    A group that its user made larger has never had the pods that are to come, so these are not
    missing; nor are pods of a workload that its user suspended.
    """
    holding = group.holding
    if not holding or not group.workloads:
        return None
    need = min(sum(_wanted(group, uid) for uid in group.open_workloads), least_size(group))
    need = min(need, sum(len(part.nodes) for part in holding))
    missing = need - sum(part.seats for part in holding)
    return MissingPods(missing, need) if missing > 0 else None


def _wanted(group: WorkloadGroup, uid: str) -> int:
    """The number of pods that a workload wants to run now."""
    adapter, workload = ADAPTERS[group.kinds[uid]], group.workloads[uid]
    is_suspended = adapter.is_suspended(workload) and not adapter.is_waiting_for_us(workload)
    return 0 if is_suspended else _left(group, uid)


def least_size(group: WorkloadGroup) -> int:
    """The number of members that must start together."""
    asked = _least_asked(group)
    left = sum(_left(group, uid) for uid in group.open_workloads)
    if asked is None:
        return 1 if group.is_service else max(1, left)
    # The last pods of a Job may be fewer than have to start together when there are more.
    return min(asked, max(1, left)) if _is_alone(group) else asked


def _least_asked(group: WorkloadGroup) -> int | None:
    """The same, as far as labels or a PodGroup say."""
    by_labels = least_by_labels(group.options)
    if by_labels is not None or group.pod_group is None:
        return by_labels
    minimum = group.pod_group.minimum
    if minimum is None or group.key.kind != LABELLED:
        return minimum
    return max(1, minimum - group.members_elsewhere)


def _is_alone(group: WorkloadGroup) -> bool:
    """Whether all members come from one workload, so that it is known how many there will be."""
    return group.key.kind in ADAPTERS and bool(group.workloads)


def _check_size(group: WorkloadGroup) -> None:
    """A workload that has fewer pods at a time than must start together would wait for ever."""
    options = group.options
    least = options.min_size if options.min_size is not None else options.size
    if least is None or not _is_alone(group):
        return
    most = sum(
        ADAPTERS[group.kinds[uid]].declared_size(workload)
        for uid, workload in group.workloads.items()
    )
    if 0 < most < least:
        key = MIN_SIZE if options.min_size is not None else size_key(options.dialect)
        raise UnsupportedPod(
            Reason.of(
                Message.GROUP_TOO_LARGE,
                key=key,
                size=least,
                workload=f"{group.key.kind.lower()}/{group.key.name}",
                most=most,
                group_key=GROUP,
            )
        )


def _most_size(group: WorkloadGroup) -> int | None:
    """The number of members that may start together; None: all."""
    if group.options.max_size is not None:
        return group.options.max_size
    return group.options.size


def _capacity_left(group: WorkloadGroup, wanted: int) -> int:
    """The number of members that a group which has started may still add."""
    if group.options.max_size is None:
        return wanted
    seats = sum(part.seats for part in group.parts if part.holds)
    return min(wanted, group.options.max_size - seats)


def _most_members(group: WorkloadGroup) -> int:
    """An upper bound of the members; quick, since most pods come to incomplete groups."""
    return len(group.pods) + sum(_size(group, uid) for uid in group.workloads)


def _size(group: WorkloadGroup, uid: str) -> int:
    return ADAPTERS[group.kinds[uid]].size(group.workloads[uid])


def _left(group: WorkloadGroup, uid: str) -> int:
    """The same without pods that succeeded, which the workload may not have counted yet."""
    adapter, workload = ADAPTERS[group.kinds[uid]], group.workloads[uid]
    return adapter.to_come(workload, 0, succeeded_pods(group, uid))


def succeeded_pods(group: WorkloadGroup, uid: str) -> int:
    """Pods that succeeded. Whether one that is being deleted counts only its workload knows."""
    owned = (member.pod for member in group.pods.values() if member.owner == uid)
    return sum(
        pod.status.phase == "Succeeded" and pod.metadata.deletion_timestamp is None for pod in owned
    )


def unseated_members(group: WorkloadGroup, read: ReadFootprint) -> list[UnseatedMember]:
    """Members that have no seat, in the order in which they would get one."""
    found: list[UnseatedMember] = []
    for number, (uid, member) in enumerate(group.pods.items()):
        if uid in group.seats or member.pod.spec.node_name or not is_live(member.pod):
            continue
        if group.is_closed_to(uid) or foreign_gate(member.pod):
            continue
        index = number if member.index is None else member.index
        found.append(UnseatedMember(footprint_of(group, member, read), index, uid))
    free = sum(_available_seats(group, part) for part in group.parts if part.holds)
    for uid in group.workloads:
        to_come = pods_to_come(group, uid)
        free, to_come = max(0, free - to_come), max(0, to_come - free)
        found += _to_create(group, uid, to_come, read, found)
    return sorted(found, key=lambda each: each.index)


def _is_open(group: WorkloadGroup, uid: str) -> bool:
    """Whether a pod waits for a node, and is not of an earlier group of the same label."""
    pod = group.pods[uid].pod
    return not pod.spec.node_name and is_live(pod) and not group.is_closed_to(uid)


def has_pods_to_place(group: WorkloadGroup) -> bool:
    """Whether pods without a seat exist, or will once we release their workload."""
    return any(
        ADAPTERS[group.kinds[uid]].is_waiting_for_us(workload)
        for uid, workload in group.workloads.items()
    ) or any(uid not in group.seats and _is_open(group, uid) for uid in group.pods)


def _available_seats(group: WorkloadGroup, part: GroupPart) -> int:
    """Seats of a part that are free, or will be once their pod has ended."""
    taken = (group.pods.get(uid) for uid in part.pods.values())
    return part.seats - sum(member is not None and is_live(member.pod) for member in taken)


def pods_to_come(group: WorkloadGroup, uid: str) -> int:
    """The number of pods that a workload will still create, once it is released."""
    adapter, workload = ADAPTERS[group.kinds[uid]], group.workloads[uid]
    if group.creates_no_more(uid) or (
        adapter.is_suspended(workload) and not adapter.is_waiting_for_us(workload)
    ):
        return 0
    live = sum(is_live(member.pod) for member in group.pods.values() if member.owner == uid)
    return adapter.to_come(workload, live, succeeded_pods(group, uid))


def _to_create(
    group: WorkloadGroup, uid: str, count: int, read: ReadFootprint, there: list[UnseatedMember]
) -> list[UnseatedMember]:
    if not count:
        return []
    footprint = _footprint_to_come(group, uid, read)
    used = {each.index for each in there}
    numbers = [n for n in range(count + len(used)) if n not in used]
    return [UnseatedMember(footprint, number) for number in numbers[:count]]


def _footprint_to_come(group: WorkloadGroup, uid: str, read: ReadFootprint) -> Footprint:
    """That of its pods, since admission may have changed them; else that of the template.

    The last pod is the most like those to come: the template of a service can change.
    """
    for member in reversed(group.pods.values()):
        if member.owner == uid and is_live(member.pod):
            return footprint_of(group, member, read)
    if uid in group.created:
        return group.created[uid]
    template = group.template(uid)
    return read(template.spec, template.metadata, group.workload_options[uid], group.key.namespace)


def footprint_of(group: WorkloadGroup, member: Member, read: ReadFootprint) -> Footprint:
    """A pod's footprint, read once."""
    if member.footprint is None:
        metadata, options = member.pod.metadata, group.options_of(member)
        footprint = read(member.pod.spec, metadata, options, metadata.namespace)
        return group.pod_read(member, footprint)
    return member.footprint


def _adjacent(members: list[UnseatedMember]) -> tuple[Footprint, ...]:
    """Footprints in order of first appearance, equal ones together."""
    counts: dict[Footprint, int] = {}
    for each in members:
        counts[each.footprint] = counts.get(each.footprint, 0) + 1
    return tuple(footprint for footprint, count in counts.items() for _ in range(count))


def demand_of(
    group: WorkloadGroup, footprints: tuple[Footprint, ...], size: ElasticSize | None
) -> Demand:
    """What a group asks for some of its members."""
    options = group.options
    owned = all(member.owner for member in group.pods.values() if is_live(member.pod))
    return Demand(
        footprints=footprints,
        size=size,
        walltime=_walltime(group),
        queue=queue_of(group),
        job_class=pod_priority(group),
        priority=options.priority or 0,
        hold=options.hold,
        begin=options.begin,
        after=options.after,
        endless=group.is_service and group.options.walltime is None,
        requeue=bool(group.workloads) and owned,
    )


def queue_of(group: WorkloadGroup) -> str:
    return group.options.queue or "default"


def _walltime(group: WorkloadGroup) -> int | None:
    """Our annotation; else what Kubernetes enforces; else none, and the queue's default applies."""
    if group.options.walltime is not None:
        return group.options.walltime
    known = [ADAPTERS[group.kinds[uid]].walltime(each) for uid, each in group.workloads.items()] + [
        m.pod.spec.active_deadline_seconds for m in group.pods.values() if not m.owner
    ]
    seconds = [each for each in known if each is not None]
    # The group lasts as long as its last pod; if one of them has no limit, neither has the group.
    return max(seconds) if seconds and len(seconds) == len(known) else None


def pod_priority(group: WorkloadGroup) -> int:
    """The class of the job that a group becomes."""
    for member in group.pods.values():
        return member.pod.spec.priority or 0
    return max((each or 0 for each in group.priorities.values()), default=0)
