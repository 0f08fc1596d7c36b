"""The calls of the API: the request message of each, and how its answer is read.

Every call is a function here, named as the clients' method is. It builds the request; the two
clients send it, each in its own way, and handle errors and retries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import uuid4

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from fluxnetes.client import messages, values
from fluxnetes.v1 import jobs_pb2 as v1
from fluxnetes.v1 import resources_pb2 as resources

T = TypeVar("T")
M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request, and how its answer is read."""

    method: str
    request: Any
    answer: type[Message]
    read: Callable[[Any], T]
    service: str = "fluxnetes.v1.JobService"

    @property
    def path(self) -> str:
        return f"/{self.service}/{self.method}"

    @property
    def codec(self) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
        """The serializer of the request and the deserializer of the answer."""
        return type(self.request).SerializeToString, self.answer.FromString


def _about_resources(
    method: str, request: Message, answer: type[M], read: Callable[[M], T]
) -> Call[T]:
    return Call(method, request, answer, read, "fluxnetes.v1.ResourceService")


# -- jobs ------------------------------------------------------------------------------------------


def match(
    request: str | values.Gang,
    reserve: bool,
    walltime: int | None,
    name: str,
    format: str,
    now: int,
) -> Call[values.Job]:
    message = v1.MatchRequest(
        ask=messages.ask(request),
        reserve=reserve,
        walltime=messages.lasting(walltime),
        name=name,
        request_id=str(uuid4()),
        format=format,
        now=now,
    )
    return Call("Match", message, v1.MatchResponse, messages.read_match)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns a job, and its queue and priority."""

    namespace: str
    user: str
    queue: str
    priority: int


def submit(
    request: str | values.Gang,
    walltime: int | None,
    name: str,
    owner: Owner,
    held: bool,
    begin: int | None,
    dependencies: Iterable[v1.Dependency],
) -> Call[values.Job]:
    message = v1.SubmitRequest(
        ask=messages.ask(request),
        walltime=messages.lasting(walltime),
        name=name,
        namespace=owner.namespace,
        user=owner.user,
        queue=owner.queue,
        priority=owner.priority,
        held=held,
        begin=None if begin is None else Timestamp(seconds=begin),
        dependencies=dependencies,
        request_id=str(uuid4()),
    )
    return Call("Submit", message, v1.SubmitResponse, _job)


def dependencies(
    after: Iterable[int], after_ok: Iterable[int], after_any: Iterable[int]
) -> Iterable[v1.Dependency]:
    kinds = v1.Dependency
    yield from (kinds(kind=kinds.KIND_AFTER, job=job) for job in after)
    yield from (kinds(kind=kinds.KIND_AFTER_OK, job=job) for job in after_ok)
    yield from (kinds(kind=kinds.KIND_AFTER_ANY, job=job) for job in after_any)


def estimate(
    request: str | values.Gang, walltime: int | None, owner: Owner, now: int
) -> Call[values.Estimate]:
    message = v1.EstimateRequest(
        ask=messages.ask(request),
        walltime=messages.lasting(walltime),
        namespace=owner.namespace,
        user=owner.user,
        queue=owner.queue,
        priority=owner.priority,
        now=now,
    )
    return Call("Estimate", message, v1.EstimateResponse, messages.read_estimate)


def update(
    job: int, allocation: str, at: int, duration: int, format: str, now: int
) -> Call[values.Job]:
    message = v1.UpdateRequest(
        job=job,
        allocation=v1.Allocation(format=format, text=allocation),
        at=at,
        duration=Duration(seconds=duration),
        now=now,
    )
    return Call("Update", message, v1.UpdateResponse, _job)


def renew(job: int) -> Call[int | None]:
    return Call("Renew", v1.RenewRequest(job=job), v1.RenewResponse, messages.read_expiry)


def start(job: int) -> Call[values.Job]:
    return Call("Start", v1.StartRequest(job=job), v1.StartResponse, _job)


def finish(job: int, failed: bool, reason: str) -> Call[None]:
    message = v1.FinishRequest(job=job, failed=failed, reason=reason)
    return Call("Finish", message, v1.FinishResponse, _nothing)


def cancel(job: int, reason: str, missing_ok: bool) -> Call[None]:
    message = v1.CancelRequest(job=job, reason=reason, missing_ok=missing_ok)
    return Call("Cancel", message, v1.CancelResponse, _nothing)


def hold(job: int) -> Call[values.Job]:
    return Call("Hold", v1.HoldRequest(job=job), v1.HoldResponse, _job)


def release(job: int) -> Call[values.Job]:
    return Call("Release", v1.ReleaseRequest(job=job), v1.ReleaseResponse, _job)


def job(job: int) -> Call[values.Job]:
    return Call("GetJob", v1.GetJobRequest(job=job), v1.GetJobResponse, _job)


def explain(job: int) -> Call[values.Explanation]:
    return Call(
        "Explain", v1.ExplainRequest(job=job), v1.ExplainResponse, messages.read_explanation
    )


def watch_jobs(
    resume: str, namespace: str, queue: str
) -> Call[values.JobChange | values.Reset | None]:
    message = v1.WatchJobsRequest(resume=resume, namespace=namespace, queue=queue)
    return Call("WatchJobs", message, v1.WatchJobsResponse, messages.read_job_change)


# -- resources -------------------------------------------------------------------------------------


def nodes(names: Iterable[str], token: str) -> Call[tuple[list[values.Node], str]]:
    """A page of nodes, and the token of the next page."""
    message = resources.ListNodesRequest(names=names, page_token=token)
    return _about_resources("ListNodes", message, resources.ListNodesResponse, messages.read_page)


def watch_nodes(resume: str) -> Call[values.NodeChange | values.Reset | None]:
    message = resources.WatchResourcesRequest(resume=resume)
    answer = resources.WatchResourcesResponse
    return _about_resources("WatchResources", message, answer, messages.read_node_change)


def load(graph: str, format: str, policy: str) -> Call[int]:
    message = resources.LoadRequest(format=format, graph=graph, policy=policy)
    return _about_resources("Load", message, resources.LoadResponse, _vertices)


def grow(jgf: str) -> Call[int]:
    message = resources.GrowRequest(jgf=jgf)
    return _about_resources("Grow", message, resources.GrowResponse, _vertices)


def shrink(paths: Iterable[str]) -> Call[int]:
    message = resources.ShrinkRequest(paths=paths)
    return _about_resources("Shrink", message, resources.ShrinkResponse, _vertices)


def status() -> Call[values.Status]:
    message, answer = resources.GetStatusRequest(), resources.GetStatusResponse
    return _about_resources("GetStatus", message, answer, messages.read_status)


def _job(answer: Any) -> values.Job:
    return messages.read_job(answer.job)


def _vertices(answer: Any) -> int:
    count: int = answer.vertices
    return count


def _nothing(answer: Message) -> None:
    return None
