"""Groups: the pods that start together, the workloads that make them, and who sits where.

A *group* is what a user thinks of as one job: a Job and its pods, pods that carry the same group
label, or a single pod. Its *members* are its pods that live and those that a workload of it is yet
to make. A *part* of a group is one job of the queue. Mostly a group has one part. It has more when
pods come after the group has started: those are queued as a part of their own.

A part that holds resources has *seats*: one for each task of the job, on a node. A pod that sits is
to be bound there, or is. A seat whose pod ended is *kept* while a replacement is due.

    pods of the group ──▶ wait together ──▶ one part, queued ──▶ seats ──▶ bound ──▶ ended
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.labels.names import GATES
from fluxnetes.cluster.labels.parse import WorkloadLabels, read_options
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.kube.objects.base import Metadata, Object
from fluxnetes.kube.objects.podgroups import NativePodGroup, PodGroup
from fluxnetes.kube.objects.pods import Pod, PodTemplate

NO_OPTIONS = read_options(Metadata())

POD, LABELLED = "Pod", "Group"
"""Kinds of groups besides those of workloads: a single pod; pods of one group label."""


class GroupKey(NamedTuple):
    """Which group: a Job and a label group of the same name are two.

    So are a Job and the one that is made anew under its name, while pods of the first still go.
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
        """The group that a job of the queue says it stands for."""
        return cls(*(*reference.split("/"), "", "", "")[:4])


@dataclass(slots=True)
class Member:
    """A pod of a group, with what was read from it."""

    pod: Pod
    owner: str = ""
    """The uid of the workload of the group that made it, which was checked; empty: none did."""
    index: int | None = None
    """Its number, if its workload numbers its pods."""
    options: WorkloadLabels | None = None
    footprint: Footprint | None = None


@dataclass(slots=True)
class HeldSeat:
    """A seat that waits for the replacement of a pod that ended."""

    until: float
    ok: bool


@dataclass(slots=True, eq=False)
class GroupPart:
    """One job of the queue, as the group sees it."""

    job: int
    footprints: tuple[Footprint, ...]
    """Of each task."""
    nodes: list[str] = field(default_factory=list)
    """The node of each task; empty while it waits."""
    ended: set[int] = field(default_factory=set)
    """Tasks that are over for the queue."""
    pods: dict[int, str] = field(default_factory=dict)
    """Who sits where: a pod's uid by task."""
    bound: set[int] = field(default_factory=set)
    """Tasks whose pod is on its node."""
    to_bind: set[int] = field(default_factory=set)
    """Tasks whose pod is to be bound and nobody was asked to yet."""
    kept: dict[int, HeldSeat] = field(default_factory=dict)
    returning: str = ""
    """Why it is being taken back; empty: it is not."""
    pause: int = 0
    """Seconds in which it is not tried again, once it has been taken back."""
    withdrawn: bool = False
    """It was taken out of the queue because its group asks for nothing, or something else."""
    progress: float = 0.0
    """When something last went forward."""
    _free: dict[Footprint, list[int]] = field(default_factory=dict)
    """Heaps of tasks where nobody sat when they were put there; some may be taken since."""

    @property
    def holds(self) -> bool:
        return bool(self.nodes)

    @property
    def seats(self) -> int:
        """How many tasks are not over."""
        return len(self.nodes) - len(self.ended)

    def place(self, nodes: list[str], ended: Iterable[int]) -> None:
        """The queue gave it these nodes, or others, or more."""
        first = len(self.nodes)
        self.nodes = nodes
        self.ended = set(ended)
        if len(self.footprints) < len(nodes):
            # What came later is of the only footprint that a group which can grow has.
            more = len(nodes) - len(self.footprints)
            self.footprints += (self.footprints[-1],) * more
        for task in range(first, len(nodes)):
            if task not in self.ended:
                self._offer(task)
        self.bind_again()

    def bind_again(self) -> None:
        """Ask anew for all whose pod is not on its node."""
        self.to_bind = self.pods.keys() - self.bound

    def wait_again(self) -> None:
        """It went back to the queue."""
        self.nodes, self.ended, self.returning, self.pause = [], set(), "", 0
        self.pods.clear()
        self.bound.clear()
        self.to_bind.clear()
        self.kept.clear()
        self._free.clear()

    def is_free(self, task: int, footprint: Footprint) -> bool:
        return (
            task < len(self.nodes)
            and task not in self.ended
            and task not in self.pods
            and self.footprints[task] == footprint
        )

    def first_free(self, footprint: Footprint) -> int | None:
        """The first task of a footprint where nobody sits."""
        heap = self._free.get(footprint, [])
        while heap and not self.is_free(heap[0], footprint):
            heappop(heap)
        return heap[0] if heap else None

    def sit(self, task: int, uid: str) -> None:
        self.pods[task] = uid
        self.to_bind.add(task)
        self.kept.pop(task, None)

    def leave(self, task: int) -> None:
        """Nobody sits there any more."""
        self.pods.pop(task, None)
        self.bound.discard(task)
        self.to_bind.discard(task)
        self._offer(task)

    def _offer(self, task: int) -> None:
        heappush(self._free.setdefault(self.footprints[task], []), task)

    @property
    def is_filled(self) -> bool:
        """Whether a pod is bound to every seat."""
        return self.holds and len(self.bound) >= self.seats


