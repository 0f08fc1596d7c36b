"""Which pod sits where, and what becomes of seats whose pods end.

A pod that comes takes a seat of its footprint: a pod with a number that of its number, others the
first that is free. What the pod's node is follows from the seat, so every pod gets exactly the node
that the queue gave, in the order in which it gave them.

A pod that ended leaves its seat. If its workload will make another the seat is kept for that one,
for a while; else the task is over, and what it held is free at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.cluster.demand import (
    Prerequisite,
    ReadFootprint,
    UnsupportedPod,
    footprint_of,
    pods_to_come,
)
from fluxnetes.cluster.groups import GroupPart, HeldSeat, Member, WorkloadGroup, is_live
from fluxnetes.cluster.labels.names import JOB, TASK
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.controller.state import ControllerState
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.events import Cancel
from fluxnetes.queue.states import JobState

_LONGEST_NUMBER = 12
"""Digits of a number that we believe; annotations can be written by anybody."""


@dataclass(slots=True, eq=False)
class SeatAssigner:
    """Seats pods, and notices how they do."""

    shared: ControllerState
    read: ReadFootprint

    def settle(self, group: WorkloadGroup) -> None:
        """Look at the pods that changed."""
        if group.is_deleted:
            self._cancel(group)
        for uid in group.changed:
            if uid in group.seats:
                self._look_at(group, uid)
            elif uid in group.pods:
                self._sit_where_bound(group, group.pods[uid].pod)
        group.changed.clear()
        if not group.workloads:
            self._give_up_seats(group)  # nobody makes others; who waits has a seat of its own
        # First whoever is there sits down: a replacement may have come with the end of another.
        self.seat(group)
        self._look_for_misfits(group)
        if any(part.kept or _is_awaited(group, part) for part in group.parts):
            self._give_up_seats(group)

    def _cancel(self, group: WorkloadGroup) -> None:
        """Its user deleted it; what is left of it will be gone soon."""
        for part in self.shared.holding(group):
            if self.shared.state(part) in (JobState.ALLOCATED, JobState.RUNNING):
                self.shared.tell(Cancel(part.job, "deleted by its user"))
                self.shared.carry(group)

    def seat(self, group: WorkloadGroup) -> None:
        """Give seats to those who have none."""
        parts = [part for part in self.shared.holding(group) if self._takes_pods(part)]
        if not any(len(part.pods) < part.seats for part in parts):
            return
        for uid, member in group.pods.items():
            if uid in group.seats or member.pod.spec.node_name or not is_live(member.pod):
                continue
            found = None if group.is_closed_to(uid) else self._find(group, parts, member)
            if found is not None:
                group.sit(uid, *found)
                self.shared.carry(group)

    def _takes_pods(self, part: GroupPart) -> bool:
        state = self.shared.state(part)
        return state in (JobState.ALLOCATED, JobState.RUNNING) and not part.returning

    def _find(
        self, group: WorkloadGroup, parts: list[GroupPart], member: Member
    ) -> tuple[GroupPart, int] | None:
        try:
            footprint = footprint_of(group, member, self.read)
        except (UnsupportedPod, Prerequisite):
            return None
        for part in parts:
            if member.index is not None and part.is_free(member.index, footprint):
                return part, member.index
            task = part.first_free(footprint)
            if task is not None:
                return part, task
        return None

    def _look_for_misfits(self, group: WorkloadGroup) -> None:
        """A template's footprint is provisional. Where the pods are others, we ask for those."""
        for part in self.shared.holding(group):
            if self.shared.state(part) is not JobState.ALLOCATED or part.returning:
                continue
            if _is_awaited(group, part) and any(
                self._is_left_over(group, uid) for uid in group.pods
            ):
                part.returning = "its pods ask for something else than their template said"
                self.shared.carry(group)

    def _is_left_over(self, group: WorkloadGroup, uid: str) -> bool:
        pod = group.pods[uid].pod
        waits = not pod.spec.node_name and is_live(pod) and not group.is_closed_to(uid)
        return waits and uid not in group.seats

    # -- how pods do ---------------------------------------------------------------------------

    def see(self, group: WorkloadGroup, pod: Pod) -> None:
        """A pod was seen where it was to go; there may be other news of it since."""
        part, task = group.seats.get(pod.metadata.uid, (None, 0))
        if part is not None and pod.spec.node_name == part.nodes[task] and not pod.is_over:
            self.bound(part, task)
            self.shared.carry(group)

    def _look_at(self, group: WorkloadGroup, uid: str) -> None:
        part, task = group.seats[uid]
        member = group.pods.get(uid)
        if member is None or member.pod.is_over:
            self._vacate(group, uid, member)
        elif member.pod.spec.node_name == part.nodes[task]:
            self.bound(part, task)
            self.shared.carry(group)
        elif member.pod.spec.node_name:
            if self._sit_where_bound(group, member.pod):
                return
            # Somebody else gave it another node. It holds that, so ours is free.
            group.leave(uid)
            self.shared.model.account(member.pod)
            part.kept[task] = HeldSeat(self.shared.clock, ok=True)
        else:
            part.to_bind.add(task)  # a gate of somebody else may be gone

    def _sit_where_bound(self, group: WorkloadGroup, pod: Pod) -> bool:
        """A bind that was under way when its controller was killed may be done after all.

        The pod then sits where that bind said, and whoever was to sit there finds another seat.
        """
        uid = pod.metadata.uid
        for part in self.shared.holding(group):
            task = written_seat(self.shared, part, pod)
            if task is None or task in part.bound or (pod.is_over and task in part.kept):
                continue
            if not self._fits(group, uid, part.footprints[task]):
                continue  # whoever wrote that, it was no bind of ours
            for moved in (uid, part.pods.get(task, "")):
                if moved in group.seats:
                    group.leave(moved)
            group.sit(uid, part, task)
            self.shared.model.account(pod)
            self.bound(part, task)
            self._look_at(group, uid)
            return True
        return False

    def _fits(self, group: WorkloadGroup, uid: str, seat: Footprint) -> bool:
        try:
            return footprint_of(group, group.pods[uid], self.read) == seat
        except (UnsupportedPod, Prerequisite):
            return False

    def bound(self, part: GroupPart, task: int) -> None:
        """A pod is on its node."""
        if task not in part.bound:
            part.bound.add(task)
            part.to_bind.discard(task)
            part.progress = self.shared.clock

    def _vacate(self, group: WorkloadGroup, uid: str, member: Member | None) -> None:
        """A pod is over or gone."""
        part, task = group.seats[uid]
        was_bound = task in part.bound
        group.leave(uid)
        part.progress = self.shared.clock
        self.shared.carry(group)
        state = self.shared.state(part)
        if state is JobState.ENDING or part.returning:
            return
        if state is JobState.ALLOCATED and not was_bound and not group.workloads:
            part.returning = "a pod of the group was deleted before it could start"
            return
        ok = member is not None and member.pod.status.phase == "Succeeded"
        part.kept[task] = HeldSeat(self.shared.clock + self.shared.settings.keep_seat, ok)
        self.shared.doubtful.add(part.nodes[task])

    # -- tasks that are over -------------------------------------------------------------------

    def _give_up_seats(self, group: WorkloadGroup) -> None:
        """Seats that nobody will take any more are over; so are those that were kept too long."""
        due = sum(pods_to_come(group, uid) for uid in group.workloads)
        for part in self.shared.holding(group):
            if self.shared.state(part) is JobState.ENDING or part.returning:
                continue
            free = self._free_seats(group, part)
            excess = max(0, len(free) - due - self._seats_of_lost(group, part))
            due = max(0, due - len(free))
            late = [t for t in free[excess:] if t in part.kept and self._is_late(part.kept[t])]
            self._end(part, free[:excess] + late)

    def _seats_of_lost(self, group: WorkloadGroup, part: GroupPart) -> int:
        """How many seats are kept for pods that are yet to be made in place of some that live, but
        on a node that is gone: they will be, too."""
        kept = sum(not each.ok for each in part.kept.values())
        if not kept:
            return 0
        stray = (m.pod for uid, m in group.pods.items() if m.owner and uid not in group.seats)
        return min(kept, sum(bool(pod.spec.node_name) and is_live(pod) for pod in stray))

    def _is_late(self, kept: HeldSeat) -> bool:
        return kept.until <= self.shared.clock

    def _free_seats(self, group: WorkloadGroup, part: GroupPart) -> list[int]:
        """Those that may be over: first of pods that did well, since it is others that are made
        again, then those that nobody ever took, of the highest numbers first."""
        kept = sorted(part.kept, key=lambda task: not part.kept[task].ok)
        if not _is_awaited(group, part):
            return kept
        well = [task for task in kept if part.kept[task].ok]
        taken = part.pods.keys() | part.kept.keys() | part.ended
        never = [task for task in reversed(range(len(part.nodes))) if task not in taken]
        return well + never + kept[len(well) :]

    def _end(self, part: GroupPart, tasks: list[int]) -> None:
        if not tasks:
            return
        badly = frozenset(t for t in tasks if t in part.kept and not part.kept[t].ok)
        for task in tasks:
            part.kept.pop(task, None)
        self.shared.end_tasks(part, tasks, badly)


def written_seat(shared: ControllerState, part: GroupPart, pod: Pod) -> int | None:
    """The seat that a bind of ours gave a pod, which wrote it down, if that is one of a part.

    Users can write it too, so it counts only if the pod is on the node of that seat. A job that
    went back and was placed again has pods from before: those that have ended sit nowhere.
    """
    task = written_number(pod, TASK)
    if task is None or written_number(pod, JOB) != part.job or task >= len(part.nodes):
        return None
    if task in part.ended or not pod.spec.node_name or part.nodes[task] != pod.spec.node_name:
        return None
    began = pod.status.start_time
    is_old = pod.is_over and began is not None and began.timestamp() < (shared.job(part).start or 0)
    return None if is_old else task


def written_number(pod: Pod, key: str) -> int | None:
    """A number that a bind wrote."""
    text = pod.metadata.annotations.get(key, "")
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_NUMBER else None


def _is_awaited(group: WorkloadGroup, part: GroupPart) -> bool:
    """Whether there are seats for pods that a workload is to make."""
    return bool(group.workloads) and len(part.pods) < part.seats
