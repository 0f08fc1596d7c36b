"""A link passes bytes on, can be cut and restored without a loss, and can be reset."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.integration.crash.faults.link import Link

SHORT = 0.2


@pytest.fixture
def echo() -> Iterator[int]:
    """A server that sends back what it gets; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(one: socket.socket) -> None:
        with one, suppress(ConnectionResetError):
            while data := one.recv(4096):
                one.sendall(data)

    def accept() -> None:
        while True:
            try:
                one, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=[one], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


@pytest.fixture
def link(echo: int) -> Iterator[Link]:
    with Link(echo) as link:
        yield link


def connect(link: Link) -> socket.socket:
    return socket.create_connection(("127.0.0.1", link.port), timeout=5)


def test_a_link_passes_bytes_on(link: Link) -> None:
    with connect(link) as one:
        one.sendall(b"hello")
        assert one.recv(5) == b"hello"


def test_what_is_sent_while_a_link_is_cut_arrives_once_it_is_restored(link: Link) -> None:
    with connect(link) as one:
        one.sendall(b"1")
        assert one.recv(1) == b"1"
        link.cut()
        one.sendall(b"2")
        one.settimeout(SHORT)
        with pytest.raises(TimeoutError):
            one.recv(1)
        one.settimeout(5)
        link.restore()
        assert one.recv(1) == b"2"


def test_a_connection_that_is_made_while_a_link_is_cut_works_once_it_is_restored(
    link: Link,
) -> None:
    link.cut()
    with connect(link) as one:
        one.sendall(b"3")
        link.restore()
        assert one.recv(1) == b"3"


def test_a_reset_breaks_connections_off_and_new_ones_work(link: Link) -> None:
    with connect(link) as one:
        one.sendall(b"4")
        assert one.recv(1) == b"4"
        link.reset()
        with pytest.raises(ConnectionResetError):
            one.recv(1)
    test_a_link_passes_bytes_on(link)


def test_a_server_that_is_away_is_seen_as_such(link: Link) -> None:
    closed = socket.create_server(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    closed.close()
    with Link(port) as other, connect(other) as one:
        assert one.recv(1) == b""