@dataclass(slots=True, eq=False)
class WorkloadGroup:
    """All that belongs together."""

    key: GroupKey
    workloads: dict[str, Object] = field(default_factory=dict)
    """By uid."""
    kinds: dict[str, str] = field(default_factory=dict)
    """The kind of each workload."""
    said: dict[str, WorkloadLabels] = field(default_factory=dict)
    """What each workload says, on itself or on its template."""
    priorities: dict[str, int | None] = field(default_factory=dict)
    """What pods of each workload's template count; None: it names a class that is not there."""
    pod_group: PodGroup | NativePodGroup | None = None
    wants_pod_group: bool = False
    """Whether its size is only in a PodGroup that it names; see `waits_for_pod_group`."""
    pods: dict[str, Member] = field(default_factory=dict)
    """By uid."""
    options: WorkloadLabels = NO_OPTIONS
    """What its objects say together."""
    parts: list[GroupPart] = field(default_factory=list)
    """Those that wait or hold something."""
    seats: dict[str, tuple[GroupPart, int]] = field(default_factory=dict)
    """Where each pod sits that does, by uid."""
    changed: set[str] = field(default_factory=set)
    """Uids of pods that changed since the group was last settled."""
    closed: ClosedGroup | None = None
    refused: tuple[Footprint, ...] = ()
    """What was rejected for pods that came late, while others of it run; not asked for again."""
    refusals: dict[str, str] = field(default_factory=dict)
    """What is wrong with some of its objects, by uid; while there is any it cannot be queued."""
    told: str = ""
    """What its user was last told about why it waits or is refused."""

    @property
    def waits_for_pod_group(self) -> bool:
        """Whether nobody can say how large it is before its PodGroup is seen."""
        return self.wants_pod_group and self.pod_group is None and self.options.size is None

    def template(self, uid: str) -> PodTemplate:
        """What the pods of one of its workloads will look like."""
        template: PodTemplate = ADAPTERS[self.kinds[uid]].template(self.workloads[uid])
        return template

    def is_closed_to(self, uid: str) -> bool:
        """Whether a pod (without a uid: one that is yet to come) is not to be queued again."""
        closed = self.closed
        return closed is not None and (closed.for_good or not uid or uid in closed.pods)

    def marks_of(self, member: Member) -> WorkloadLabels:
        """What counts for a pod: what its workload says or, if none made it, the pod itself."""
        return self.said.get(member.owner) or member.options or NO_OPTIONS

    @property
    def waiting(self) -> GroupPart | None:
        return next((part for part in self.parts if not part.holds), None)

    @property
    def is_deleted(self) -> bool:
        """Whether its user deleted it: its workload, or all of its pods that nobody made."""
        if self.key.kind in (POD, LABELLED):
            return not self.workloads and not self.pods
        return not self.workloads

    @property
    def is_gone(self) -> bool:
        return not self.pods and not self.workloads and not self.parts

    def sit(self, uid: str, part: GroupPart, task: int) -> None:
        part.sit(task, uid)
        self.seats[uid] = (part, task)

    def leave(self, uid: str) -> None:
        part, task = self.seats.pop(uid)
        part.leave(task)

    def wait_again(self, part: GroupPart) -> None:
        """A part went back to the queue, and its pods have no seats."""
        self.seats = {uid: seat for uid, seat in self.seats.items() if seat[0] is not part}
        part.wait_again()

    def end(self, part: GroupPart) -> None:
        """A part is over for the queue."""
        self.parts.remove(part)
        self.seats = {uid: seat for uid, seat in self.seats.items() if seat[0] is not part}

    @property
    def reference(self) -> str:
        """How the queue and the store know the group; `GroupKey.of` is the reverse."""
        return "/".join(self.key).rstrip("/")


@dataclass(frozen=True, slots=True)
class ClosedGroup:
    """The group's job has ended; what was there then is not queued again."""

    pods: frozenset[str]
    for_good: bool
    """Whether not even new pods open it again: it was rejected, cancelled or out of time."""
    reason: str = ""


def is_live(pod: Pod) -> bool:
    """Whether a pod runs or may yet run."""
    return not pod.is_over and pod.metadata.deletion_timestamp is None


def gate_of_others(pod: Pod) -> str:
    """A gate that is not ours to take off, if the pod has one; empty: it has none."""
    gates = pod.spec.scheduling_gates
    return next((gate.name for gate in gates if gate.name not in GATES), "") if gates else ""
