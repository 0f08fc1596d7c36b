"""The connection pool for short requests: HTTP/1.1, one request at a time on each connection.

A bind is a request and a response of some hundred bytes, and thousands of them come in a row. What
a general client does for each (cookies, redirects, middleware, streams) takes 0.11 ms, and none of
it is needed here. So this module only writes a request in one piece and collects the response,
which `httptools` parses. Watches and connections through a proxy, which need more, use aiohttp.

No request is sent twice. A connection on which anything unexpected happens is closed.
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

_CONNECT_TIMEOUT = 10.0
"""Maximum seconds to open a connection, TLS handshake included."""
_HAPPY_EYEBALLS_DELAY = 0.25
"""Seconds after which the next address of a host name is tried in parallel."""
_MAX_IDLE = 30.0
"""Maximum idle seconds of a connection; after that a firewall in between may have dropped it."""

_KEEPALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""TCP keepalive: a lost peer is detected after 20 + 3 * 10 seconds."""


class NotConnected(OSError):  # noqa: N818 - names the state
    """Nothing was sent."""


class ConnectionBroken(OSError):  # noqa: N818
    """The request was sent, and then the connection broke."""


class ConnectionPool:
    """A limited number of connections to one server, opened on demand or by `open_all`."""

    def __init__(self, server: str, server_name: str | None, limit: int, timeout: float) -> None:
        address = urlsplit(server)
        self._host = address.hostname or ""
        self._port = address.port or (443 if address.scheme == "https" else 80)
        self._authority, self._prefix = address.netloc.rpartition("@")[2], address.path
        self._server_name = server_name or self._host
        self._timeout = timeout
        self._limit, self._slots = limit, asyncio.Semaphore(limit)
        self._idle: list[_Connection] = []
        self._head: tuple[RequestIdentity | None, bytes] = (None, b"")

    async def send(self, request: HttpRequest, identity: RequestIdentity) -> HttpResponse:
        """Send a request, and wait for its response."""
        message = self._message(request, identity)
        async with asyncio.timeout(self._timeout), self._slots:
            connection = self._take_idle(identity.tls) or await self._open(identity.tls)
            try:
                response = await connection.send(message)
            except BaseException:
                connection.close()
                raise
        self._put_idle(connection)
        return response

    async def open_all(self, identity: RequestIdentity) -> None:
        """Open all connections before there is anything to send."""
        await asyncio.gather(*(self._open_one(identity.tls) for _ in range(self._limit)))

    async def close(self) -> None:
        for connection in self._idle:
            connection.close()
        self._idle.clear()
        await asyncio.sleep(0)  # sockets are closed in the next iteration of the loop

    # -- connections ---------------------------------------------------------------------------

    async def _open_one(self, tls: ssl.SSLContext | None) -> None:
        async with self._slots:
            if len(self._idle) < self._limit:  # else other requests opened them first
                self._put_idle(await self._open(tls))

    def _put_idle(self, connection: _Connection) -> None:
        if connection.is_open and len(self._idle) < self._limit:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        else:
            connection.close()

    def _take_idle(self, tls: ssl.SSLContext | None) -> _Connection | None:
        """The idle connection that was used last, so that surplus ones expire."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and connection.tls is tls and connection.is_recent:
                return connection
            connection.close()
        return None

    async def _open(self, tls: ssl.SSLContext | None) -> _Connection:
        try:
            async with asyncio.timeout(_CONNECT_TIMEOUT):
                transport, connection = await asyncio.get_running_loop().create_connection(
                    lambda: _Connection(tls),
                    self._host,
                    self._port,
                    ssl=tls,
                    server_hostname=self._server_name if tls else None,
                    happy_eyeballs_delay=_HAPPY_EYEBALLS_DELAY,
                )
        except ssl.SSLCertVerificationError:
            raise
        except OSError as error:  # a TimeoutError is an OSError
            raise NotConnected(f"cannot connect to {self._authority}: {_cause(error)}") from error
        keep_alive(transport.get_extra_info("socket"))
        return connection

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
        """The header lines that all requests of an identity share."""
        known, head = self._head
        if known is not identity:
            lines = {"Host": self._authority, **HEADERS, **identity.headers}
            head = b"".join(_header(name, value) for name, value in lines.items())
            self._head = (identity, head)
        return head


def _cause(error: OSError) -> str:
    """Why the connection failed, without the internals in asyncio's own message.

    Not every error has a text: asyncio raises a bare ConnectionResetError if the server closes the
    connection during the TLS handshake.
    """
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno).lower()
    if error.strerror or str(error):
        return error.strerror or str(error)
    if isinstance(error, TimeoutError):
        return f"no response within {_CONNECT_TIMEOUT:.0f} s"
    if isinstance(error, ConnectionError):
        return "the server closed the connection before it was ready"
    return type(error).__name__


def _header(name: str, value: str) -> bytes:
    if not value.isascii() or not value.isprintable():
        raise ConfigError(f"{name} has characters that a header cannot hold; correct the token")
    return f"{name}: {value}\r\n".encode("ascii")


def keep_alive(connection: socket.socket) -> None:
    """Turn on TCP keepalive, so that a lost peer is detected within a minute."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE.items():
        if hasattr(socket, option):  # not on every system
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


class _Connection(asyncio.Protocol):
    """One connection, and the response pending on it. The parser calls the `on_` methods."""

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self.tls = tls
        self.idle_since = 0.0
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._pending: asyncio.Future[HttpResponse] | None = None
        self._pieces: list[bytes] = []
        self._retry_after = ""

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_recent(self) -> bool:
        return time.monotonic() - self.idle_since < _MAX_IDLE

    async def send(self, message: bytes) -> HttpResponse:
        if self._transport is None:
            raise NotConnected("the connection was closed before the request was sent")
        self._pending = asyncio.get_running_loop().create_future()
        self._transport.write(message)
        return await self._pending

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _fail(self, why: str) -> None:
        pending, self._pending = self._pending, None
        if pending is not None and not pending.done():
            pending.set_exception(ConnectionBroken(why))

    # -- called by asyncio ---------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._pending is None:  # no request is pending
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(f"the response is not HTTP: {error}")
            self.close()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._fail(str(error) if error else "the connection was closed before the response ended")

    # -- called by the parser ------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self._pending is None:  # a second response in the same data
            self.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"retry-after":
            self._retry_after = value.decode("latin-1")

    def on_body(self, piece: bytes) -> None:
        self._pieces.append(piece)

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        response = HttpResponse(status, b"".join(self._pieces), self._retry_after)
        self._pieces, self._retry_after = [], ""
        if status < 200:  # an interim response
            return
        if not self._parser.should_keep_alive():
            self.close()
        pending, self._pending = self._pending, None
        if pending is not None and not pending.done():
            pending.set_result(response)
