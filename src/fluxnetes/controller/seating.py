"""Which pod sits where, and what becomes of seats whose pods end.

A pod that comes takes a seat of its footprint: a pod with a number that of its number, others the
first that is free. What the pod's node is follows from the seat, so every pod gets exactly the node
that the queue gave, in the order in which it gave them.

A pod that ended leaves its seat. If its workload will make another the seat is kept for that one,
for a while; else the task is over, and what it held is free at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.cluster.demand import NotYet, ReadFootprint, Unfit, footprint_of, pods_to_come
from fluxnetes.cluster.groups import Group, Kept, Member, Part, is_live
from fluxnetes.controller.desk import Desk
from fluxnetes.queue.events import TasksEnded
from fluxnetes.queue.states import State


@dataclass(slots=True, eq=False)
class Seating:
    """Seats pods, and notices how they do."""

    desk: Desk
    read: ReadFootprint

    def settle(self, group: Group) -> None:
        """Look at the pods that changed."""
        for uid in group.changed:
            if uid in group.seats:
                self._look_at(group, uid)
        group.changed.clear()
        # First whoever is there sits down: a replacement may have come with the end of another.
        self.seat(group)
        if any(part.kept for part in group.parts):
            self._give_up_seats(group)

    def seat(self, group: Group) -> None:
        """Give seats to those who have none."""
        parts = [part for part in self.desk.holding(group) if self._takes_pods(part)]
        if not any(len(part.pods) < part.seats for part in parts):
            return
        for uid, member in group.pods.items():
            if uid in group.seats or member.pod.spec.node_name or not is_live(member.pod):
                continue
            found = None if group.is_closed_to(uid) else self._find(group, parts, member)
            if found is not None:
                group.sit(uid, *found)
                self.desk.carry(group)

    def _takes_pods(self, part: Part) -> bool:
        state = self.desk.state(part)
        return state in (State.ALLOCATED, State.RUNNING) and not part.returning

    def _find(self, group: Group, parts: list[Part], member: Member) -> tuple[Part, int] | None:
        try:
            footprint = footprint_of(group, member, self.read)
        except (Unfit, NotYet):
            return None
        for part in parts:
            if member.index is not None and part.is_free(member.index, footprint):
                return part, member.index
            task = part.first_free(footprint)
            if task is not None:
                return part, task
        return None

    # -- how pods do ---------------------------------------------------------------------------

    def _look_at(self, group: Group, uid: str) -> None:
        part, task = group.seats[uid]
        member = group.pods.get(uid)
        if member is None or member.pod.is_over:
            self._vacate(group, uid, member)
        elif member.pod.spec.node_name == part.nodes[task]:
            self.bound(part, task)
            self.desk.carry(group)
        elif member.pod.spec.node_name:
            # Somebody else gave it another node. It holds that, so ours is free.
            group.leave(uid)
            self.desk.world.account(member.pod)
            part.kept[task] = Kept(self.desk.clock, ok=True)

    def bound(self, part: Part, task: int) -> None:
        """A pod is on its node."""
        if task not in part.bound:
            part.bound.add(task)
            part.progress = self.desk.clock

    def _vacate(self, group: Group, uid: str, member: Member | None) -> None:
        """A pod is over or gone."""
        part, task = group.seats[uid]
        was_bound = task in part.bound
        group.leave(uid)
        part.progress = self.desk.clock
        self.desk.carry(group)
        state = self.desk.state(part)
        if state is State.ENDING or part.returning:
            return
        if state is State.ALLOCATED and not was_bound and not group.workloads:
            part.returning = "a pod of the group was deleted before it could start"
            return
        ok = member is not None and member.pod.status.phase == "Succeeded"
        part.kept[task] = Kept(self.desk.clock + self.desk.settings.keep_seat, ok)

    # -- tasks that are over -------------------------------------------------------------------

    def _give_up_seats(self, group: Group) -> None:
        """Seats that nobody will take any more are over; so are those that were kept too long."""
        due = sum(pods_to_come(group, uid) for uid in group.workloads)
        for part in self.desk.holding(group):
            if self.desk.state(part) is State.ENDING or part.returning:
                continue
            free = part.seats - len(part.pods)
            # Those of pods that did well go first: it is the others that are made again.
            kept = sorted(part.kept, key=lambda task: not part.kept[task].ok)
            excess = max(0, free - due)
            due = max(0, due - free)
            late = [task for task in kept[excess:] if part.kept[task].until <= self.desk.clock]
            self._end(part, kept[:excess] + late)

    def _end(self, part: Part, tasks: list[int]) -> None:
        if not tasks:
            return
        badly = frozenset(task for task in tasks if not part.kept[task].ok)
        for task in tasks:
            del part.kept[task]
        part.ended.update(tasks)
        self.desk.tell(TasksEnded(part.job, tuple(sorted(tasks)), badly))
