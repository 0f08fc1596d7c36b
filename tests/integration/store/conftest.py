"""A real Postgres for all tests here, without tables at first, and tests that await."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import tests.integration.store.quick  # noqa: F401 - for its effect
from fluxnetes.store.embedded.server import EmbeddedServer
from tests.integration.store.servers import wipe


def _make_folder() -> Path:
    """A folder that the server's account can reach, which pytest's own folders are not for root."""
    folder = Path(tempfile.mkdtemp(prefix="fluxnetes-test-"))
    folder.chmod(0o711)
    return folder


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where a server can be made that is this test's alone."""
    made = _make_folder()
    yield made / "data"
    shutil.rmtree(made)


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    """A server for tests that do it no harm."""
    made = _make_folder()
    server = EmbeddedServer(made / "data")
    server.start()
    yield server
    server.stop()
    shutil.rmtree(made)


@pytest.fixture
def dsn(server: EmbeddedServer) -> str:
    """A database without tables."""
    asyncio.run(wipe(server.dsn))
    return server.dsn
