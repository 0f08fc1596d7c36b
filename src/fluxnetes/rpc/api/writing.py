"""Writes values as messages of `fluxnetes.v1`."""

from __future__ import annotations

from collections.abc import Iterable

from fluxnetes.common.reasons import code_of
from fluxnetes.rpc.api.reading import at, lasting
from fluxnetes.service.values import JobView, NodeView, Pool, Share
from fluxnetes.service.views.reason_text import caller_text
from fluxnetes.v1 import jobs_pb2 as v1
from fluxnetes.v1 import resources_pb2 as resources

STATES = {
    "gathering": v1.JOB_STATE_GATHERING,
    "held": v1.JOB_STATE_HELD,
    "pending": v1.JOB_STATE_PENDING,
    "allocated": v1.JOB_STATE_ALLOCATED,
    "running": v1.JOB_STATE_RUNNING,
    "ending": v1.JOB_STATE_ENDING,
    "completed": v1.JOB_STATE_COMPLETED,
    "failed": v1.JOB_STATE_FAILED,
    "cancelled": v1.JOB_STATE_CANCELLED,
    "timed out": v1.JOB_STATE_TIMED_OUT,
    "rejected": v1.JOB_STATE_REJECTED,
    "reserved": v1.JOB_STATE_RESERVED,
}
ENDED = frozenset({"completed", "failed", "cancelled", "timed out", "rejected"})


def job_message(view: JobView) -> v1.Job:
    return v1.Job(
        id=view.id,
        state=STATES[view.state],
        reason=caller_text(view.reason),
        reason_code=code_of(view.reason),
        name=view.name,
        namespace=view.namespace,
        user=view.user,
        queue=view.queue,
        priority=view.priority,
        walltime=lasting(view.walltime),
        submitted=at(view.submitted),
        started=at(view.started),
        deadline=at(view.deadline),
        ended=at(view.ended),
        promised=at(view.promised),
        nodes=share_messages(view.shares),
    )


def share_messages(shares: Iterable[Share]) -> list[v1.NodeShare]:
    return [
        v1.NodeShare(node=share.node, tasks=share.tasks, amounts=share.amounts) for share in shares
    ]


def node_message(view: NodeView) -> resources.Node:
    return resources.Node(
        name=view.name,
        path=view.path,
        up=view.up,
        properties=view.properties,
        pools=map(pool_message, view.pools),
        shares=(
            resources.Share(job=each.job, amounts=each.amounts, reserved=each.reserved)
            for each in view.shares
        ),
    )


def pool_message(pool: Pool) -> resources.Pool:
    return resources.Pool(
        type=pool.type,
        unit=pool.unit,
        total=pool.total,
        free=pool.free,
        reserved=pool.reserved,
        others=pool.others,
    )
