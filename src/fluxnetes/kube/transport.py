"""Requests over HTTP, and what their failures mean.

There are three lanes, each with connections of its own: ordinary requests, binds, and watches. So
a thousand events that wait to be written never delay a bind, and a watch never takes a connection
that a request needs.

A request is tried once, with two exceptions that are always safe. When the server says that it is
too busy it has done nothing, so we ask again after the time that it names. When it does not know us
any more we ask again with fresh credentials, if there are any. All other failures are for the
caller, who knows what is worth doing again. They are never exceptions of aiohttp.

Proxies are taken from `proxy-url` of the kubeconfig only, not from the environment.
"""

from __future__ import annotations

import asyncio
import random
import re
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

import aiohttp
import msgspec
from yarl import URL

from fluxnetes.kube.config import Access
from fluxnetes.kube.credentials import Identity
from fluxnetes.kube.errors import (
    KubeError,
    Overloaded,
    Status,
    Unreachable,
    Untrusted,
    error_for,
)

_TRIES = 4
"""How often a server that is too busy is asked."""

_HEADERS = {
    "Accept": "application/json",
    # The server would spend more time on compressing than the wire takes.
    "Accept-Encoding": "identity",
    "User-Agent": "fluxnetes",
}

_LONGEST_QUOTE = 300

_SSL_CONTEXT = re.compile(r" ssl:<.*?>")
"""In what aiohttp says: an address in memory, which helps nobody."""


class Lane(Enum):
    """Which connections a request goes over, and how many of them there are; 0: any number."""

    REQUESTS = 16
    BINDS = 24
    WATCHES = 0


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask of the server."""

    what: str
    """In words, for errors."""
    method: str
    path: str
    params: Mapping[str, str] | None = None
    body: bytes | None = None
    content_type: str = "application/json"


class Transport:
    """Connections to one server. Open it with `async with`."""

    def __init__(self, access: Access, timeout: float = 60.0) -> None:
        self.access = access
        self._timeout = aiohttp.ClientTimeout(total=timeout, sock_connect=10)
        self._sessions: dict[Lane, aiohttp.ClientSession] = {}

    async def __aenter__(self) -> Transport:
        self._sessions = {lane: self._session(lane) for lane in Lane}
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(session.close() for session in self._sessions.values()))

    async def ask(self, request: Request, lane: Lane = Lane.REQUESTS) -> bytes:
        """The content of the answer."""
        for tries_left in reversed(range(_TRIES)):
            try:
                return await self._ask_once(request, lane)
            except Overloaded as busy:
                if not tries_left:
                    raise
                await asyncio.sleep(busy.retry_after * random.uniform(1, 1.25))  # noqa: S311
        raise AssertionError("the last try either answers or raises")

    async def _ask_once(self, request: Request, lane: Lane) -> bytes:
        try:
            response = await self._begin(request, self._timeout, lane)
            async with response:
                content = await response.read()
        except (aiohttp.ClientError, OSError) as error:  # a TimeoutError is an OSError
            raise self._failure(request, error) from error
        if response.status >= 400:
            raise _refusal(request.what, response, content)
        return content

    @asynccontextmanager
    async def stream(
        self, request: Request, timeout: aiohttp.ClientTimeout, lane: Lane = Lane.WATCHES
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A good answer whose content is still to be read."""
        try:
            async with await self._begin(request, timeout, lane) as response:
                if response.status >= 400:
                    raise _refusal(request.what, response, await response.read())
                yield response
        except (aiohttp.ClientError, OSError) as error:  # a TimeoutError is an OSError
            raise self._failure(request, error) from error

    def _failure(self, request: Request, error: Exception) -> KubeError:
        return _failure(f"{request.what} at {self.access.server}", error)

    async def _begin(
        self, request: Request, timeout: aiohttp.ClientTimeout, lane: Lane
    ) -> aiohttp.ClientResponse:
        """The answer, of which only the head is there; with other credentials if need be."""
        identity = await self.access.credentials.current()
        response = await self._send(request, identity, timeout, lane)
        if response.status == 401:
            other = await self.access.credentials.another(identity)
            if other is not None:
                response.release()
                response = await self._send(request, other, timeout, lane)
        return response

    async def _send(
        self, request: Request, identity: Identity, timeout: aiohttp.ClientTimeout, lane: Lane
    ) -> aiohttp.ClientResponse:
        headers = dict(identity.headers)
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        return await self._sessions[lane].request(
            request.method,
            URL(self.access.server + request.path, encoded=True),
            params=request.params,
            data=request.body,
            headers=headers,
            ssl=identity.tls or True,
            server_hostname=self.access.server_name,
            proxy=self.access.proxy,
            timeout=timeout,
            allow_redirects=False,
        )

    def _session(self, lane: Lane) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=lane.value, socket_factory=_socket)
        return aiohttp.ClientSession(connector=connector, headers=_HEADERS, auto_decompress=False)


def _socket(address: Any) -> socket.socket:
    """A connection that notices within a minute that the other machine is gone."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_KEEPIDLE"):  # not on every system
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 20)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    made.setblocking(False)
    return made


# --- what failures mean ------------------------------------------------------------------------


def _refusal(what: str, response: aiohttp.ClientResponse, content: bytes) -> KubeError:
    try:
        status = msgspec.json.decode(content, type=Status)
    except msgspec.DecodeError:  # some proxy's page, or the words of a busy server
        status = Status(message=content.decode(errors="replace")[:_LONGEST_QUOTE].strip())
    error = error_for(what, msgspec.structs.replace(status, code=response.status))
    wait = response.headers.get("Retry-After", "")
    if isinstance(error, Overloaded) and wait.isdigit():
        error.retry_after = float(wait)
    return error


def _failure(what: str, error: Exception) -> KubeError:
    words = _SSL_CONTEXT.sub("", str(error)) or type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return Untrusted(f"{what}: {words}; check certificate-authority(-data) of the cluster")
    never_sent = isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError))
    return Unreachable(f"{what}: {words}", may_be_done=not never_sent)
