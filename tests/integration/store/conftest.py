"""A real Postgres for all tests here, without tables at first."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluxnetes.store.embedded.server import EmbeddedServer
from tests.integration.folders import reachable_folder
from tests.integration.store.servers import wipe


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where a server can be made that is this test's alone."""
    made = reachable_folder()
    yield made / "data"
    shutil.rmtree(made)


@pytest.fixture(scope="package")
def server(database: EmbeddedServer) -> EmbeddedServer:
    """A server for tests that do it no harm."""
    return database


@pytest.fixture
def dsn(server: EmbeddedServer) -> str:
    """A database without tables."""
    asyncio.run(wipe(server.dsn))
    return server.dsn
