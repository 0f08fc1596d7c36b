"""Parts of a group: one job of the queue each, with the seats that the queue gave it.

A part that holds resources has *seats*: one for each task of the job, on a node. A pod that has a
seat is to be bound to the seat's node, or is bound there. When the pod of a seat ends, the seat can
be *held* for a while for the pod's replacement.

    free ──take_seat──▶ taken ──pod_bound──▶ bound
     ▲                    │                    │
     └──leave_seat────────┴────────────────────┘    then free, held for a replacement, or ended

Only a part changes its own fields; other modules call the method that says what happened. A pod's
seat is also recorded in its group, so seats are taken and left through `WorkloadGroup`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.common.reasons import Reason

NO_NODE = "?"
"""In place of a node's name: the node is gone, or the queue is placing the task on another one."""


@dataclass(frozen=True, slots=True)
class HeldSeat:
    """A seat that is held for the replacement of a pod that ended."""

    until: float
    """Monotonic seconds."""
    ok: bool
    """Whether the pod that ended did so successfully."""


@dataclass(slots=True, eq=False)
class GroupPart:
    """One job of the queue, with the pods of the group that it stands for."""

    job: int
    footprints: tuple[Footprint, ...]
    """Of each task."""
    nodes: list[str] = field(default_factory=list)
    """The node of each task; empty while the job waits."""
    ended: set[int] = field(default_factory=set)
    """Tasks that have ended for the queue."""
    pods: dict[int, str] = field(default_factory=dict)
    """The uid of the pod on each seat, by task."""
    bound: set[int] = field(default_factory=set)
    """Tasks whose pod is on its node."""
    to_bind: set[int] = field(default_factory=set)
    """Tasks whose pod is to be bound, and for which no bind was requested yet."""
    held: dict[int, HeldSeat] = field(default_factory=dict)
    """Seats that wait for a replacement, by task."""
    returning: Reason | None = None
    """Why its resources are being given back to the queue; None: they are not."""
    retry_delay: int = 0
    """Seconds in which the job is not started again once it has been returned to the queue."""
    ending_since: float | None = None
    """Since when its pods should end: monotonic seconds; None: they should not."""
    gathers: bool = False
    """Whether its job waits until its pods are there (again)."""
    members: set[str] = field(default_factory=set)
    """The uids of all pods that took a seat since the job was placed; how the job ended follows
    from how they did, if no workload created them."""
    killed: set[str] = field(default_factory=set)
    """The uids of pods that this term's controller deleted."""
    unseen: int = 0
    """Tasks whose pods went while no controller led: nothing is known of how they ended."""
    failed_before: bool = False
    """Whether tasks failed before this term, of which the pods may be gone."""
    last_progress: float = 0.0
    """When a pod last took a seat, was bound or ended, or the job was placed: monotonic seconds."""
    _free: dict[Footprint, list[int]] = field(default_factory=dict)
    """Heaps of tasks that were free when they were pushed; some may have been taken since."""

    @property
    def holds(self) -> bool:
        """Whether it holds resources."""
        return bool(self.nodes)

    @property
    def seats(self) -> int:
        """The number of tasks that have not ended."""
        return len(self.nodes) - len(self.ended)

    @property
    def is_filled(self) -> bool:
        """Whether a pod is bound to every seat."""
        return self.holds and len(self.bound) >= self.seats

    # -- the job -------------------------------------------------------------------------------

    def reshape(self, footprints: tuple[Footprint, ...]) -> None:
        """The waiting job asks for other tasks now."""
        self.footprints = footprints

    def place(self, nodes: list[str], ended: Iterable[int]) -> None:
        """The queue gave it these nodes, or others, or more."""
        first = len(self.nodes)
        self.nodes = nodes
        self.ended = set(ended)
        if len(self.footprints) < len(nodes):
            # Tasks that were added have the only footprint that a group which can grow has.
            more = len(nodes) - len(self.footprints)
            self.footprints += (self.footprints[-1],) * more
        for task in range(first, len(nodes)):
            if task not in self.ended:
                self._offer(task)
        self.retry_binds()

    def lose_nodes(self, tasks: Iterable[int]) -> None:
        """Tasks left their nodes; the queue names other nodes with its next decision."""
        for task in tasks:
            self.nodes[task] = NO_NODE

    def end_tasks(self, tasks: Collection[int]) -> None:
        """Tasks have ended for the queue; no pod takes their seats any more."""
        self.ended.update(tasks)

    def start_return(self, reason: Reason, retry_delay: int = 0) -> None:
        """Begin to give its resources back to the queue; `reconcile` carries it out."""
        self.returning = reason
        self.retry_delay = max(self.retry_delay, retry_delay)

    def start_ending(self, now: float) -> float:
        """Its pods should end; returns for how many seconds they should have."""
        if self.ending_since is None:
            self.ending_since = now
        return now - self.ending_since

    def kill(self, uid: str) -> None:
        """A pod is about to be deleted, because the job has to end."""
        self.killed.add(uid)

    def requeue(self) -> None:
        """The job waits again, and holds nothing."""
        self.nodes, self.ended, self.returning, self.retry_delay = [], set(), None, 0
        self.ending_since = None
        self.failed_before = False
        self.unseen = 0
        self.killed.clear()
        self.members.clear()
        self.pods.clear()
        self.bound.clear()
        self.to_bind.clear()
        self.held.clear()
        self._free.clear()

    def gather(self, *, again: bool) -> None:
        """Its job waits until its pods are there or, not `again`, has all of them now."""
        self.gathers = again

    def expect_ends(self, members: Iterable[str], unseen: int = 0) -> None:
        """The job holds nothing, and ends with these pods."""
        self.members.update(members)
        self.unseen = unseen

    def resume(self, *, has_failed: bool, elsewhere: Iterable[str], unseen: int) -> None:
        """A term begins. Tasks may have failed before, pods may be on nodes that are gone, and some
        tasks have no pod any more."""
        self.failed_before = has_failed
        self.members.update(elsewhere)
        self.unseen = unseen

    def made_progress(self, now: float) -> None:
        """Something happened that brings the part closer to running."""
        self.last_progress = now

    # -- seats ---------------------------------------------------------------------------------

    def is_free(self, task: int, footprint: Footprint) -> bool:
        return (
            task < len(self.nodes)
            and task not in self.ended
            and task not in self.pods
            and self.footprints[task] == footprint
        )

    def first_free(self, footprint: Footprint) -> int | None:
        """The first free task of a footprint."""
        heap = self._free.get(footprint, [])
        while heap and not self.is_free(heap[0], footprint):
            heappop(heap)
        return heap[0] if heap else None

    def take_seat(self, task: int, uid: str) -> None:
        """A pod has this seat now; see `WorkloadGroup.take_seat`."""
        self.pods[task] = uid
        self.members.add(uid)
        self.to_bind.add(task)
        self.held.pop(task, None)

    def leave_seat(self, task: int) -> None:
        """The seat has no pod any more; see `WorkloadGroup.leave_seat`."""
        self.pods.pop(task, None)
        self.bound.discard(task)
        self.to_bind.discard(task)
        self._offer(task)

    def hold_seat(self, task: int, until: float, *, ok: bool) -> None:
        """Hold a seat for the replacement of a pod that ended."""
        self.held[task] = HeldSeat(until, ok)

    def release_seats(self, tasks: Iterable[int]) -> frozenset[int]:
        """Hold these seats no longer; returns those whose pod had failed."""
        released = [(task, self.held.pop(task)) for task in tasks if task in self.held]
        return frozenset(task for task, seat in released if not seat.ok)

    def _offer(self, task: int) -> None:
        heappush(self._free.setdefault(self.footprints[task], []), task)

    # -- binds ---------------------------------------------------------------------------------

    def request_bind(self, task: int) -> None:
        """The pod of a seat may be bound now."""
        self.to_bind.add(task)

    def retry_binds(self) -> None:
        """Request binds again for all pods that are not on their nodes."""
        self.to_bind = self.pods.keys() - self.bound

    def take_binds(self) -> list[int]:
        """The tasks to bind, in order; they count as requested."""
        tasks, self.to_bind = sorted(self.to_bind), set()
        return tasks

    def pod_bound(self, task: int) -> None:
        """The pod of a seat is on its node."""
        self.bound.add(task)
        self.to_bind.discard(task)
