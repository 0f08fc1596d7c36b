"""A client that counts what it writes, and a way to wait for what shall come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from fluxnetes.kube.auth.access import ApiAccess
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.http.transport import Lane, Transport
from fluxnetes.kube.http.types import HttpRequest


class CountingTransport(Transport):
    """Sends as ever, and keeps what was written."""

    def __init__(self, access: ApiAccess, timeout: float = 60.0) -> None:
        super().__init__(access, timeout)
        self.writes: list[HttpRequest] = []

    async def send(self, request: HttpRequest, lane: Lane = Lane.REQUESTS) -> bytes:
        if request.method != "GET":
            self.writes.append(request)
        return await super().send(request, lane)


class CountingClient(KubeClient):
    """A client whose writes can be counted."""

    def __init__(self, access: ApiAccess, *, timeout: float = 60.0) -> None:
        super().__init__(access, timeout=timeout)
        self.transport: CountingTransport = CountingTransport(access, timeout)

    async def __aenter__(self) -> CountingClient:
        await super().__aenter__()
        return self

    def writes(self, plural: str, namespace: str) -> list[str]:
        """The writes to a kind so far: `POST`, `PATCH status`, `DELETE`..."""
        found, place = [], f"/namespaces/{namespace}/{plural}"
        for request in self.transport.writes:
            _, is_there, below = request.path.partition(place)
            if is_there:
                found.append(" ".join([request.method, *below.split("/")[2:]]))
        return found


async def until(happens: Callable[[], Awaitable[bool]] | Callable[[], bool]) -> None:
    """Wait until it is so. Ten seconds are enough for anything here."""
    deadline = time.monotonic() + 10
    while True:
        is_so = happens()
        if await is_so if isinstance(is_so, Awaitable) else is_so:
            return
        assert time.monotonic() < deadline, "it never came to that"
        await asyncio.sleep(0.02)


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    """Run it as long as the test lasts; what fails in it fails the test."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        if not task.done():
            task.cancel()
        with suppress(asyncio.CancelledError):
            await task
