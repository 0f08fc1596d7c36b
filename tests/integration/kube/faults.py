"""A server that does what no test can make a real one do: break off in the middle, hang, forget.

It follows a script: the n-th request gets the n-th answer. When the script is over it keeps silent.
Everything that was asked is kept. The bytes go over a real socket.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec
from aiohttp import web

from fluxnetes.common.backoff import RetryTiming
from fluxnetes.kube.auth.access import ApiAccess
from fluxnetes.kube.auth.credentials import Credential, CredentialReading, Credentials
from fluxnetes.kube.client import KubeClient
from tests.unit.kube.objects import as_page

Answer: TypeAlias = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

QUICK = RetryTiming(initial_delay=0.01, max_delay=0.05, idle_timeout=10)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that the server got."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


@dataclass
class Faulty:
    """The server, as the test sees it."""

    script: list[Answer]
    asked: list[Asked] = field(default_factory=list)
    address: str = ""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the test is over, to end what hangs."""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        query, headers = dict(request.query), dict(request.headers)
        self.asked.append(Asked(request.method, request.path, query, headers, body))
        if self.script:
            return await self.script.pop(0)(request)
        return await self.keep_silent(request)

    async def keep_silent(self, request: web.BaseRequest) -> web.StreamResponse:
        """Never answer."""
        await self.over.wait()
        return web.Response()

    def versions(self) -> list[str]:
        """From where each watch started; a list is `list`."""
        return [
            asked.query["resourceVersion"] if "watch" in asked.query else "list"
            for asked in self.asked
        ]


@asynccontextmanager
async def serve(*script: Answer, tls: ssl.SSLContext | None = None) -> AsyncIterator[Faulty]:
    """Start the server, with this script."""
    server = Faulty(list(script))
    runner = web.ServerRunner(web.Server(server.answer), shutdown_timeout=0.01)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.address = f"{'https' if tls else 'http'}://{host}:{port}"
    try:
        yield server
    finally:
        server.over.set()
        await runner.cleanup()


def access_to(server: Faulty) -> ApiAccess:
    """Without credentials."""

    async def anonymous() -> CredentialReading:
        return CredentialReading(Credential())

    return ApiAccess(server.address, Credentials(anonymous, None))


@asynccontextmanager
async def connect(
    *script: Answer, timeout: float = 60.0
) -> AsyncIterator[tuple[KubeClient, Faulty]]:
    """A client, and the server that it talks to."""
    async with serve(*script) as server, KubeClient(access_to(server), timeout=timeout) as client:
        yield client, server


# --- answers -----------------------------------------------------------------------------------


def say(content: bytes, status: int = 200, **headers: str) -> Answer:
    """Answer this."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=content, status=status, headers=named)

    return answer


def listed(*items: dict[str, Any], version: int, more: str = "") -> Answer:
    """Answer with a list."""
    return say(as_page(*items, version=version, more=more))


def refuse(code: int, reason: str = "", **headers: str) -> Answer:
    """Refuse as the API server does."""
    status = {"kind": "Status", "code": code, "reason": reason, "message": f"said {reason}"}
    return say(msgspec.json.encode(status), code, **headers)


def tell(*pieces: bytes, then: str = "hang") -> Answer:
    """Send these pieces of a watch, then `hang`, `end` it in good order, or `break` it off."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
        if then == "hang":
            await asyncio.Event().wait()
        elif then == "break":
            assert request.transport is not None
            request.transport.abort()
        return response

    return answer


def break_off(request: web.BaseRequest) -> Awaitable[web.StreamResponse]:
    """Close the connection without an answer."""

    async def answer() -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    return answer()
