"""Connections for short requests: HTTP/1.1, one request after the other on each.

A bind is a request and an answer of some hundred bytes, and thousands of them come in a row. What a
general client does for each (cookies, redirects, middleware, streams) takes it 0.11 ms, and we need
none of it. So this only writes a request in one piece and collects the answer; `httptools` reads
it. Where that is not enough, for watches and through proxies, there is aiohttp.

Nothing is sent twice. A connection on which anything unexpected happens is closed.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import time
from typing import cast
from urllib.parse import urlencode, urlsplit

import httptools

from fluxnetes.kube.auth.credentials import RequestIdentity
from fluxnetes.kube.errors import ConfigError
from fluxnetes.kube.http.types import HEADERS, HttpRequest, HttpResponse

_CONNECT_WITHIN = 10.0
_NEXT_ADDRESS_AFTER = 0.25
"""Where a name has several addresses, so long after the one before."""
_FRESH = 30.0
"""A connection that rested longer may be one that somebody between us has forgotten."""

_KEEPALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}


class NotConnected(OSError):  # noqa: N818 - it says what is
    """Nothing was sent."""


class ConnectionBroken(OSError):  # noqa: N818
    """The request was sent, and then the connection broke."""


class ConnectionPool:
    """Some connections to one server, opened when they are needed or somebody says so."""

    def __init__(self, server: str, server_name: str | None, limit: int, timeout: float) -> None:
        address = urlsplit(server)
        self._host = address.hostname or ""
        self._port = address.port or (443 if address.scheme == "https" else 80)
        self._place, self._prefix = address.netloc.rpartition("@")[2], address.path
        self._server_name = server_name or self._host
        self._timeout = timeout
        self._limit, self._turns = limit, asyncio.Semaphore(limit)
        self._resting: list[_Wire] = []
        self._head: tuple[RequestIdentity | None, bytes] = (None, b"")

    async def ask(self, request: HttpRequest, identity: RequestIdentity) -> HttpResponse:
        """Send a request, and wait for its answer."""
        message = self._message(request, identity)
        async with asyncio.timeout(self._timeout), self._turns:
            wire = self._rested(identity.tls) or await self._open(identity.tls)
            try:
                answer = await wire.ask(message)
            except BaseException:
                wire.close()
                raise
        self._rest(wire)
        return answer

    async def open_all(self, identity: RequestIdentity) -> None:
        """Have all connections open before there is anything to ask."""
        await asyncio.gather(*(self._open_one(identity.tls) for _ in range(self._limit)))

    async def close(self) -> None:
        for wire in self._resting:
            wire.close()
        self._resting.clear()
        await asyncio.sleep(0)  # sockets are closed in the next turn of the loop

    # -- connections ---------------------------------------------------------------------------

    async def _open_one(self, tls: ssl.SSLContext | None) -> None:
        async with self._turns:
            if len(self._resting) < self._limit:  # else others were quicker
                self._rest(await self._open(tls))

    def _rest(self, wire: _Wire) -> None:
        if wire.is_open and len(self._resting) < self._limit:
            wire.resting_since = time.monotonic()
            self._resting.append(wire)
        else:
            wire.close()

    def _rested(self, tls: ssl.SSLContext | None) -> _Wire | None:
        """The connection that was used last, so that those which are too many grow old."""
        while self._resting:
            wire = self._resting.pop()
            if wire.is_open and wire.tls is tls and wire.is_fresh:
                return wire
            wire.close()
        return None

    async def _open(self, tls: ssl.SSLContext | None) -> _Wire:
        try:
            async with asyncio.timeout(_CONNECT_WITHIN):
                transport, wire = await asyncio.get_running_loop().create_connection(
                    lambda: _Wire(tls),
                    self._host,
                    self._port,
                    ssl=tls,
                    server_hostname=self._server_name if tls else None,
                    happy_eyeballs_delay=_NEXT_ADDRESS_AFTER,
                )
        except ssl.SSLCertVerificationError:
            raise
        except OSError as error:  # a TimeoutError is an OSError
            raise NotConnected(f"cannot connect to {self._place}: {_words(error)}") from error
        keep_alive(transport.get_extra_info("socket"))
        return wire

    # -- requests as bytes ---------------------------------------------------------------------

    def _message(self, request: HttpRequest, identity: RequestIdentity) -> bytes:
        target = self._prefix + request.path
        if request.params:
            target += "?" + urlencode(request.params)
        first, head = f"{request.method} {target} HTTP/1.1\r\n", self._head_for(identity)
        if request.body is None:
            return b"%b%b\r\n" % (first.encode("ascii"), head)
        length = f"Content-Type: {request.content_type}\r\nContent-Length: {len(request.body)}\r\n"
        return b"%b%b%b\r\n%b" % (first.encode("ascii"), head, length.encode(), request.body)

    def _head_for(self, identity: RequestIdentity) -> bytes:
        """What all requests of an identity have in common."""
        known, head = self._head
        if known is not identity:
            lines = {"Host": self._place, **HEADERS, **identity.headers}
            head = b"".join(_header(name, value) for name, value in lines.items())
            self._head = (identity, head)
        return head


def _words(error: OSError) -> str:
    """Why there is no connection; asyncio's own words are for programmers."""
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno).lower()
    return error.strerror or str(error) or f"nothing was heard for {_CONNECT_WITHIN:.0f} s"


def _header(name: str, value: str) -> bytes:
    if not value.isascii() or not value.isprintable():
        raise ConfigError(f"{name} has characters in it that cannot be sent; correct the token")
    return f"{name}: {value}\r\n".encode("ascii")


def keep_alive(connection: socket.socket) -> None:
    """Have it noticed within a minute that the other machine is gone."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE.items():
        if hasattr(socket, option):  # not on every system
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


class _Wire(asyncio.Protocol):
    """One connection, and the answer that is awaited on it. Its parser calls the `on_` methods."""

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self.tls = tls
        self.resting_since = 0.0
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._awaited: asyncio.Future[HttpResponse] | None = None
        self._pieces: list[bytes] = []
        self._retry_after = ""

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self.resting_since < _FRESH

    async def ask(self, message: bytes) -> HttpResponse:
        if self._transport is None:
            raise NotConnected("the connection was closed at once")
        self._awaited = asyncio.get_running_loop().create_future()
        self._transport.write(message)
        return await self._awaited

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _fail(self, why: str) -> None:
        awaited, self._awaited = self._awaited, None
        if awaited is not None and not awaited.done():
            awaited.set_exception(ConnectionBroken(why))

    # -- asyncio tells -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._awaited is None:  # nobody asked
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(f"the answer is not HTTP: {error}")
            self.close()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._fail(str(error) if error else "the connection was closed before there was an answer")

    # -- the parser tells ----------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self._awaited is None:  # a second answer, in the same breath
            self.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"retry-after":
            self._retry_after = value.decode("latin-1")

    def on_body(self, piece: bytes) -> None:
        self._pieces.append(piece)

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        answer = HttpResponse(status, b"".join(self._pieces), self._retry_after)
        self._pieces, self._retry_after = [], ""
        if status < 200:  # not the answer yet
            return
        if not self._parser.should_keep_alive():
            self.close()
        awaited, self._awaited = self._awaited, None
        if awaited is not None and not awaited.done():
            awaited.set_result(answer)
