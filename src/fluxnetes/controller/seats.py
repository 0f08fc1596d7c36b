"""Assigns pods to seats, and ends or holds the seats whose pods have ended.

A new pod takes a seat of its footprint: a pod with an index the seat of that number, other pods the
first free one. The seat determines the pod's node. So every pod gets exactly the node that the
queue chose, in the order in which the queue chose them.

A pod that ended leaves its seat. If its workload will create another pod, the seat is held for it
for a while; else the task has ended, and its resources are free at once.
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
from fluxnetes.cluster.groups import Member, WorkloadGroup, is_live
from fluxnetes.cluster.labels.names import JOB, TASK
from fluxnetes.cluster.parts import GroupPart, HeldSeat
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.common.reasons import Message, Reason
from fluxnetes.controller.finish import end_tasks
from fluxnetes.controller.state import ControllerState
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.events import Cancel
from fluxnetes.queue.states import JobState

_LONGEST_NUMBER = 12
"""Maximum digits of a number in an annotation, which any user can write."""


@dataclass(slots=True, eq=False)
class SeatAssigner:
    """Assigns pods to seats, and follows what becomes of them."""

    shared: ControllerState
    read: ReadFootprint

    def settle(self, group: WorkloadGroup) -> None:
        """Look at the pods of a group that changed."""
        if group.is_deleted:
            self._cancel(group)
        for uid in group.take_changed_pods():
            if uid in group.seats:
                self._check_pod(group, uid)
            elif uid in group.pods:
                self._take_seat_where_bound(group, group.pods[uid].pod)
        if not group.workloads:
            self._end_seats(group)  # no replacements come, and a waiting pod has its own seat
        # New pods first take seats: a replacement may have come with the end of another pod.
        self.assign(group)
        self._return_misfits(group)
        if any(part.held or _is_awaited(group, part) for part in group.parts):
            self._end_seats(group)

    def _cancel(self, group: WorkloadGroup) -> None:
        """Its user deleted the group; Kubernetes deletes the rest of it."""
        for part in group.holding:
            if self.shared.state(part) in (JobState.ALLOCATED, JobState.RUNNING):
                self.shared.send(Cancel(part.job, Reason.of(Message.DELETED_BY_USER)))
                self.shared.request_reconcile(group)

    def assign(self, group: WorkloadGroup) -> None:
        """Give free seats to pods without one."""
        parts = [part for part in group.holding if self._takes_pods(part)]
        if not any(len(part.pods) < part.seats for part in parts):
            return
        for uid, member in group.pods.items():
            if uid in group.seats or member.pod.spec.node_name or not is_live(member.pod):
                continue
            found = None if group.is_closed_to(uid) else self._find(group, parts, member)
            if found is not None:
                group.take_seat(uid, *found)
                self.shared.request_reconcile(group)

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

    def _return_misfits(self, group: WorkloadGroup) -> None:
        """A template's footprint is provisional: where the pods have others, ask for those."""
        for part in group.holding:
            if self.shared.state(part) is not JobState.ALLOCATED or part.returning:
                continue
            if group.is_service and part.bound:
                continue  # its template changed; what does not fit asks by itself
            if _is_awaited(group, part) and any(
                self._is_left_over(group, uid) for uid in group.pods
            ):
                part.start_return(Reason.of(Message.TEMPLATE_DIFFERS))
                self.shared.request_reconcile(group)

    def _is_left_over(self, group: WorkloadGroup, uid: str) -> bool:
        pod = group.pods[uid].pod
        waits = not pod.spec.node_name and is_live(pod) and not group.is_closed_to(uid)
        return waits and uid not in group.seats

    # -- changes of pods -----------------------------------------------------------------------

    def seen_bound(self, group: WorkloadGroup, pod: Pod) -> None:
        """A pod was seen on the node of its seat; it may have changed again since."""
        part, task = group.seats.get(pod.metadata.uid, (None, 0))
        if part is not None and pod.spec.node_name == part.nodes[task] and not pod.is_over:
            self.pod_bound(part, task)
            self.shared.request_reconcile(group)

    def _check_pod(self, group: WorkloadGroup, uid: str) -> None:
        part, task = group.seats[uid]
        member = group.pods.get(uid)
        if member is None or member.pod.is_over:
            self._vacate(group, uid, member)
        elif member.pod.spec.node_name == part.nodes[task]:
            self.pod_bound(part, task)
            self.shared.request_reconcile(group)
        elif member.pod.spec.node_name:
            if self._take_seat_where_bound(group, member.pod):
                return
            # Another scheduler bound it to another node. It holds that one, so ours is free; how
            # the job ended is known when the pod has ended.
            group.leave_seat(uid)
            self.shared.model.account(member.pod)
            part.hold_seat(task, self.shared.clock, ok=True)
        elif task not in part.bound:  # else the watch has yet to show the bind
            part.request_bind(task)  # a scheduling gate of another component may be gone

    def _take_seat_where_bound(self, group: WorkloadGroup, pod: Pod) -> bool:
        """A bind that was in flight when its controller was killed may have been done after all.

        The pod then has the seat that the bind wrote, and the pod that had it gets another seat.
        """
        uid = pod.metadata.uid
        for part in group.holding:
            task = written_seat(self.shared, part, pod)
            if task is None or task in part.bound or (pod.is_over and task in part.held):
                continue
            if not self._fits(group, uid, part.footprints[task]):
                continue  # a user wrote that annotation, not a bind of ours
            for moved in (uid, part.pods.get(task, "")):
                if moved in group.seats:
                    group.leave_seat(moved)
            group.take_seat(uid, part, task)
            self.shared.model.account(pod)
            self.pod_bound(part, task)
            self._check_pod(group, uid)
            return True
        return False

    def _fits(self, group: WorkloadGroup, uid: str, seat: Footprint) -> bool:
        try:
            return footprint_of(group, group.pods[uid], self.read) == seat
        except (UnsupportedPod, Prerequisite):
            return False

    def pod_bound(self, part: GroupPart, task: int) -> None:
        """A pod is on its node."""
        if task not in part.bound:
            part.pod_bound(task)
            part.made_progress(self.shared.clock)

    def _vacate(self, group: WorkloadGroup, uid: str, member: Member | None) -> None:
        """A pod has ended or is gone."""
        part, task = group.seats[uid]
        was_bound = task in part.bound
        group.leave_seat(uid)
        part.made_progress(self.shared.clock)
        self.shared.request_reconcile(group)
        state = self.shared.state(part)
        if state is JobState.ENDING or part.returning:
            return
        is_replaced = bool(group.workloads) and uid not in group.gone_for_good
        if state is JobState.ALLOCATED and not was_bound and not is_replaced:
            part.start_return(Reason.of(Message.POD_DELETED))
            return
        ok = member is not None and member.pod.status.phase == "Succeeded"
        part.hold_seat(task, self.shared.clock + self.shared.settings.replacement_pod, ok=ok)
        self.shared.recheck_node(part.nodes[task])

    # -- tasks that have ended -----------------------------------------------------------------

    def _end_seats(self, group: WorkloadGroup) -> None:
        """End seats for which no pod will come, and those that were held for too long."""
        due = sum(pods_to_come(group, uid) for uid in group.workloads)
        for part in group.holding:
            if self.shared.state(part) is JobState.ENDING or part.returning:
                continue
            free = self._free_seats(group, part)
            excess = max(0, len(free) - due - self._seats_of_lost(group, part))
            due = max(0, due - len(free))
            late = [t for t in free[excess:] if t in part.held and self._is_late(part.held[t])]
            end_tasks(self.shared, group, part, free[:excess] + late)

    def end_empty_seats(self, group: WorkloadGroup, part: GroupPart) -> None:
        """No pods came for the seats of a service that are empty; others may use the nodes.

        Pods that come later ask again.
        """
        empty = [t for t in range(len(part.nodes)) if t not in part.pods and t not in part.ended]
        end_tasks(self.shared, group, part, empty)
        self.shared.model.mark_dirty(group)

    def _seats_of_lost(self, group: WorkloadGroup, part: GroupPart) -> int:
        """The number of seats held for replacements of pods that still exist, on a node that is
        gone: Kubernetes has yet to delete those pods, and their workload to replace them."""
        held = sum(not each.ok for each in part.held.values())
        if not held:
            return 0
        stray = (m.pod for uid, m in group.pods.items() if m.owner and uid not in group.seats)
        return min(held, sum(bool(pod.spec.node_name) and is_live(pod) for pod in stray))

    def _is_late(self, held: HeldSeat) -> bool:
        return held.until <= self.shared.clock

    def _free_seats(self, group: WorkloadGroup, part: GroupPart) -> list[int]:
        """Seats that may be ended, in order: of pods that succeeded, since failed pods are the ones
        that are replaced; then those that no pod ever took, the highest numbers first."""
        held = sorted(part.held, key=lambda task: not part.held[task].ok)
        if not _is_awaited(group, part):
            return held
        succeeded = [task for task in held if part.held[task].ok]
        taken = part.pods.keys() | part.held.keys() | part.ended
        never = [task for task in reversed(range(len(part.nodes))) if task not in taken]
        return succeeded + never + held[len(succeeded) :]


def written_seat(shared: ControllerState, part: GroupPart, pod: Pod) -> int | None:
    """The seat of a part that a bind of ours wrote into a pod's annotations; None: there is none.

    Users can write them too, so they count only if the pod is on the node of that seat. A job that
    was requeued and placed again has pods from before: those that have ended have no seat.
    """
    task = written_number(pod, TASK)
    if task is None or written_number(pod, JOB) != part.job or task >= len(part.nodes):
        return None
    if task in part.ended or not pod.spec.node_name or part.nodes[task] != pod.spec.node_name:
        return None
    if pod.metadata.controller is None:
        return task  # it was bound once, and no other pod comes in its place
    start = pod.status.start_time
    is_old = pod.is_over and start is not None and start.timestamp() < (shared.job(part).start or 0)
    return None if is_old else task


def written_number(pod: Pod, key: str) -> int | None:
    """A number that a bind wrote into an annotation."""
    text = pod.metadata.annotations.get(key, "")
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_NUMBER else None


def _is_awaited(group: WorkloadGroup, part: GroupPart) -> bool:
    """Whether there are seats for pods that a workload has yet to create."""
    return bool(group.workloads) and len(part.pods) < part.seats
