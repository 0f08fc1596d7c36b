"""Connections that are too many, say nothing, or stop in the middle of a word."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from fluxnetes.v1 import jobs_pb2
from tests.integration.rpc import http2
from tests.integration.rpc.dialects import OldClient
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.jobspecs import slots
from tests.integration.rpc.ours import Ours
from tests.integration.rpc.process import Serve
from tests.integration.rpc.waiting import until

IDLE = 2000
MATCH = "/fluxion.FluxionService/Match"
WATCH = "/fluxnetes.v1.ResourceService/WatchResources"


@pytest.fixture
def ours(jobspec_server: Serve, look: Callable[[Serve], Ours]) -> Ours:
    ours = look(jobspec_server)
    ours.load(a_cluster(4, 4))
    return ours


def connect(server: Serve) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=30)


def slam(connection: socket.socket) -> None:
    """Reset it, so that the other side notices at once and receives nothing else."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def test_two_thousand_silent_connections_block_no_other_client(
    jobspec_server: Serve, ours: Ours
) -> None:
    with ExitStack() as stack:
        for number in range(IDLE):
            idle = stack.enter_context(connect(jobspec_server))
            if number % 2:  # says at least what it speaks
                idle.sendall(http2.opening())
        assert ours.match(slots(1, 1)).id == 1
        with Ours(jobspec_server.address) as late:
            assert late.match(slots(1, 1)).id == 2
    ours.empty()


def test_a_server_that_runs_out_of_files_takes_calls_again_when_it_has_some(
    tmp_path: Path,
) -> None:
    with Serve(tmp_path, files=128) as server, Ours(server.address) as early:
        early.load(a_cluster(1, 4))
        with ExitStack() as stack:
            for _ in range(300):
                stack.enter_context(connect(server))
            assert early.match(slots(1, 1)).id == 1
        with Ours(server.address) as late:
            assert late.match(slots(1, 1)).id == 2
        assert server.is_running


@pytest.fixture
def words(jobspec_server: Serve) -> Iterator[tuple[bytes, list[int]]]:
    """A whole call of Match, and the places in it where frames end."""
    client = OldClient("jobspec", jobspec_server.address)
    body = client.message("Match", jobspec=slots(1, 1)).SerializeToString()
    client.close()
    parts = [http2.opening(), http2.headers(1, MATCH), http2.message(1, body)]
    ends = [sum(len(part) for part in parts[: n + 1]) for n in range(3)]
    yield b"".join(parts), ends


@pytest.mark.parametrize("how", ["close", "slam", "half close", "stay"])
def test_a_call_that_stops_in_the_middle_is_no_call(
    jobspec_server: Serve, ours: Ours, words: tuple[bytes, list[int]], how: str
) -> None:
    whole, ends = words
    with ExitStack() as stack:
        for place in sorted({*range(0, ends[-1], 7), *ends[:-1], ends[-1] - 1}):
            connection = stack.enter_context(connect(jobspec_server))
            connection.sendall(whole[:place])
            if how == "half close":
                connection.shutdown(socket.SHUT_WR)
            elif how == "slam":
                slam(connection)
            elif how == "close":
                connection.close()
        # All of them came before this one, which is answered.
        assert ours.match(slots(1, 1)).id == 1
        assert set(ours.holders()) == {1}
    ours.empty()


def test_streams_that_are_left_open_block_no_other_client(
    jobspec_server: Serve, ours: Ours
) -> None:
    with connect(jobspec_server) as connection:
        begun = (http2.headers(stream, MATCH) for stream in range(1, 1001, 2))
        connection.sendall(http2.opening() + b"".join(begun))
        assert ours.match(slots(1, 1)).id == 1
    ours.empty()


def test_a_watcher_that_does_not_read_delays_no_other_client(
    jobspec_server: Serve, ours: Ours
) -> None:
    """Its window is closed, so that nothing can be sent to it."""
    closed = http2.frame(http2.SETTINGS, body=struct.pack(">HI", 4, 0))
    watch = http2.headers(1, WATCH) + http2.message(1, b"")
    with ExitStack() as stack:
        for _ in range(50):
            connection = stack.enter_context(connect(jobspec_server))
            connection.sendall(http2.PREFACE + closed + watch)
        for _ in range(100):
            job = ours.match(slots(1, 4)).id
            ours(jobs_pb2.CancelRequest(job=job))
    until(ours.is_idle)


@pytest.mark.parametrize(
    "frame",
    [
        http2.frame(http2.SETTINGS, body=b"12345"),
        http2.frame(http2.HEADERS, http2.END_HEADERS, 1, b"\xff" * 100),
        http2.frame(http2.DATA, 0, 99, b"what"),
        http2.frame(http2.WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff"),
        http2.frame(http2.GOAWAY, 0, 0, b"\x00" * 8),
        http2.frame(250, 255, 7, b"x" * 1000),
        b"\xff" * 10_000,
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_a_connection_that_speaks_nonsense_harms_only_itself(
    jobspec_server: Serve, ours: Ours, frame: bytes
) -> None:
    for before in (b"", http2.opening()):
        connection = connect(jobspec_server)
        connection.sendall(before + frame)
        connection.close()
    assert ours.match(slots(1, 1)).id == 1
