"""Converts messages of `fluxnetes.v1` to and from `values`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from fluxnetes.client import values
from fluxnetes.v1 import jobs_pb2 as v1
from fluxnetes.v1 import resources_pb2 as resources

T = TypeVar("T")

_PREFIX = "JOB_STATE_"
_STATES = {_PREFIX + state.name: state for state in values.State}


def ask(request: str | values.Gang) -> v1.Ask:
    """A jobspec as text, or a gang."""
    if isinstance(request, str):
        return v1.Ask(jobspec=request)
    shapes = (
        v1.Shape(count=each.count, amounts=each.amounts, exclusive=each.exclusive)
        for each in request.shapes
    )
    return v1.Ask(gang=v1.Gang(shapes=shapes))


def lasting(seconds: int | None) -> Duration | None:
    return None if seconds is None else Duration(seconds=seconds)


def read_job(message: v1.Job, at: int = 0, allocation: str = "") -> values.Job:
    return values.Job(
        message.id,
        _read_state(message.state),
        message.reason,
        message.name,
        message.namespace,
        message.user,
        message.queue,
        message.priority,
        _seconds(message, "walltime"),
        _seconds(message, "submitted"),
        _seconds(message, "started"),
        _seconds(message, "deadline"),
        _seconds(message, "ended"),
        _seconds(message, "promised"),
        _read_shares(message.nodes),
        at,
        allocation,
        message.reason_code,
    )


def read_match(message: v1.MatchResponse) -> values.Job:
    return read_job(message.job, message.at, message.allocation.text)


def read_expiry(message: v1.RenewResponse) -> int | None:
    return _seconds(message, "expires")


def read_job_change(message: v1.WatchJobsResponse) -> values.JobChange | values.Reset | None:
    """None: a message that callers need not see."""
    kinds = v1.WatchJobsResponse
    if message.kind == kinds.KIND_RESET:
        return values.Reset()
    if message.kind not in (kinds.KIND_CHANGED, kinds.KIND_ENDED):
        return None
    return values.JobChange(read_job(message.job), message.kind == kinds.KIND_ENDED, message.resume)


def _read_state(number: v1.JobState) -> values.State:
    name = v1.JobState.Name(number) if number in v1.JobState.values() else ""
    return _STATES.get(name, values.State.UNKNOWN)


def _seconds(message: Message, field: str) -> int | None:
    """The seconds of a time or a duration; None if it is not set."""
    if not message.HasField(field):
        return None
    seconds: int = getattr(message, field).seconds
    return seconds


def _sorted(found: Mapping[str, T]) -> dict[str, T]:
    """By key: maps of messages have no order."""
    return dict(sorted(found.items()))


def _read_shares(found: Iterable[v1.NodeShare]) -> tuple[values.NodeShare, ...]:
    return tuple(values.NodeShare(each.node, each.tasks, _sorted(each.amounts)) for each in found)


def read_explanation(message: v1.ExplainResponse) -> values.Explanation:
    story = tuple((each.time.seconds, each.text) for each in message.story)
    return values.Explanation(
        read_job(message.job), message.reason, message.ahead, story, message.reason_code
    )


def read_estimate(message: v1.EstimateResponse) -> values.Estimate:
    start = message.at if message.known else None
    nodes = _read_shares(message.nodes)
    return values.Estimate(message.known, start, nodes, message.reason, message.reason_code)


def read_node(message: resources.Node) -> values.Node:
    shares = (
        values.Share(each.job, _sorted(each.amounts), each.reserved) for each in message.shares
    )
    return values.Node(
        message.name,
        message.path,
        message.up,
        _sorted(message.properties),
        tuple(map(_read_pool, message.pools)),
        tuple(shares),
    )


def read_page(message: resources.ListNodesResponse) -> tuple[list[values.Node], str]:
    """Nodes, and the token of the next page; empty: this is the last."""
    return [read_node(each) for each in message.nodes], message.next_page_token


def read_node_change(
    message: resources.WatchResourcesResponse,
) -> values.NodeChange | values.Reset | None:
    """None: a message that callers need not see."""
    kinds = resources.WatchResourcesResponse
    if message.kind == kinds.KIND_RESET:
        return values.Reset()
    if message.kind not in (kinds.KIND_CHANGED, kinds.KIND_GONE):
        return None
    return values.NodeChange(
        read_node(message.node), message.kind == kinds.KIND_GONE, message.resume
    )


def _read_pool(message: resources.Pool) -> values.Pool:
    return values.Pool(
        message.type,
        message.total,
        message.free,
        message.reserved,
        message.others,
        message.unit,
    )


def read_status(message: resources.GetStatusResponse) -> values.Status:
    return values.Status(
        message.version,
        message.source,
        message.policy,
        message.queue,
        message.dialect,
        message.durable,
        message.vertices,
        message.nodes,
        message.nodes_up,
        tuple(map(_read_pool, message.totals)),
        _sorted(message.jobs_by_state),
        message.started.seconds,
    )
