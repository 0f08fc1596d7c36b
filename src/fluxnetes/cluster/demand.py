"""What a group asks for, as its objects say it now.

A group's size comes from its labels, from its PodGroup, or from the spec of its workloads. It is
*complete* when so many members are there. Pods that a workload is yet to make count as members,
because it will make them once it is let go. Their shape is the template's, which is provisional:
admission may change the pods, and then the group asks anew.

Of a group that has started, members without a seat are asked for as they come.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import GroupPart, Member, WorkloadGroup, gate_of_others, is_live
from fluxnetes.cluster.labels.parse import WorkloadLabels
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.kube.objects.base import Metadata
from fluxnetes.kube.objects.podgroups import NativePodGroup, PodGroup
from fluxnetes.kube.objects.pods import PodSpec
from fluxnetes.match.gang.model import Gang
from fluxnetes.queue.jobs import ElasticSize

ReadFootprint = Callable[[PodSpec, Metadata, WorkloadLabels, str], Footprint]
"""Of a spec, the metadata beside it, what the marks say, and the namespace.

Raises `UnsupportedPod` for what we do not honour, `Prerequisite` for what cannot be said yet."""


class UnsupportedPod(ValueError):  # noqa: N818 - it is the pod that is unfit
    """A pod asks for what we cannot honour; in words for its user."""


class Prerequisite(Exception):  # noqa: N818 - nothing is wrong
    """Something must come first; in words for its user."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What a group asks of the queue."""

    footprints: tuple[Footprint, ...]
    """Of each task, those of one shape side by side."""
    size: ElasticSize | None
    walltime: int | None
    queue: str
    job_class: int
    priority: int
    hold: bool
    begin: int | None
    after: tuple[tuple[str, str], ...]
    requeue: bool
    """Whether it can go back to the queue once it has started: workloads made all of it."""

    @property
    def gang(self) -> Gang:
        return _gang(self.footprints)


@lru_cache(maxsize=1024)
def _gang(footprints: tuple[Footprint, ...]) -> Gang:
    """Those who ask for the same ask with the same object, which is soon recognised."""
    shapes = (each.shape(len(list(same))) for each, same in groupby(footprints))
    return Gang(tuple(shapes))


@dataclass(frozen=True, slots=True)
class UnseatedMember:
    """A member that has no seat: a pod or, without a uid, one that a workload is yet to make."""

    footprint: Footprint
    index: int
    uid: str = ""


def ask(group: WorkloadGroup, read: ReadFootprint) -> Demand | None:
    """What a group asks for now; None: nothing, or it is not complete (`missing` says so)."""
    started = any(part.holds for part in group.parts)
    if not started and group.waits_for_pod_group:
        raise Prerequisite(f"there is no PodGroup {group.key.name} yet")
    if started and not group.workloads and len(group.seats) >= len(group.pods):
        return None  # everybody sits; most of what happens to a group that started is like this
    if not group.pods:
        _check_class(group)
    least = 1 if started else least_size(group)
    if not started and _most_members(group) < least:
        return None
    seatless = seatless_members(group, read)
    if len(seatless) < max(1, least):
        _check_gates(group)
        return None
    most = _room_left(group, len(seatless)) if started else _most_size(group) or len(seatless)
    if most < 1:
        return None
    footprints = _side_by_side(seatless[: max(least, most)])
    size = None
    if least < len(footprints):
        if footprints[0] == footprints[-1]:
            size = ElasticSize(least, len(footprints))
        else:
            footprints = _side_by_side(seatless[:least])
    return demand_of(group, footprints, size)


def _check_class(group: WorkloadGroup) -> None:
    """The server makes no pods of a class that is not there."""
    for uid, priority in group.priorities.items():
        if priority is None:
            name = group.template(uid).spec.priority_class_name
            raise Prerequisite(f"there is no PriorityClass {name}")


def _check_gates(group: WorkloadGroup) -> None:
    """A pod with a gate of somebody else does not count as being there."""
    for member in group.pods.values():
        gate = gate_of_others(member.pod)
        if gate:
            name = member.pod.metadata.name
            raise Prerequisite(
                f"pod {name} has the scheduling gate {gate}, which others must take off"
            )


def missing(group: WorkloadGroup) -> str:
    """In words, how much of a group is not there yet."""
    return f"{_most_members(group)} of the {least_size(group)} pods of {group.key} are there"


def least_size(group: WorkloadGroup) -> int:
    """How many members must start together."""
    options = group.options
    if options.min_size is not None:
        return options.min_size
    if options.size is not None:
        return options.size
    if isinstance(group.pod_group, PodGroup) and group.pod_group.spec.min_member:
        return group.pod_group.spec.min_member
    if isinstance(group.pod_group, NativePodGroup):
        gang = group.pod_group.spec.scheduling_policy.gang
        return gang.min_count if gang is not None else 1
    return max(1, sum(_left(group, uid) for uid in group.workloads))


def _most_size(group: WorkloadGroup) -> int | None:
    """How many members may start together; None: all that are there."""
    if group.options.max_size is not None:
        return group.options.max_size
    return group.options.size


def _room_left(group: WorkloadGroup, wanted: int) -> int:
    """How many more members a group that has started may have."""
    if group.options.max_size is None:
        return wanted
    seats = sum(part.seats for part in group.parts if part.holds)
    return min(wanted, group.options.max_size - seats)


