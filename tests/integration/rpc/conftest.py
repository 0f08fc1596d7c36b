"""Servers that are processes, clients that come from messages, and tests that await."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.integration.rpc.dialects import OldClient
from tests.integration.rpc.ours import Ours
from tests.integration.rpc.process import Serve
from tests.integration.store.conftest import pytest_pyfunc_call  # noqa: F401 - found by its name

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
