"""Requests over HTTP, and what their failures mean.

There are three lanes, each with connections of its own: ordinary requests, binds, and watches. So
a thousand events that wait to be written never delay a bind, and a watch never takes a connection
that a request needs.

A request is tried once, with two exceptions that are always safe. When the server says that it is
too busy it has done nothing, so we ask again after the time that it names. When it does not know us
any more we ask again with fresh credentials, if there are any. All other failures are for the
caller, who knows what is worth doing again. They are never exceptions of a library.

Short requests go over `wires`, watches through aiohttp. Where there is a proxy everything goes
through aiohttp; it is taken from `proxy-url` of the kubeconfig only, not from the environment.
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

_TRIES = 4
"""How often a server that is too busy is asked."""

_LONGEST_QUOTE = 300

_SSL_CONTEXT = re.compile(r" ssl:<.*?>")
"""In what aiohttp says: an address in memory, which helps nobody."""

_NEVER_SENT = (NotConnected, aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_NOT_TRUSTED = (ssl.SSLCertVerificationError, aiohttp.ClientConnectorCertificateError)


class Lane(Enum):
    """Which connections a request goes over, and how many of them there are; 0: any number."""

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
        """Have all connections of a lane open, if that can be done; requests need not wait then."""
        carrier = self._carriers[lane]
        if isinstance(carrier, ConnectionPool):
            with suppress(KubeError, OSError):  # whoever asks for something will hear of it
                await carrier.open_all(await self.access.credentials.current())

    async def ask(self, request: HttpRequest, lane: Lane = Lane.REQUESTS) -> bytes:
        """The content of the answer."""
        for tries_left in reversed(range(_TRIES)):
            try:
                return await self._ask_once(request, self._carriers[lane])
            except Overloaded as busy:
                if not tries_left:
                    raise
                await asyncio.sleep(busy.retry_after * random.uniform(1, 1.25))  # noqa: S311
        raise AssertionError("the last try either answers or raises")

    async def _ask_once(self, request: HttpRequest, carrier: HttpCarrier) -> bytes:
        credentials = self.access.credentials
        identity = await credentials.current()
        try:
            answer = await carrier.ask(request, identity)
            if answer.status == 401:
                other = await credentials.another(identity)
                if other is not None:
                    answer = await carrier.ask(request, other)
        except (aiohttp.ClientError, OSError) as error:  # a TimeoutError is an OSError
            raise self._failure(request, error) from error
        if answer.status >= 400:
            raise _refusal(request.what, answer)
        return answer.content

    @asynccontextmanager
    async def stream(
        self, request: HttpRequest, timeout: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """A good answer whose content is still to be read."""
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
        """The answer, of which only the head is there; with other credentials if need be."""
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
        return _failure(f"{request.what} at {self.access.server}", error)


# --- what failures mean ------------------------------------------------------------------------


def _refusal(what: str, answer: HttpResponse) -> KubeError:
    try:
        status = msgspec.json.decode(answer.content, type=ApiStatus)
    except msgspec.DecodeError:  # some proxy's page, or the words of a busy server
        status = ApiStatus(message=answer.content.decode(errors="replace")[:_LONGEST_QUOTE].strip())
    error = error_for(what, msgspec.structs.replace(status, code=answer.status))
    if isinstance(error, Overloaded) and answer.retry_after.isdigit():
        error.retry_after = float(answer.retry_after)
    return error


def _failure(what: str, error: Exception) -> KubeError:
    words = _SSL_CONTEXT.sub("", str(error)) or type(error).__name__
    if isinstance(error, _NOT_TRUSTED):
        return Untrusted(f"{what}: {words}; check certificate-authority(-data) of the cluster")
    return Unreachable(f"{what}: {words}", may_be_done=not isinstance(error, _NEVER_SENT))
