"""Suspends workloads that wait while Kubernetes counts their deadline, and releases them.

`activeDeadlineSeconds` of a Job counts from `status.startTime`, which is set when the Job
controller first sees the Job, and again when the Job is resumed. A Job that names our scheduler and
is not suspended would so use up its deadline in the queue. One that does not start in the round
that first sees it is therefore suspended, and resumed when it starts: the deadline then counts from
its start. Its pods without a node are deleted, which costs nothing of its backoffLimit. The
deadline itself is not changed.

Where a controller owns the workload, and so decides whether it is suspended, the owner is suspended
(`cluster.adapters.owners`), unless other workloads of it run. What cannot be suspended is reported.
Time that passed while no controller ran is lost, and reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fluxnetes.cluster.adapters import ADAPTERS, SUSPENDABLE
from fluxnetes.cluster.adapters.base import Content
from fluxnetes.cluster.adapters.owners import active_owner, can_suspend, suspend_owner
from fluxnetes.cluster.groups import GroupKey, WorkloadGroup
from fluxnetes.controller.actions.queue import ActionQueue
from fluxnetes.controller.actions.types import Action, ChangeWorkload
from fluxnetes.controller.reporting.events import EventRecorder, about
from fluxnetes.controller.state import ControllerState
from fluxnetes.kube.objects.base import Owner

_WHY = "it waits in the queue, and its deadline counts from its start"
_START = "it may start"
_LOST_TIME = 10.0
"""Seconds of a deadline that may be lost without a warning."""


@dataclass(slots=True, eq=False)
class DeadlineKeeper:
    """Keeps deadlines from running while workloads wait."""

    shared: ControllerState
    actions: ActionQueue
    events: EventRecorder
    _to_check: dict[GroupKey, None] = field(init=False, default_factory=dict)
    """Groups with a deadline that runs, which may wait."""

    def settled(self, group: WorkloadGroup) -> None:
        """A group was looked at."""
        for uid in group.workloads:
            if ADAPTERS[group.kinds[uid]].is_suspended(group.workloads[uid]):
                self.shared.suspension_seen(uid)
        if any(_runs(group, uid) for uid in group.workloads):
            self._to_check[group.key] = None

    def suspend_waiting(self) -> None:
        """The queue has decided: suspend what did not start."""
        if self.actions.expects_more:
            return  # the queue has yet to decide on some
        keys, self._to_check = self._to_check, {}
        for key in keys:
            group = self.shared.model.groups.get(key)
            if group is None:
                continue
            for uid in [uid for uid in group.workloads if _runs(group, uid)]:
                if _is_started(group, uid):
                    if not any(part.bound for part in group.holding):
                        self._report_lost_time(group, uid)
                elif not all(part.is_filled for part in group.holding):
                    self._to_check[key] = None  # its pods may yet take the seats that are free
                elif _waits(group):
                    self._suspend(group, uid)

    def _suspend(self, group: WorkloadGroup, uid: str) -> None:
        workload, adapter = group.workloads[uid], SUSPENDABLE[group.kinds[uid]]
        owner = active_owner(workload)
        if owner is None:
            self.actions.request(change(group, uid, adapter.suspend(workload), _WHY))
        elif not can_suspend(owner):
            self._warn(group, uid, f"its owner {owner.kind} {owner.name} cannot be suspended")
            return
        elif self._has_running(owner):
            self._warn(group, uid, f"other workloads of {owner.kind} {owner.name} run")
            return
        else:
            noted = change(group, uid, adapter.note_owner_suspends(workload), _WHY)
            self.actions.request(noted)
            self.actions.request(_change_owner(group, owner, suspend=True, why=_WHY))
        self.shared.suspension_requested(uid)
        regarding = about(adapter.resource, workload)
        self.events.record(regarding, "Suspended", f"Suspended by the queue: {_WHY}")

    def _has_running(self, owner: Owner) -> bool:
        """Whether a workload of an owner has started."""
        return any(
            active_owner(workload) == owner and _is_started(group, uid)
            for group in self.shared.model.groups.values()
            if group.holding
            for uid, workload in group.workloads.items()
        )

    def _report_lost_time(self, group: WorkloadGroup, uid: str) -> None:
        """Its deadline may have run since before a controller saw it."""
        since = SUSPENDABLE[group.kinds[uid]].counting_since(group.workloads[uid])
        lost = 0 if since is None else self.shared.now - since
        if lost > _LOST_TIME:
            self._warn(group, uid, f"{lost:.0f} s of it had passed before a controller saw it")

    def _warn(self, group: WorkloadGroup, uid: str, why: str) -> None:
        regarding = about(ADAPTERS[group.kinds[uid]].resource, group.workloads[uid])
        note = f"activeDeadlineSeconds also counts time before the start: {why}"
        self.events.record(regarding, "DeadlineRuns", note, type="Warning")


def release(shared: ControllerState, group: WorkloadGroup, uid: str) -> Iterator[Action]:
    """What releases a workload of a group that may start."""
    if group.kinds[uid] not in SUSPENDABLE:
        return  # its pods are there, and are bound
    workload, adapter = group.workloads[uid], SUSPENDABLE[group.kinds[uid]]
    owner = active_owner(workload)
    if adapter.is_waiting_for_us(workload) or shared.is_suspending(uid):
        by_owner = adapter.is_suspended_by_owner(workload) or shared.is_suspending(uid)
        if owner is None or not by_owner:
            yield change(group, uid, adapter.release(workload), _START)
        else:
            yield _change_owner(group, owner, suspend=False, why=_START)
    elif (forgotten := adapter.forget_suspension(workload)) is not None:
        yield change(group, uid, forgotten, _START)


def change(group: WorkloadGroup, uid: str, content: Content, why: str) -> ChangeWorkload:
    """Change a workload of a group."""
    it = group.workloads[uid].metadata
    return ChangeWorkload(group.kinds[uid], it.namespace, it.name, uid, content, why)


def _change_owner(group: WorkloadGroup, owner: Owner, *, suspend: bool, why: str) -> ChangeWorkload:
    content = suspend_owner(suspend=suspend)
    return ChangeWorkload(owner.kind, group.key.namespace, owner.name, owner.uid, content, why)


def _runs(group: WorkloadGroup, uid: str) -> bool:
    """Whether Kubernetes counts the deadline of a workload now."""
    workload, adapter = group.workloads[uid], SUSPENDABLE.get(group.kinds[uid])
    if adapter is None:
        return False
    counts = adapter.counts_while_waiting(workload) and not adapter.is_suspended(workload)
    return counts and adapter.end(workload) is None


def _is_started(group: WorkloadGroup, uid: str) -> bool:
    """Whether pods of a workload have seats."""
    return any(group.pods[pod].owner == uid for pod in group.seats if pod in group.pods)


def _waits(group: WorkloadGroup) -> bool:
    """Whether a group, or the rest of it, waits in the queue or for something else."""
    blocked = group.not_queued
    is_blocked = blocked is not None and not blocked.is_refused
    return group.closed is None and (group.waiting is not None or is_blocked)
