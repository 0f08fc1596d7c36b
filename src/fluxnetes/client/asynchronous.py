"""The client, for those who await."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import Any, TypeVar

import grpc

from fluxnetes.client import calls
from fluxnetes.client.calls import Call
from fluxnetes.client.channel import DEFAULT_ADDRESS, OPTIONS, Shown
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
from fluxnetes.client.watching import PAUSE, check_lost, move

T = TypeVar("T")


class AsyncClient:
    """One server, for one event loop. Use it as a context manager, or `close` it.

    `token` is shown to servers that want one. `authority` is the certificate, in PEM, of whoever
    signed the server's; without one the connection is in plain text. `certificate` and `key` are
    shown to servers that want them.
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
        shown = Shown(token, authority, certificate, key)
        self._patience = patience or Patience()
        self._metadata = shown.metadata
        self._closed = False
        if (trusted := shown.credentials) is None:
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
        """Have something now or, with `reserve`, at the earliest time there is room.

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
        """Queue a job; it starts when its turn comes, there is room, and jobs before it allow."""
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
        """When and where it would start if it were submitted now. Nothing is submitted."""
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
        """Tell the server of an allocation that was made elsewhere."""
        return await self._do(calls.update(job, allocation, at, duration, format, now))

    async def renew(self, job: int) -> int | None:
        """Say that an allocation is still wanted; when it expires otherwise, None: never."""
        return await self._do(calls.renew(job))

    async def start(self, job: int) -> Job:
        """Say that a job began to run on what it was given."""
        return await self._do(calls.start(job))

    async def finish(self, job: int, *, failed: bool = False, reason: str = "") -> None:
        """Say that a job is over."""
        await self._do(calls.finish(job, failed, reason))

    async def cancel(self, job: int, *, reason: str = "", missing_ok: bool = True) -> None:
        """Call a job off. It is well if it is gone already, unless told otherwise."""
        await self._do(calls.cancel(job, reason, missing_ok))

    async def hold(self, job: int) -> Job:
        """Keep a waiting job from starting."""
        return await self._do(calls.hold(job))

    async def release(self, job: int) -> Job:
        """Let a held job start when its turn comes."""
        return await self._do(calls.release(job))

    async def job(self, job: int) -> Job:
        """A job as it is now."""
        return await self._do(calls.job(job))

    async def explain(self, job: int) -> Explanation:
        """A job's story and, while it waits, why and until when."""
        return await self._do(calls.explain(job))

    def watch_jobs(
        self, *, resume: str = "", namespace: str = "", queue: str = ""
    ) -> AsyncGenerator[JobChange | Reset, None]:
        """All jobs that live, then every change, without end and whatever becomes of the server.

        What there is, is told after a Reset. A job that changed often may be told of once, as it is
        then; and one that did not change may be told of again.
        """
        return self._follow(calls.watch_jobs(resume, namespace, queue))

    # -- resources -----------------------------------------------------------------------------

    async def nodes(self, *names: str) -> list[Node]:
        """All nodes, or those of these names."""
        found, token = await self._do(calls.nodes(names, ""))
        while token:
            more, token = await self._do(calls.nodes(names, token))
            found += more
        return found

    def watch_nodes(self, *, resume: str = "") -> AsyncGenerator[NodeChange | Reset, None]:
        """All nodes, then every change of any of them, as for jobs."""
        return self._follow(calls.watch_nodes(resume))

    async def load(self, graph: str, *, format: str = "jgf", policy: str = "") -> int:
        """Begin anew on another graph; how many vertices it has. All jobs are forgotten."""
        return await self._do(calls.load(graph, format, policy))

    async def grow(self, jgf: str) -> int:
        """Add to the graph; how many vertices it has then."""
        return await self._do(calls.grow(jgf))

    async def shrink(self, *paths: str) -> int:
        """Take out what is at some paths; how many vertices are left."""
        return await self._do(calls.shrink(paths))

    async def status(self) -> Status:
        """What the server is, and how it is."""
        return await self._do(calls.status())

    # -- asking --------------------------------------------------------------------------------

    async def _do(self, call: Call[T]) -> T:
        ask: Any = self._channel.unary_unary(call.path, *call.codec)
        tries = Tries(call, self._patience)
        while True:
            try:
                return call.read(
                    await ask(call.request, timeout=tries.left, metadata=self._metadata)
                )
            except grpc.aio.AioRpcError as failed:
                pause = tries.pause_after(failed)
            await asyncio.sleep(pause)

    async def _follow(self, call: Call[T | None]) -> AsyncGenerator[T, None]:
        """What a stream tells, taken up again where it was cut."""
        listen: Any = self._channel.unary_stream(call.path, *call.codec)
        while not self._closed:
            stream = listen(call.request, metadata=self._metadata)
            try:
                async for message in stream:
                    move(call, message)
                    if (found := call.read(message)) is not None:
                        yield found
            except grpc.aio.AioRpcError as failed:
                check_lost(failed)
            except asyncio.CancelledError:
                if not self._closed:
                    raise
            finally:
                stream.cancel()  # for whoever stops reading; it is not cut by itself
            await asyncio.sleep(PAUSE)
