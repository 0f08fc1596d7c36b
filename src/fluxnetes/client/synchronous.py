"""The client, for those who wait: the same calls, made in a thread with an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from typing import Any, TypeVar

from fluxnetes.client.asynchronous import DEFAULT_ADDRESS, AsyncClient
from fluxnetes.client.retrying import Patience
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

T = TypeVar("T")


class Client:
    """One server. Use it as a context manager, or `close` it. See `AsyncClient`."""

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
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="fluxnetes-client", daemon=True
        )
        self._thread.start()

        async def make() -> AsyncClient:  # channels belong to the loop in which they are made
            return AsyncClient(
                address,
                token=token,
                authority=authority,
                certificate=certificate,
                key=key,
                patience=patience,
            )

        self._client = self._wait(make())

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        if not self._loop.is_closed():
            self._wait(self._close())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _close(self) -> None:
        await self._client.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:  # streams that nobody read to their end
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _each(self, found: AsyncIterator[T]) -> Iterator[T]:
        async def following() -> T:
            return await anext(found)

        while True:
            try:
                yield self._wait(following())
            except StopAsyncIteration:
                return

    # -- jobs ----------------------------------------------------------------------------------

    def match(
        self,
        request: str | Gang,
        *,
        reserve: bool = False,
        name: str = "",
        format: str = "",
        now: int = 0,
    ) -> Job:
        """Have something now or, with `reserve`, at the earliest time there is room."""
        return self._wait(
            self._client.match(request, reserve=reserve, name=name, format=format, now=now)
        )

    def submit(
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
        return self._wait(
            self._client.submit(
                request,
                walltime=walltime,
                name=name,
                namespace=namespace,
                user=user,
                queue=queue,
                priority=priority,
                held=held,
                begin=begin,
                after=after,
                after_ok=after_ok,
                after_any=after_any,
            )
        )

    def estimate(
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
        return self._wait(
            self._client.estimate(
                request,
                walltime=walltime,
                namespace=namespace,
                user=user,
                queue=queue,
                priority=priority,
                now=now,
            )
        )

    def update(
        self, job: int, allocation: str, *, at: int, duration: int, format: str = "jgf"
    ) -> Job:
        """Tell the server of an allocation that was made elsewhere."""
        return self._wait(
            self._client.update(job, allocation, at=at, duration=duration, format=format)
        )

    def renew(self, job: int) -> int | None:
        """Say that an allocation is still wanted; when it expires otherwise, None: never."""
        return self._wait(self._client.renew(job))

    def start(self, job: int) -> Job:
        """Say that a job began to run on what it was given."""
        return self._wait(self._client.start(job))

    def finish(self, job: int, *, failed: bool = False, reason: str = "") -> None:
        """Say that a job is over."""
        self._wait(self._client.finish(job, failed=failed, reason=reason))

    def cancel(self, job: int, *, reason: str = "", missing_ok: bool = True) -> None:
        """Call a job off. It is well if it is gone already, unless told otherwise."""
        self._wait(self._client.cancel(job, reason=reason, missing_ok=missing_ok))

    def hold(self, job: int) -> Job:
        """Keep a waiting job from starting."""
        return self._wait(self._client.hold(job))

    def release(self, job: int) -> Job:
        """Let a held job start when its turn comes."""
        return self._wait(self._client.release(job))

    def job(self, job: int) -> Job:
        """A job as it is now."""
        return self._wait(self._client.job(job))

    def explain(self, job: int) -> Explanation:
        """A job's story and, while it waits, why and until when."""
        return self._wait(self._client.explain(job))

    def watch_jobs(
        self, *, resume: str = "", namespace: str = "", queue: str = ""
    ) -> Iterator[JobChange]:
        """All jobs that live, then every change, without end and whatever becomes of the server."""
        return self._each(self._client.watch_jobs(resume=resume, namespace=namespace, queue=queue))

    # -- resources -----------------------------------------------------------------------------

    def nodes(self, *names: str) -> list[Node]:
        """All nodes, or those of these names."""
        return self._wait(self._client.nodes(*names))

    def watch_nodes(self, *, resume: str = "") -> Iterator[NodeChange]:
        """All nodes, then every change of any of them, as for jobs."""
        return self._each(self._client.watch_nodes(resume=resume))

    def load(self, graph: str, *, format: str = "jgf", policy: str = "") -> int:
        """Begin anew on another graph; how many vertices it has. All jobs are forgotten."""
        return self._wait(self._client.load(graph, format=format, policy=policy))

    def grow(self, jgf: str) -> int:
        """Add to the graph; how many vertices it has then."""
        return self._wait(self._client.grow(jgf))

    def shrink(self, *paths: str) -> int:
        """Take out what is at some paths; how many vertices are left."""
        return self._wait(self._client.shrink(*paths))

    def status(self) -> Status:
        """What the server is, and how it is."""
        return self._wait(self._client.status())
