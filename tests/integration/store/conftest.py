"""A real Postgres for all tests here, without tables at first, and tests that await."""

from __future__ import annotations

import asyncio
import inspect
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import tests.integration.store.quick  # noqa: F401 - for its effect
from fluxnetes.store.embedded.server import EmbeddedServer
from tests.integration.store.servers import wipe


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine, in a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


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
