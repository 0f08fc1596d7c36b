"""Connections for short requests: answers in any shape, and what becomes of a connection after."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from fluxnetes.kube.auth.credentials import RequestIdentity
from fluxnetes.kube.errors import ConfigError
from fluxnetes.kube.http import pool
from fluxnetes.kube.http.pool import ConnectionBroken, ConnectionPool, NotConnected
from fluxnetes.kube.http.types import HttpRequest, HttpResponse

ANONYMOUS = RequestIdentity({}, None)
GET = HttpRequest("get it", "GET", "/it")
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"


@dataclass
class Server:
    """Answers each request with the next of its lines, byte for byte; an empty one: hang up."""

    lines: list[bytes]
    port: int = 0
    received: list[bytes] = field(default_factory=list)
    connections: list[asyncio.StreamWriter] = field(default_factory=list)
    most_at_once: int = 0
    _at_once: int = 0
    slowly: bool = False
    """Byte after byte."""
    waits: asyncio.Event | None = None

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(writer)
        try:
            while (head := await reader.readuntil(b"\r\n\r\n")) and self.lines:
                self._at_once += 1
                self.most_at_once = max(self.most_at_once, self._at_once)
                self.received.append(head + await reader.read(_length(head)))
                if self.waits is not None:
                    await self.waits.wait()
                self._at_once -= 1
                if not (line := self.lines.pop(0)):
                    break
                await self._say(writer, line)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _say(self, writer: asyncio.StreamWriter, line: bytes) -> None:
        step = 1 if self.slowly else len(line)
        for start in range(0, len(line), step):
            writer.write(line[start : start + step])
            await writer.drain()
            await asyncio.sleep(0)


def _length(head: bytes) -> int:
    _, found, rest = head.partition(b"Content-Length: ")
    return int(rest.partition(b"\r")[0]) if found else 0


@asynccontextmanager
async def talking(
    *lines: bytes, limit: int = 2, timeout: float = 10, prefix: str = ""
) -> AsyncIterator[tuple[ConnectionPool, Server]]:
    talk = Server(list(lines))
    server = await asyncio.start_server(talk.talk, "127.0.0.1", 0)
    talk.port = server.sockets[0].getsockname()[1]
    made = ConnectionPool(f"http://127.0.0.1:{talk.port}{prefix}", None, limit, timeout)
    try:
        yield made, talk
    finally:
        await made.close()
        server.close()


@pytest.mark.parametrize("line", [HELLO, CHUNKED, CLOSING])
@pytest.mark.parametrize("slowly", [False, True])
async def test_an_answer_is_the_same_however_it_comes(line: bytes, slowly: bool) -> None:
    async with talking(line) as (ask, server):
        server.slowly = slowly
        assert await ask.send(GET, ANONYMOUS) == HttpResponse(200, b"hello")


async def test_what_is_sent_is_a_request_of_http() -> None:
    token = RequestIdentity({"Authorization": "Bearer abc"}, None)
    params = {"fieldManager": "us & them", "force": "true"}
    request = HttpRequest("make", "POST", "/it", params, b'{"a":1}', "application/x")
    async with talking(HELLO, HELLO, prefix="/clusters/one") as (ask, server):
        await ask.send(request, token)
        await ask.send(GET, ANONYMOUS)
        first, second = server.received
        port = server.port
    head, _, body = first.partition(b"\r\n\r\n")
    assert head.decode().split("\r\n") == [
        "POST /clusters/one/it?fieldManager=us+%26+them&force=true HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Accept: application/json",
        "Accept-Encoding: identity",
        "User-Agent: fluxnetes",
        "Authorization: Bearer abc",
        "Content-Type: application/x",
        "Content-Length: 7",
    ]
    assert body == b'{"a":1}'
    assert second.startswith(b"GET /clusters/one/it HTTP/1.1\r\n")
    assert b"Bearer" not in second, "another identity has other headers"


async def test_a_token_cannot_bring_headers_of_its_own() -> None:
    sly = RequestIdentity({"Authorization": "Bearer abc\r\nImpersonate-User: admin"}, None)
    async with talking(HELLO) as (ask, server):
        with pytest.raises(ConfigError, match="Authorization has characters"):
            await ask.send(GET, sly)
        assert not server.received


async def test_a_connection_is_used_again() -> None:
    async with talking(HELLO, CHUNKED, HELLO) as (ask, server):
        for _ in range(3):
            assert (await ask.send(GET, ANONYMOUS)).content == b"hello"
        assert len(server.connections) == 1


async def test_connections_that_were_opened_before_are_used() -> None:
    async with talking(*[HELLO] * 4, limit=4) as (ask, server):
        await ask.open_all(ANONYMOUS)
        assert not server.received
        server.waits = asyncio.Event()
        asking = asyncio.gather(*(ask.send(GET, ANONYMOUS) for _ in range(4)))
        while server.most_at_once < 4:
            await asyncio.sleep(0.01)
        server.waits.set()
        assert await asking == [HttpResponse(200, b"hello")] * 4
        assert len(server.connections) == 4


@pytest.mark.parametrize("ahead", [True, False])
async def test_requests_while_all_are_being_opened_open_no_more(ahead: bool) -> None:
    async with talking(HELLO, HELLO) as (ask, server):
        asking = [asyncio.create_task(ask.send(GET, ANONYMOUS)) for _ in range(2)]
        await asyncio.sleep(0.01 if ahead else 0)
        await ask.open_all(ANONYMOUS)
        await asyncio.gather(*asking)
        await ask.open_all(ANONYMOUS)
        assert len(server.connections) == 2


async def test_a_connection_that_the_server_ends_is_not_used_again() -> None:
    async with talking(CLOSING, HELLO) as (ask, server):
        for _ in range(2):
            assert (await ask.send(GET, ANONYMOUS)).content == b"hello"
        assert len(server.connections) == 2


async def test_a_connection_that_broke_while_it_rested_is_not_used_again() -> None:
    async with talking(HELLO, HELLO) as (ask, server):
        await ask.send(GET, ANONYMOUS)
        server.connections[0].close()
        await asyncio.sleep(0.05)
        await ask.send(GET, ANONYMOUS)
        assert len(server.connections) == 2


async def test_a_connection_that_rested_too_long_is_not_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "_MAX_IDLE", 0.0)
    async with talking(HELLO, HELLO) as (ask, server):
        for _ in range(2):
            await ask.send(GET, ANONYMOUS)
        assert len(server.connections) == 2


async def test_an_unexpected_answer_ends_a_connection() -> None:
    """Or it would be taken for the answer to the next request."""
    async with talking(HELLO, CHUNKED) as (ask, server):
        await ask.send(GET, ANONYMOUS)
        server.connections[0].write(HELLO.replace(b"hello", b"wrong"))
        await asyncio.sleep(0.05)
        assert (await ask.send(GET, ANONYMOUS)).content == b"hello"
        assert len(server.connections) == 2


async def test_two_answers_to_one_request_end_a_connection() -> None:
    async with talking(HELLO + HELLO.replace(b"hello", b"wrong"), HELLO) as (ask, server):
        for _ in range(2):
            assert (await ask.send(GET, ANONYMOUS)).content == b"hello"
        assert len(server.connections) == 2


async def test_a_word_in_between_is_not_the_answer() -> None:
    between = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    async with talking(between + HELLO) as (ask, _):
        assert await ask.send(GET, ANONYMOUS) == HttpResponse(200, b"hello")


async def test_the_answer_says_when_to_ask_again() -> None:
    busy = b"HTTP/1.1 429 Too Many Requests\r\nretry-After: 3\r\nContent-Length: 0\r\n\r\n"
    async with talking(busy, HELLO) as (ask, _):
        assert await ask.send(GET, ANONYMOUS) == HttpResponse(429, b"", "3")
        assert await ask.send(GET, ANONYMOUS) == HttpResponse(200, b"hello")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        HELLO[:-1],
        CHUNKED[:-2],
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    ],
)
async def test_no_answer_is_no_answer(line: bytes) -> None:
    async with talking(line) as (ask, server):
        asking = asyncio.create_task(ask.send(GET, ANONYMOUS))
        while not server.received:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        server.connections[0].close()
        with pytest.raises(ConnectionBroken):
            await asking


async def test_without_a_connection_nothing_was_sent() -> None:
    async with talking() as (_, server):
        port = server.port
    with pytest.raises(NotConnected, match=f"cannot connect to 127.0.0.1:{port}: "):
        await ConnectionPool(f"http://127.0.0.1:{port}", None, 1, 10).send(GET, ANONYMOUS)
    with pytest.raises(NotConnected, match=r"cannot connect to nowhere\.invalid"):
        await ConnectionPool("http://nowhere.invalid", None, 1, 10).send(GET, ANONYMOUS)


async def test_a_server_that_hangs_up_during_the_handshake_is_not_called_silent() -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1")
    async with server:
        port = server.sockets[0].getsockname()[1]
        identity = RequestIdentity({}, ssl.create_default_context())
        with pytest.raises(NotConnected) as raised:
            await ConnectionPool(f"https://127.0.0.1:{port}", None, 1, 10).send(GET, identity)
    assert "no response" not in str(raised.value)
    assert "closed the connection" in str(raised.value)


async def test_a_silent_server_is_called_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    async def stay_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    monkeypatch.setattr(pool, "_CONNECT_TIMEOUT", 1.0)
    server = await asyncio.start_server(stay_silent, "127.0.0.1")
    async with server:
        port = server.sockets[0].getsockname()[1]
        identity = RequestIdentity({}, ssl.create_default_context())
        with pytest.raises(NotConnected, match="no response within 1 s"):
            await ConnectionPool(f"https://127.0.0.1:{port}", None, 1, 10).send(GET, identity)


async def test_a_request_that_was_given_up_takes_its_connection_along() -> None:
    """Its answer may still come, and is not that to the next request."""
    async with talking(HELLO.replace(b"hello", b"wrong"), HELLO, timeout=0.2) as (ask, server):
        server.waits = asyncio.Event()
        with pytest.raises(TimeoutError):
            await ask.send(GET, ANONYMOUS)
        server.waits.set()
        assert (await ask.send(GET, ANONYMOUS)).content == b"hello"
        assert len(server.connections) == 2


async def test_no_more_connections_than_allowed() -> None:
    async with talking(*[HELLO] * 20, limit=3) as (ask, server):
        server.waits = asyncio.Event()
        asking = [asyncio.create_task(ask.send(GET, ANONYMOUS)) for _ in range(20)]
        while len(server.received) < 3:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert len(server.received) == 3
        server.waits.set()
        assert {(await each).content for each in asking} == {b"hello"}
        assert (server.most_at_once, len(server.connections)) == (3, 3)
