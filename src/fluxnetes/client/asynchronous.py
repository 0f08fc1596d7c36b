"""The client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import Any, TypeVar

import grpc

from fluxnetes.client import calls
from fluxnetes.client.calls import Call
from fluxnetes.client.channel import DEFAULT_ADDRESS, OPTIONS, ClientCredentials
from fluxnetes.client.retrying import Patience, Tries
from fluxnetes.client.values import (
    Estimate,
    Explanation,
    Gang,
    Job,
    JobChange,
    Node,
    NodeChange,
    Reset,
    Status,
)
from fluxnetes.client.watching import RECONNECT_DELAY, check_lost, remember_position

T = TypeVar("T")


class AsyncClient:
    """A connection to one server, for one event loop. Use it as a context manager, or `close` it.

    `token` is sent to servers that require one. `authority` is the PEM certificate of the authority
    that signed the server's certificate; without it the connection is in plain text. `certificate`
    and `key` authenticate the client to servers that require a client certificate.
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
        credentials = ClientCredentials(token, authority, certificate, key)
        self._patience = patience or Patience()
        self._metadata = credentials.metadata
        self._closed = False
        if (trusted := credentials.tls) is None:
            self._channel = grpc.aio.insecure_channel(address, OPTIONS)
        else:
            self._channel = grpc.aio.secure_channel(address, trusted, OPTIONS)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the connection, and all streams with it."""
        self._closed = True
        await self._channel.close()

    # -- jobs ----------------------------------------------------------------------------------

    async def match(
        self,
        request: str | Gang,
        *,
        reserve: bool = False,
        walltime: int | None = None,
        name: str = "",
        format: str = "",
        now: int = 0,
    ) -> Job:
        """Allocate resources now or, with `reserve`, at the earliest time they are free.

        Raises Busy or Unsatisfiable if it does not fit.
        """
        return await self._do(calls.match(request, reserve, walltime, name, format, now))

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
        """Queue a job; it starts when its queue's policy, limits and free resources allow."""
        before = calls.dependencies(after, after_ok, after_any)
        owner = calls.Owner(namespace, user, queue, priority)
        return await self._do(calls.submit(request, walltime, name, owner, held, begin, before))

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
        """When and where the job would start if it were submitted now. Nothing is submitted."""
        owner = calls.Owner(namespace, user, queue, priority)
        return await self._do(calls.estimate(request, walltime, owner, now))

    async def update(
        self,
        job: int,
        allocation: str,
        *,
        at: int,
        duration: int,
        format: str = "jgf",
        now: int = 0,
    ) -> Job:
        """Record an allocation that was made elsewhere."""
        return await self._do(calls.update(job, allocation, at, duration, format, now))

    async def renew(self, job: int) -> int | None:
        """Renew the lease of an allocation; returns when it expires, None: never."""
        return await self._do(calls.renew(job))

    async def start(self, job: int) -> Job:
        """Report that a job started on its allocation."""
        return await self._do(calls.start(job))

    async def finish(self, job: int, *, failed: bool = False, reason: str = "") -> None:
        """Report that a job ended."""
        await self._do(calls.finish(job, failed, reason))

    async def cancel(self, job: int, *, reason: str = "", missing_ok: bool = True) -> None:
        """Cancel a job. With `missing_ok`, a job that does not exist is no error."""
        await self._do(calls.cancel(job, reason, missing_ok))

    async def hold(self, job: int) -> Job:
        """Keep a waiting job from starting."""
        return await self._do(calls.hold(job))

    async def release(self, job: int) -> Job:
        """Release a held job."""
        return await self._do(calls.release(job))

    async def job(self, job: int) -> Job:
        """A job as it is now."""
        return await self._do(calls.job(job))

    async def explain(self, job: int) -> Explanation:
        """A job's history and, while it waits, why and until when."""
        return await self._do(calls.explain(job))

    def watch_jobs(
        self, *, resume: str = "", namespace: str = "", queue: str = ""
    ) -> AsyncGenerator[JobChange | Reset, None]:
        """All live jobs, then every change, endlessly and across restarts of the server.

        The current jobs follow a Reset. Several changes of a job may be sent as one, with its
        latest state; a job that did not change may be sent again.
        """
        return self._follow(calls.watch_jobs(resume, namespace, queue))

    # -- resources -----------------------------------------------------------------------------

    async def nodes(self, *names: str) -> list[Node]:
        """All nodes, or the named ones."""
        found, token = await self._do(calls.nodes(names, ""))
        while token:
            more, token = await self._do(calls.nodes(names, token))
            found += more
        return found

    def watch_nodes(self, *, resume: str = "") -> AsyncGenerator[NodeChange | Reset, None]:
        """All nodes, then every change of a node, as `watch_jobs` does for jobs."""
        return self._follow(calls.watch_nodes(resume))

    async def load(self, graph: str, *, format: str = "jgf", policy: str = "") -> int:
        """Replace the graph; returns its number of vertices. All jobs are forgotten."""
        return await self._do(calls.load(graph, format, policy))

    async def grow(self, jgf: str) -> int:
        """Add to the graph; returns its number of vertices."""
        return await self._do(calls.grow(jgf))

    async def shrink(self, *paths: str) -> int:
        """Remove the subtrees at these paths; returns the number of vertices left."""
        return await self._do(calls.shrink(paths))

    async def status(self) -> Status:
        """The server's version, graph, policy, totals and number of jobs."""
        return await self._do(calls.status())

    # -- calling -------------------------------------------------------------------------------

    async def _do(self, call: Call[T]) -> T:
        invoke: Any = self._channel.unary_unary(call.path, *call.codec)
        tries = Tries(call, self._patience)
        while True:
            try:
                return call.read(
                    await invoke(call.request, timeout=tries.left, metadata=self._metadata)
                )
            except grpc.aio.AioRpcError as failed:
                delay = tries.delay_after(failed)
            await asyncio.sleep(delay)

    async def _follow(self, call: Call[T | None]) -> AsyncGenerator[T, None]:
        """The messages of a stream, resumed where the connection was lost."""
        connect: Any = self._channel.unary_stream(call.path, *call.codec)
        while not self._closed:
            stream = connect(call.request, metadata=self._metadata)
            try:
                async for message in stream:
                    remember_position(call, message)
                    if (found := call.read(message)) is not None:
                        yield found
            except grpc.aio.AioRpcError as failed:
                check_lost(failed)
            except asyncio.CancelledError:
                if not self._closed:
                    raise
            finally:
                stream.cancel()  # a generator that is closed early does not end its stream
            await asyncio.sleep(RECONNECT_DELAY)
