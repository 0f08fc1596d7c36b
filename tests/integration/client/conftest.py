"""A server as a process, and clients of both kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from fluxnetes.client import Client
from tests.integration.client.awaited import awaited
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.process import Serve
from tests.integration.store.conftest import dsn, server  # noqa: F401 - by name

Connect = Callable[..., Client]
"""Makes a client, of either kind, that lives as long as the test."""

KINDS = {"sync": Client, "async": awaited}


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """A server for all tests of a module; each loads a graph of its own."""
    with Serve(tmp_path_factory.mktemp("serve")) as started:
        yield started


@pytest.fixture(params=KINDS)
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    with ExitStack() as stack:

        def connect(*arguments: Any, **options: Any) -> Client:
            return stack.enter_context(KINDS[request.param](*arguments, **options))

        yield connect


@pytest.fixture
def client(serve: Serve, connect: Connect) -> Client:
    """A client of a server that has two nodes of four cores each, all of them free."""
    client = connect(serve.address)
    client.load(a_cluster(nodes=2, cores=4))
    return client