def _most_members(group: WorkloadGroup) -> int:
    """No more members than this can be there; quick, since most pods come to incomplete groups."""
    return len(group.pods) + sum(_size(group, uid) for uid in group.workloads)


def _size(group: WorkloadGroup, uid: str) -> int:
    return ADAPTERS[group.kinds[uid]].size(group.workloads[uid])


def _left(group: WorkloadGroup, uid: str) -> int:
    """The same without what is seen to be done, of which the workload may not know yet."""
    adapter, workload = ADAPTERS[group.kinds[uid]], group.workloads[uid]
    return adapter.to_come(workload, 0, _succeeded(group, uid))


def _succeeded(group: WorkloadGroup, uid: str) -> int:
    """Pods that did well. Whether one counts that is being deleted only its workload knows."""
    mine = (member.pod for member in group.pods.values() if member.owner == uid)
    return sum(
        pod.status.phase == "Succeeded" and pod.metadata.deletion_timestamp is None for pod in mine
    )


def seatless_members(group: WorkloadGroup, read: ReadFootprint) -> list[UnseatedMember]:
    """Members that have no seat, in the order in which they would get one."""
    found: list[UnseatedMember] = []
    for number, (uid, member) in enumerate(group.pods.items()):
        if uid in group.seats or member.pod.spec.node_name or not is_live(member.pod):
            continue
        if group.is_closed_to(uid) or gate_of_others(member.pod):
            continue
        index = number if member.index is None else member.index
        found.append(UnseatedMember(footprint_of(group, member, read), index, uid))
    free = sum(_to_be_had(group, part) for part in group.parts if part.holds)
    for uid in group.workloads:
        to_come = pods_to_come(group, uid)
        free, to_come = max(0, free - to_come), max(0, to_come - free)
        found += _yet_to_make(group, uid, to_come, read, found)
    return sorted(found, key=lambda each: each.index)


def _to_be_had(group: WorkloadGroup, part: GroupPart) -> int:
    """Seats of a part where nobody sits, or only until its pod is gone."""
    taken = (group.pods.get(uid) for uid in part.pods.values())
    return part.seats - sum(member is not None and is_live(member.pod) for member in taken)


def pods_to_come(group: WorkloadGroup, uid: str) -> int:
    """How many pods a workload will yet make, if it runs or once we let it go."""
    adapter, workload = ADAPTERS[group.kinds[uid]], group.workloads[uid]
    if group.is_closed_to("") or (
        adapter.is_suspended(workload) and not adapter.is_waiting_for_us(workload)
    ):
        return 0
    live = sum(is_live(member.pod) for member in group.pods.values() if member.owner == uid)
    return adapter.to_come(workload, live, _succeeded(group, uid))


def _yet_to_make(
    group: WorkloadGroup, uid: str, count: int, read: ReadFootprint, there: list[UnseatedMember]
) -> list[UnseatedMember]:
    if not count:
        return []
    footprint = _footprint_to_come(group, uid, read)
    used = {each.index for each in there}
    numbers = [n for n in range(count + len(used)) if n not in used]
    return [UnseatedMember(footprint, number) for number in numbers[:count]]


def _footprint_to_come(group: WorkloadGroup, uid: str, read: ReadFootprint) -> Footprint:
    """Like those that are there, since admission may have changed them; else as the template."""
    for member in group.pods.values():
        if member.owner == uid and is_live(member.pod):
            return footprint_of(group, member, read)
    template = group.template(uid)
    return read(template.spec, template.metadata, group.said[uid], group.key.namespace)


def footprint_of(group: WorkloadGroup, member: Member, read: ReadFootprint) -> Footprint:
    """A pod's footprint, read once."""
    if member.footprint is None:
        metadata, options = member.pod.metadata, group.marks_of(member)
        member.footprint = read(member.pod.spec, metadata, options, metadata.namespace)
    return member.footprint


def _side_by_side(members: list[UnseatedMember]) -> tuple[Footprint, ...]:
    """Footprints in order of first appearance, equal ones together."""
    counts: dict[Footprint, int] = {}
    for each in members:
        counts[each.footprint] = counts.get(each.footprint, 0) + 1
    return tuple(footprint for footprint, count in counts.items() for _ in range(count))


def demand_of(
    group: WorkloadGroup, footprints: tuple[Footprint, ...], size: ElasticSize | None
) -> Demand:
    """What a group asks for these of its members."""
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
        requeue=bool(group.workloads) and owned,
    )


def queue_of(group: WorkloadGroup) -> str:
    return group.options.queue or "default"


def _walltime(group: WorkloadGroup) -> int | None:
    """Our annotation; else what Kubernetes enforces; else none, and the queue has a default."""
    if group.options.walltime is not None:
        return group.options.walltime
    known = [ADAPTERS[group.kinds[uid]].walltime(each) for uid, each in group.workloads.items()] + [
        m.pod.spec.active_deadline_seconds for m in group.pods.values() if not m.owner
    ]
    seconds = [each for each in known if each is not None]
    # The group lasts as long as its last pod; if one of them is endless, so is the group.
    return max(seconds) if seconds and len(seconds) == len(known) else None


def pod_priority(group: WorkloadGroup) -> int:
    """The class of the job that a group becomes."""
    for member in group.pods.values():
        return member.pod.spec.priority or 0
    return max((each or 0 for each in group.priorities.values()), default=0)
