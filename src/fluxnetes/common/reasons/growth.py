"""Which reasons more nodes would do away with: what an autoscaler may act on.

Cluster Autoscaler and Karpenter buy nodes for pods whose condition PodScheduled has the reason
`Unschedulable`. A pod that waits for something that no node brings must not have it.
"""

from __future__ import annotations

from collections.abc import Mapping

from fluxnetes.common.reasons.codes import ReasonCode as Code
from fluxnetes.common.reasons.messages import Message
from fluxnetes.common.reasons.model import Reason

MORE_NODES_HELP: Mapping[Code, bool] = {
    # While a job waits.
    Code.RESOURCES: True,  # it does not fit beside what runs; with more nodes it would
    Code.GATHERING: False,  # pods are missing, and nodes would wait for them, idle
    Code.HELD: False,  # it starts when it is released, whatever there is
    Code.DEPENDENCY: False,  # the other job may take hours
    Code.BEGIN_TIME: False,  # nodes that come now would idle until then
    Code.LIMIT: False,  # it may not hold more, on whichever nodes
    Code.BUDGET: False,  # the same, over a period
    Code.PRIORITY: False,  # it fits on what is free, and only its turn has not come
    Code.PROMISED: False,  # the same: jobs before it have what is free
    Code.WINDOW: False,  # the nodes come back when the window, which was planned, is over
    Code.QUEUE_STOPPED: False,  # an operator wants nothing of it to start
    Code.PREREQUISITE: False,  # a claim or a class is missing
    Code.RETURNED: False,  # nodes were there, and its pods did not come; it is tried again later
    Code.SUBMITTED: False,  # whether it fits is not known yet: the next cycle says so
    # Why a request is refused.
    Code.UNSATISFIABLE: True,  # no node of today could serve it; a node group may have larger ones
    Code.INVALID: False,  # no cluster serves it
    Code.UNSUPPORTED: False,
    # Why a job started, moved or ended: it waits no longer, or what it waits for now is another
    # reason. The pods that an incomplete job lacks wait as a part with a reason of its own.
    Code.BACKFILLED: False,
    Code.ADOPTED: False,
    Code.ALTERED: False,
    Code.ENDLESS: False,
    Code.OVERRUN: False,
    Code.CLUSTER_CHANGED: False,
    Code.COMPLETED: False,
    Code.FAILED: False,
    Code.CANCELLED: False,
    Code.EXPIRED: False,
    Code.DELETED: False,
    Code.WITHDRAWN: False,
    Code.TIMED_OUT: False,
    Code.PREEMPTED: False,
    Code.NODES_LOST: False,
    Code.INCOMPLETE: False,
    Code.UNKNOWN: False,  # no reason to spend money
}
"""For every code, whether a job that waits for this reason could start if there were more nodes."""

_COME_BY_THEMSELVES = frozenset({Message.PREEMPTING})
"""Resources that are lacking, and are being freed for the job at this moment."""


def more_nodes_help(reason: Reason) -> bool:
    """Whether a job that waits for a reason could start if there were more nodes."""
    return MORE_NODES_HELP[reason.code] and reason.message not in _COME_BY_THEMSELVES
