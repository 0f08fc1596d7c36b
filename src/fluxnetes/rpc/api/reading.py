"""Reads messages of `fluxnetes.v1` into values. Raises Invalid with the path of the field."""

from __future__ import annotations

from dataclasses import replace

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from fluxnetes.cluster.pods.requests import TENANCY
from fluxnetes.graph.pools import MAX_AMOUNT
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.jobs import Dependency, DependencyKind, Request, Submission
from fluxnetes.rpc.callers import user_of
from fluxnetes.service.errors import Invalid
from fluxnetes.service.requests.jobspec_cache import read_jobspec
from fluxnetes.v1 import jobs_pb2 as v1

_MOST_SHAPES = 1000
"""Maximum shapes of a gang, to bound the time of a match."""
_LONGEST_NAME = 253
"""Maximum characters of a name: that of names in Kubernetes."""
_LATEST = 2**40
"""Maximum seconds since the epoch, so that sums of times never overflow."""

_AFTER = {
    v1.Dependency.KIND_AFTER: DependencyKind.STARTED,
    v1.Dependency.KIND_AFTER_OK: DependencyKind.SUCCEEDED,
    v1.Dependency.KIND_AFTER_ANY: DependencyKind.ENDED,
}


async def read_ask(ask: v1.Ask) -> Request:
    """The request of a job."""
    match ask.WhichOneof("of"):
        case "jobspec":
            return await read_jobspec(ask.jobspec)
        case "gang":
            return _read_gang(ask.gang)
    raise Invalid("expected a jobspec or a gang, found neither", "ask")


async def read_match(message: v1.MatchRequest) -> Request:
    """The request of a match, with its walltime."""
    request = await read_ask(message.ask)
    if not message.HasField("walltime"):
        return request
    return replace(request, duration=float(read_seconds(message.walltime, "walltime")))


def _read_gang(gang: v1.Gang) -> Gang:
    if not 1 <= len(gang.shapes) <= _MOST_SHAPES:
        raise Invalid(
            f"found {len(gang.shapes)} shapes, expected 1 to {_MOST_SHAPES}", "ask.gang.shapes"
        )
    return Gang(tuple(_read_shape(each, n) for n, each in enumerate(gang.shapes)))


def _read_shape(shape: v1.Shape, number: int) -> Shape:
    path = f"ask.gang.shapes[{number}]"
    if shape.count < 1:
        raise Invalid(f"found {shape.count}, expected at least 1", f"{path}.count")
    amounts = dict(shape.amounts)
    for type, amount in amounts.items():
        if not 0 <= amount < MAX_AMOUNT:
            where = f"{path}.amounts[{type!r}]"
            raise Invalid(f"found {amount}, expected 0 or more, below {MAX_AMOUNT}", where)
    if shape.exclusive:
        amounts["tenancy"] = TENANCY
    if not any(amounts.values()):
        raise Invalid("expected at least one amount, found none", f"{path}.amounts")
    return Shape.of(shape.count, amounts)


async def read_submission(message: v1.SubmitRequest | v1.EstimateRequest) -> Submission:
    """A submission without a number."""
    request = await read_ask(message.ask)
    return Submission(
        0,
        request,
        walltime=_read_walltime(message.walltime, message.HasField("walltime"), request),
        queue=_name(message.queue, "queue") or named_queue(request) or "default",
        user=user_of(_name(message.user, "user")) or "nobody",
        namespace=_name(message.namespace, "namespace") or "default",
        priority=message.priority,
    )


async def read_submit(message: v1.SubmitRequest) -> Submission:
    begin = message.begin.seconds if message.HasField("begin") else None
    if begin is not None and not 0 <= begin < _LATEST:
        raise Invalid(f"found {begin} seconds since 1970, expected a time", "begin")
    return replace(
        await read_submission(message),
        name=_name(message.name, "name"),
        held=message.held,
        begin=begin,
        dependencies=tuple(map(_read_dependency, message.dependencies)),
    )


def named_queue(request: Request) -> str:
    """The queue that a jobspec names; empty: none."""
    return (request.queue or "") if isinstance(request, Jobspec) else ""


def _read_dependency(message: v1.Dependency) -> Dependency:
    if message.kind not in _AFTER:
        raise Invalid("expected a kind, found none", "dependencies.kind")
    return Dependency(_AFTER[message.kind], message.job)


def _read_walltime(given: Duration, is_given: bool, request: Request) -> int | None:
    if is_given:
        return read_seconds(given, "walltime")
    # As everywhere in jobspecs, a duration of 0 means no limit.
    return int(-(-request.duration // 1)) or None


def read_seconds(given: Duration, path: str) -> int:
    """Whole seconds, rounded up, and at least one."""
    seconds = given.seconds + (given.nanos > 0)
    if not 1 <= seconds < _LATEST:
        raise Invalid(f"found {seconds} seconds, expected at least 1", path)
    return seconds


def _name(text: str, path: str) -> str:
    if len(text) > _LONGEST_NAME or not text.isprintable():
        raise Invalid(f"expected at most {_LONGEST_NAME} printable characters", path)
    return text


def read_key(text: str) -> str:
    return _name(text, "request_id")


def at(seconds: int | None) -> Timestamp | None:
    return None if seconds is None else Timestamp(seconds=seconds)


def lasting(seconds: float | None) -> Duration | None:
    if seconds is None:
        return None
    whole = int(seconds)
    return Duration(seconds=whole, nanos=int((seconds - whole) * 1_000_000_000))
