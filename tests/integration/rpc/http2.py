"""gRPC calls made of single frames: a client that can stop, turn back or fall silent anywhere.

It knows just enough of HTTP/2 (RFC 9113) to see on the wire what a server has sent and what not,
which no library shows: a library that is asked to cancel forgets an answer that was on its way.
"""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass, field

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS = 0x1, 0x1, 0x4
CANCEL = 8
_LARGEST_WINDOW = 2**31 - 1
_INITIAL_WINDOW = 4


def frame(kind: int, flags: int = 0, stream: int = 0, body: bytes = b"") -> bytes:
    return struct.pack(">I", len(body))[1:] + struct.pack(">BBI", kind, flags, stream) + body


def opening() -> bytes:
    """What a client says first: answers may be as long as they like."""
    window = struct.pack(">HI", _INITIAL_WINDOW, _LARGEST_WINDOW)
    more = struct.pack(">I", _LARGEST_WINDOW - 65_535)
    return PREFACE + frame(SETTINGS, body=window) + frame(WINDOW_UPDATE, body=more)


def headers(stream: int, path: str, flags: int = END_HEADERS) -> bytes:
    """The beginning of a call."""
    said = {
        ":method": "POST",
        ":scheme": "http",
        ":path": path,
        ":authority": "test",
        "te": "trailers",
        "content-type": "application/grpc",
    }
    return frame(HEADERS, flags, stream, b"".join(_literal(k, v) for k, v in said.items()))


def _literal(name: str, value: str) -> bytes:
    """A header that is not indexed, in plain letters."""
    return b"\x00" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def message(stream: int, body: bytes, flags: int = END_STREAM) -> bytes:
    return frame(DATA, flags, stream, struct.pack(">BI", 0, len(body)) + body)


def reset(stream: int) -> bytes:
    return frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL))


@dataclass
class Stream:
    """What came back on a stream."""

    data: bytes = b""
    complete: bool = False
    """The server said that this is all."""

    @property
    def answer(self) -> bytes:
        """The first message."""
        return self.data[5:]


@dataclass
class Connection:
    """One connection, whose frames are read as they come."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    streams: dict[int, Stream] = field(default_factory=dict)
    _next: int = 1
    _pongs: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)

    @classmethod
    async def open(cls, address: str) -> Connection:
        host, port = address.rsplit(":", 1)
        connection = cls(*await asyncio.open_connection(host, int(port)))
        connection.writer.write(opening())
        return connection

    def call(self, path: str, body: bytes) -> int:
        """Make a whole call; returns its stream."""
        stream, self._next = self._next, self._next + 2
        self.streams[stream] = Stream()
        self.writer.write(headers(stream, path) + message(stream, body))
        return stream

    async def read(self) -> None:
        """Take in what comes, for as long as anything does."""
        try:
            while True:
                head = await self.reader.readexactly(9)
                body = await self.reader.readexactly(int.from_bytes(head[:3], "big"))
                self._take(head[3], head[4], int.from_bytes(head[5:9], "big"), body)
        except (asyncio.IncompleteReadError, ConnectionError):
            return

    def _take(self, kind: int, flags: int, stream: int, body: bytes) -> None:
        if kind == SETTINGS and not flags & ACK:
            self.writer.write(frame(SETTINGS, ACK))
        elif kind == PING and flags & ACK:
            self._pongs.put_nowait(body)
        elif kind == PING:
            self.writer.write(frame(PING, ACK, body=body))
        elif stream in self.streams:
            found = self.streams[stream]
            found.data += body if kind == DATA else b""
            found.complete |= kind in (DATA, HEADERS) and bool(flags & END_STREAM)

    async def round_trip(self) -> None:
        """Wait until the server has read all that was sent."""
        self.writer.write(frame(PING, body=b"01234567"))
        await asyncio.wait_for(self._pongs.get(), 30)
