"""Servers that are processes, clients that come from messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from fluxnetes.store.embedded.server import EmbeddedServer
from tests.integration.rpc.dialects import OldClient
from tests.integration.rpc.ours import Ours
from tests.integration.rpc.process import Serve
from tests.integration.store.servers import wipe

Speak = Callable[[str, Serve], OldClient]


@pytest.fixture(scope="module")
def jobspec_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """A server as it is without options: jobspec, fluxcli and external."""
    with Serve(tmp_path_factory.mktemp("serve")) as server:
        yield server


@pytest.fixture(scope="module")
def podspec_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    options = ("--dialect", "podspec", "--dialect", "external")
    with Serve(tmp_path_factory.mktemp("serve"), *options) as server:
        yield server


@pytest.fixture
def speak() -> Iterator[Speak]:
    """Old clients, until the test is over."""
    with ExitStack() as stack:

        def made(dialect: str, server: Serve) -> OldClient:
            client = OldClient(dialect, server.address)
            stack.callback(client.close)
            return client

        yield made


@pytest.fixture
def look() -> Iterator[Callable[[Serve], Ours]]:
    """Our own API, beside them."""
    with ExitStack() as stack:
        yield lambda server: stack.enter_context(Ours(server.address))


def crash(server: Serve) -> None:
    """Kill -9, and start again."""
    server.kill()
    server.start()


@pytest.fixture
def kept(postgres: Path, tmp_path: Path) -> Iterator[Serve]:
    """A server with a new store."""
    with Serve(tmp_path, "--store", "--store-folder", postgres) as server:
        yield server


@pytest.fixture
def dsn(database: EmbeddedServer) -> str:
    """With nothing of ours in it."""
    asyncio.run(wipe(database.dsn))
    return database.dsn


@pytest.fixture
def postgres(database: EmbeddedServer, dsn: str) -> Path:
    """The folder of the same, for --store-folder."""
    return database.paths.top
