"""The client, for those who await."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any
from uuid import uuid4

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from fluxnetes.client.errors import CallError, Unavailable, error_of
from fluxnetes.client.messages import (
    ask,
    lasting,
    read_estimate,
    read_explanation,
    read_job,
    read_node,
    read_status,
)
from fluxnetes.client.retrying import Caller, Patience
from fluxnetes.client.values import (
    Estimate,
    Explanation,
    Gang,
    Job,
    JobChange,
    Node,
    NodeChange,
    Status,
)
from fluxnetes.v1 import jobs_pb2 as v1
from fluxnetes.v1 import resources_pb2 as resources

DEFAULT_ADDRESS = "127.0.0.1:4242"
_LARGEST = 1 << 30
_PAUSE = 0.5
"""Before a stream that was cut is taken up again."""


class AsyncClient:
    """One server. Use it as a context manager, or `close` it.

    `authority` is the certificate, in PEM, of whoever signed the server's; without one the
    connection is in plain text. `certificate` and `key` are shown to servers that ask for them.
    """

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        token: str = "",
        authority: bytes | None = None,
        certificate: bytes | None = None,
        key: bytes | None = None,
        patience: Patience | None = None,
    ) -> None:
        options = [
            ("grpc.max_receive_message_length", _LARGEST),
            ("grpc.max_send_message_length", _LARGEST),
        ]
        if authority is None:
            self._channel = grpc.aio.insecure_channel(address, options)
        else:
            shown = grpc.ssl_channel_credentials(authority, key, certificate)
            self._channel = grpc.aio.secure_channel(address, shown, options)
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        patience = patience or Patience()
        self._jobs = Caller(self._channel, "fluxnetes.v1.JobService", patience, metadata)
        self._resources = Caller(self._channel, "fluxnetes.v1.ResourceService", patience, metadata)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._channel.close()

    # -- jobs ----------------------------------------------------------------------------------

    async def match(
        self,
        request: str | Gang,
        *,
        reserve: bool = False,
        name: str = "",
        format: str = "",
        now: int = 0,
    ) -> Job:
        """Have something now or, with `reserve`, at the earliest time there is room.

        Raises Busy or Unsatisfiable if it does not fit.
        """
        message = v1.MatchRequest(
            ask=ask(request),
            reserve=reserve,
            name=name,
            request_id=str(uuid4()),
            format=format,
            now=now,
        )
        found = await self._jobs.call("Match", message, v1.MatchResponse)
        return read_job(found.job, found.at, found.allocation.text)

    async def submit(
        self,
        request: str | Gang,
        *,
        walltime: int | None = None,
        name: str = "",
        namespace: str = "",
        user: str = "",
        queue: str = "",
        priority: int = 0,
        held: bool = False,
        begin: int | None = None,
        after: Iterable[int] = (),
        after_ok: Iterable[int] = (),
        after_any: Iterable[int] = (),
    ) -> Job:
        """Queue a job; it starts when its turn comes, there is room, and jobs before it allow."""
        kinds = v1.Dependency
        wanted = (
            (kinds.KIND_AFTER, after),
            (kinds.KIND_AFTER_OK, after_ok),
            (kinds.KIND_AFTER_ANY, after_any),
        )
        message = v1.SubmitRequest(
            ask=ask(request),
            walltime=lasting(walltime),
            name=name,
            namespace=namespace,
            user=user,
            queue=queue,
            priority=priority,
            held=held,
            begin=None if begin is None else Timestamp(seconds=begin),
            dependencies=(kinds(kind=kind, job=job) for kind, jobs in wanted for job in jobs),
            request_id=str(uuid4()),
        )
        found = await self._jobs.call("Submit", message, v1.SubmitResponse)
        return read_job(found.job)

    async def estimate(
        self,
        request: str | Gang,
        *,
        walltime: int | None = None,
        namespace: str = "",
        user: str = "",
        queue: str = "",
        priority: int = 0,
        now: int = 0,
    ) -> Estimate:
        """When and where it would start if it were submitted now. Nothing is submitted."""
        message = v1.EstimateRequest(
            ask=ask(request),
            walltime=lasting(walltime),
            namespace=namespace,
            user=user,
            queue=queue,
            priority=priority,
            now=now,
        )
        return read_estimate(await self._jobs.call("Estimate", message, v1.EstimateResponse))

    async def update(
        self, job: int, allocation: str, *, at: int, duration: int, format: str = "jgf"
    ) -> Job:
        """Tell the server of an allocation that was made elsewhere."""
        message = v1.UpdateRequest(
            job=job,
            allocation=v1.Allocation(format=format, text=allocation),
            at=at,
            duration=Duration(seconds=duration),
        )
        return read_job((await self._jobs.call("Update", message, v1.UpdateResponse)).job)

    async def renew(self, job: int) -> int | None:
        """Say that an allocation is still wanted; when it expires otherwise, None: never."""
        found = await self._jobs.call("Renew", v1.RenewRequest(job=job), v1.RenewResponse)
        return found.expires.seconds if found.HasField("expires") else None

    async def start(self, job: int) -> Job:
        """Say that a job began to run on what it was given."""
        found = await self._jobs.call("Start", v1.StartRequest(job=job), v1.StartResponse)
        return read_job(found.job)

    async def finish(self, job: int, *, failed: bool = False, reason: str = "") -> None:
        """Say that a job is over."""
        message = v1.FinishRequest(job=job, failed=failed, reason=reason)
        await self._jobs.call("Finish", message, v1.FinishResponse)

    async def cancel(self, job: int, *, reason: str = "", missing_ok: bool = True) -> None:
        """Call a job off. It is well if it is gone already, unless told otherwise."""
        message = v1.CancelRequest(job=job, reason=reason, missing_ok=missing_ok)
        await self._jobs.call("Cancel", message, v1.CancelResponse)

    async def hold(self, job: int) -> Job:
        """Keep a waiting job from starting."""
        found = await self._jobs.call("Hold", v1.HoldRequest(job=job), v1.HoldResponse)
        return read_job(found.job)

    async def release(self, job: int) -> Job:
        """Let a held job start when its turn comes."""
        found = await self._jobs.call("Release", v1.ReleaseRequest(job=job), v1.ReleaseResponse)
        return read_job(found.job)

    async def job(self, job: int) -> Job:
        """A job as it is now."""
        found = await self._jobs.call("GetJob", v1.GetJobRequest(job=job), v1.GetJobResponse)
        return read_job(found.job)

    async def explain(self, job: int) -> Explanation:
        """A job's story and, while it waits, why and until when."""
        request = v1.ExplainRequest(job=job)
        return read_explanation(await self._jobs.call("Explain", request, v1.ExplainResponse))

    async def watch_jobs(
        self, *, resume: str = "", namespace: str = "", queue: str = ""
    ) -> AsyncIterator[JobChange]:
        """All jobs that live, then every change, without end and whatever becomes of the server.

        A job may be told of more often than it changed, never less often.
        """
        request = v1.WatchJobsRequest(resume=resume, namespace=namespace, queue=queue)
        kinds = v1.WatchJobsResponse
        async for found in self._watch(self._jobs, "WatchJobs", request, kinds):
            if found.kind in (kinds.KIND_CHANGED, kinds.KIND_ENDED):
                ended = found.kind == kinds.KIND_ENDED
                yield JobChange(read_job(found.job), ended, found.resume)

    # -- resources -----------------------------------------------------------------------------

    async def nodes(self, *names: str) -> list[Node]:
        """All nodes, or those of these names."""
        found: list[Node] = []
        token = ""
        while True:
            request = resources.ListNodesRequest(names=names, page_token=token)
            page = await self._resources.call("ListNodes", request, resources.ListNodesResponse)
            found += map(read_node, page.nodes)
            token = page.next_page_token
            if not token:
                return found

    async def watch_nodes(self, *, resume: str = "") -> AsyncIterator[NodeChange]:
        """All nodes, then every change of any of them, as for jobs."""
        request = resources.WatchResourcesRequest(resume=resume)
        kinds = resources.WatchResourcesResponse
        async for found in self._watch(self._resources, "WatchResources", request, kinds):
            if found.kind in (kinds.KIND_CHANGED, kinds.KIND_GONE):
                gone = found.kind == kinds.KIND_GONE
                yield NodeChange(read_node(found.node), gone, found.resume)

    async def load(self, graph: str, *, format: str = "jgf", policy: str = "") -> int:
        """Begin anew on another graph; how many vertices it has. All jobs are forgotten."""
        request = resources.LoadRequest(format=format, graph=graph, policy=policy)
        found = await self._resources.call("Load", request, resources.LoadResponse)
        return found.vertices

    async def grow(self, jgf: str) -> int:
        """Add to the graph; how many vertices it has then."""
        request = resources.GrowRequest(jgf=jgf)
        return (await self._resources.call("Grow", request, resources.GrowResponse)).vertices

    async def shrink(self, *paths: str) -> int:
        """Take out what is at some paths; how many vertices are left."""
        request = resources.ShrinkRequest(paths=paths)
        return (await self._resources.call("Shrink", request, resources.ShrinkResponse)).vertices

    async def status(self) -> Status:
        """What the server is, and how it is."""
        request, answer = resources.GetStatusRequest(), resources.GetStatusResponse
        return read_status(await self._resources.call("GetStatus", request, answer))

    # -- streams -------------------------------------------------------------------------------

    async def _watch(
        self, caller: Caller, method: str, request: Any, answer: type[Message]
    ) -> AsyncIterator[Any]:
        """All messages of a stream, taken up again where it was cut."""
        while True:
            try:
                async for message in caller.stream(method, request, answer):
                    if message.resume:
                        request.resume = message.resume
                    yield message
            except grpc.aio.AioRpcError as failed:
                error: CallError = error_of(failed)
                if not isinstance(error, Unavailable):
                    raise error from None
            await asyncio.sleep(_PAUSE)
