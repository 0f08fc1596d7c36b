"""Requests through aiohttp: watches, whose responses have no end, and proxies."""

from __future__ import annotations

import socket
from typing import Any

import aiohttp
from yarl import URL

from fluxnetes.kube.auth.access import ApiAccess
from fluxnetes.kube.auth.credentials import RequestIdentity
from fluxnetes.kube.http.pool import keep_alive
from fluxnetes.kube.http.types import HEADERS, HttpRequest, HttpResponse


class AiohttpSession:
    """An aiohttp session with one server; a limit of 0 means any number of connections.

    Construct it inside the event loop.
    """

    def __init__(self, access: ApiAccess, limit: int, timeout: float) -> None:
        self._access = access
        self._timeout = aiohttp.ClientTimeout(total=timeout, sock_connect=10)
        connector = aiohttp.TCPConnector(limit=limit, socket_factory=_socket)
        self._session = aiohttp.ClientSession(
            connector=connector, headers=HEADERS, auto_decompress=False
        )

    async def send(self, request: HttpRequest, identity: RequestIdentity) -> HttpResponse:
        """Send a request, and wait for its response."""
        async with await self.begin(request, identity, self._timeout) as response:
            return await whole(response)

    async def begin(
        self, request: HttpRequest, identity: RequestIdentity, timeout: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        """A response of which only the headers have arrived."""
        headers = dict(identity.headers)
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        return await self._session.request(
            request.method,
            URL(self._access.server + request.path, encoded=True),
            params=request.params,
            data=request.body,
            headers=headers,
            ssl=identity.tls or True,
            server_hostname=self._access.server_name,
            proxy=self._access.proxy,
            timeout=timeout,
            allow_redirects=False,
        )

    async def close(self) -> None:
        await self._session.close()


async def whole(response: aiohttp.ClientResponse) -> HttpResponse:
    """The complete response."""
    retry_after = response.headers.get("Retry-After", "")
    return HttpResponse(response.status, await response.read(), retry_after)


def _socket(address: Any) -> socket.socket:
    family, kind, protocol, _, _ = address
    created = socket.socket(family, kind, protocol)
    keep_alive(created)
    created.setblocking(False)
    return created
