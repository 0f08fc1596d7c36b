"""Sends requests to the API server over HTTP, and turns failures into `kube.errors`.

There are three lanes, each with connections of its own: ordinary requests, binds, and watches. So
a thousand events that wait to be written never delay a bind, and a watch never takes a connection
that a request needs.

A request is sent once, with two exceptions that are always safe. A server that answers 429 has done
nothing, so the request is sent again after the time that the server names. After a 401 it is sent
again with fresh credentials, if there are any. All other failures are raised to the caller, which
knows whether a retry makes sense. They are never exceptions of an HTTP library.

Short requests use `pool`, watches aiohttp (`sessions`). With a proxy everything uses aiohttp; the
proxy is taken from `proxy-url` of the kubeconfig only, not from the environment.
"""

from __future__ import annotations

import asyncio
import random
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import Enum

import aiohttp
import msgspec

from fluxnetes.kube.auth.access import ApiAccess
from fluxnetes.kube.errors import (
    ApiStatus,
    KubeError,
    Overloaded,
    Unreachable,
    Untrusted,
    error_for,
)
from fluxnetes.kube.http.pool import ConnectionPool, NotConnected
from fluxnetes.kube.http.sessions import AiohttpSession, whole
from fluxnetes.kube.http.types import HttpCarrier, HttpRequest, HttpResponse

_ATTEMPTS = 4
"""Maximum attempts of a request at a server that answers 429."""

_MAX_QUOTE = 300
"""Maximum characters of a response that is no Status in an error message."""

_SSL_CONTEXT = re.compile(r" ssl:<.*?>")
"""In messages of aiohttp: an SSL context with its memory address, which is noise to users."""

_NEVER_SENT = (NotConnected, aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_NOT_TRUSTED = (ssl.SSLCertVerificationError, aiohttp.ClientConnectorCertificateError)


class Lane(Enum):
    """The connections that a request uses; the value is their maximum number, 0: no limit."""

    REQUESTS = 16
    BINDS = 48
    WATCHES = 0


class Transport:
    """Connections to one server. Open it with `async with`."""

    _watches: AiohttpSession
    _carriers: dict[Lane, HttpCarrier]

    def __init__(self, access: ApiAccess, timeout: float = 60.0) -> None:
        self.access = access
        self._timeout = timeout

    async def __aenter__(self) -> Transport:
        self._watches = AiohttpSession(self.access, Lane.WATCHES.value, self._timeout)
        self._carriers = {
            Lane.REQUESTS: self._carrier(Lane.REQUESTS),
            Lane.BINDS: self._carrier(Lane.BINDS),
            Lane.WATCHES: self._watches,
        }
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(carrier.close() for carrier in self._carriers.values()))

    def _carrier(self, lane: Lane) -> HttpCarrier:
        access = self.access
        if access.proxy is not None:
            return AiohttpSession(access, lane.value, self._timeout)
        return ConnectionPool(access.server, access.server_name, lane.value, self._timeout)

    async def open_all(self, lane: Lane) -> None:
        """Open all connections of a lane in advance, if possible, so that requests do not wait."""
        carrier = self._carriers[lane]
        if isinstance(carrier, ConnectionPool):
            with suppress(KubeError, OSError):  # the next request will fail with it
                await carrier.open_all(await self.access.credentials.current())

    async def send(self, request: HttpRequest, lane: Lane = Lane.REQUESTS) -> bytes:
        """Send a request; the content of the response."""
        for attempts_left in reversed(range(_ATTEMPTS)):
            try:
                return await self._send_once(request, self._carriers[lane])
            except Overloaded as overloaded:
                if not attempts_left:
                    raise
                await asyncio.sleep(overloaded.retry_after * random.uniform(1, 1.25))  # noqa: S311
        raise AssertionError("the last attempt either returns or raises")

    async def _send_once(self, request: HttpRequest, carrier: HttpCarrier) -> bytes:
        credentials = self.access.credentials
        identity = await credentials.current()
        try:
            response = await carrier.send(request, identity)
            if response.status == 401:
                other = await credentials.another(identity)
                if other is not None:
                    response = await carrier.send(request, other)
        except (aiohttp.ClientError, OSError) as error:  # a TimeoutError is an OSError
            raise self._failure(request, error) from error
        if response.status >= 400:
            raise _refusal(request.what, response)
        return response.content

    @asynccontextmanager
    async def stream(
        self, request: HttpRequest, timeout: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A successful response whose content is still to be read."""
        try:
            async with await self._begin(request, timeout) as response:
                if response.status >= 400:
                    raise _refusal(request.what, await whole(response))
                yield response
        except (aiohttp.ClientError, OSError) as error:  # a TimeoutError is an OSError
            raise self._failure(request, error) from error

    async def _begin(
        self, request: HttpRequest, timeout: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        """The headers of the response; after a 401 with fresh credentials."""
        credentials = self.access.credentials
        identity = await credentials.current()
        response = await self._watches.begin(request, identity, timeout)
        if response.status == 401:
            other = await credentials.another(identity)
            if other is not None:
                response.release()
                response = await self._watches.begin(request, other, timeout)
        return response

    def _failure(self, request: HttpRequest, error: Exception) -> KubeError:
        what = f"{request.what} at {self.access.server}"
        if isinstance(error, TimeoutError) and not str(error):
            return Unreachable(f"{what}: not answered within {self._timeout:.0f} s")
        return _failure(what, error)


# --- failures to errors ------------------------------------------------------------------------


def _refusal(what: str, response: HttpResponse) -> KubeError:
    try:
        status = msgspec.json.decode(response.content, type=ApiStatus)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # A page of a proxy, or the plain text of a busy server.
        status = ApiStatus(message=response.content.decode(errors="replace")[:_MAX_QUOTE].strip())
    error = error_for(what, msgspec.structs.replace(status, code=response.status))
    if isinstance(error, Overloaded) and response.retry_after.isdecimal():
        error.retry_after = float(response.retry_after)
    return error


def _failure(what: str, error: Exception) -> KubeError:
    text = _SSL_CONTEXT.sub("", str(error)) or type(error).__name__
    if isinstance(error, _NOT_TRUSTED):
        return Untrusted(f"{what}: {text}; check certificate-authority(-data) of the cluster")
    return Unreachable(f"{what}: {text}", may_be_done=not isinstance(error, _NEVER_SENT))
