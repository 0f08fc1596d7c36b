"""Checks that no group was forgotten.

A pod of ours without a node, and a workload of ours that wants pods, must stand for a live job of
the queue or carry a reason why not. Every other module keeps it so as things happen; the sweep
looks at all groups from time to time, in case one of them missed something. A group that it finds
is opened and looked at again, and counted: a repair is always a bug.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import WorkloadGroup, is_live
from fluxnetes.controller.state import ControllerState

_log = logging.getLogger("fluxnetes.controller")

_INTERVAL = 30.0
"""Seconds between two sweeps."""


@dataclass(slots=True, eq=False)
class Sweep:
    """Finds and repairs groups that were forgotten."""

    shared: ControllerState
    repairs: int = field(init=False, default=0)
    """How many groups were found since the term began."""
    _last: float | None = field(init=False, default=None)

    def run(self) -> None:
        """Look at all groups, if it is time."""
        clock = self.shared.clock
        if self._last is not None and clock - self._last < _INTERVAL:
            return
        self._last = clock
        for group in self.shared.model.groups.values():
            if is_forgotten(group):
                self._repair(group)

    def _repair(self, group: WorkloadGroup) -> None:
        _log.error("%s was forgotten, and is looked at again: %s", group.key, group.closed)
        self.repairs += 1
        group.reopen()
        self.shared.model.mark_dirty(group)


def is_forgotten(group: WorkloadGroup) -> bool:
    """Whether a group wants to be placed, and neither the queue nor its user knows why it is
    not."""
    if group.parts or group.not_queued is not None:
        return False
    if group.is_refused:
        return False
    waits = any(
        not member.pod.spec.node_name and is_live(member.pod) and not group.is_given_up(uid)
        for uid, member in group.pods.items()
    )
    return waits or any(
        _is_suspended_by_us(group, uid) and not group.is_given_up(uid) for uid in group.workloads
    )


def _is_suspended_by_us(group: WorkloadGroup, uid: str) -> bool:
    adapter, workload = ADAPTERS[group.kinds[uid]], group.workloads[uid]
    wants_pods: bool = adapter.size(workload) > 0
    return wants_pods and adapter.is_waiting_for_us(workload) and adapter.end(workload) is None
