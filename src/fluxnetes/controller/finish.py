"""Ends tasks of a part, and with the last of them the part, as Kubernetes says that it ended.

What Kubernetes does not say yet, no other component may guess: a part whose workload goes on waits
for what that does.
"""

from __future__ import annotations

from fluxnetes.cluster.groups import WorkloadGroup
from fluxnetes.cluster.outcome import (
    COMPLETED,
    REPLACED,
    is_suspended_by_user,
    outcome_of,
    runs_elsewhere,
    will_complete,
)
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.common.reasons import Message, Reason
from fluxnetes.controller.state import ControllerState


def end_tasks(
    shared: ControllerState, group: WorkloadGroup, part: GroupPart, tasks: list[int]
) -> None:
    """Tasks of a part have ended; no pod takes their seats any more."""
    if not tasks:
        return
    failed = part.release_seats(tasks)
    if len(part.ended.union(tasks)) < len(part.nodes):
        shared.end_tasks(part, tasks, failed)
    else:
        _finish(shared, group, part)


def _finish(shared: ControllerState, group: WorkloadGroup, part: GroupPart) -> None:
    """No pod of a part is left on its seats."""
    outcome = outcome_of(group, part)
    if outcome is None and will_complete(group):
        outcome = COMPLETED
    if runs_elsewhere(group, part):
        shared.await_end(group, part)
    elif outcome is None and group.is_service and len(group.holding) > 1:
        shared.job_over(part, REPLACED)
    elif outcome is not None or not group.workloads:
        shared.job_over(part, outcome)
    elif is_suspended_by_user(group):
        shared.suspend_job(group, part)
    else:
        why = Reason.of(Message.PODS_ENDED, workload=group.key.kind.lower())
        shared.gather_again(group, part, why)
