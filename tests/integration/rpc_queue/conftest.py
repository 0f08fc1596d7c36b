"""Servers with a queue, and clients of them. All tests of one server leave it empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fluxnetes.client import Client
from tests.integration.rpc.conftest import dsn, look, postgres, speak
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.process import Serve
from tests.integration.rpc_queue.jobs import CORES, NODES, empty

__all__ = ["dsn", "look", "postgres", "speak"]

QUEUES = {
    "queues": [
        {"name": "default", "grace": 1},
        {"name": "short", "grace": 1, "default_walltime": 300, "max_walltime": 600},
    ],
    "match_policy": "hinode",
}


def write_setup(folder: Path) -> tuple[str, ...]:
    """The options of a server with these queues, on nodes that are all alike."""
    (folder / "graph.json").write_text(a_cluster(NODES, CORES))
    (folder / "queues.yaml").write_text(yaml.safe_dump(QUEUES))
    return (
        *("--queue", "--graph", str(folder / "graph.json")),
        *("--config", str(folder / "queues.yaml")),
    )


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """One that forgets, and speaks jobspec, fluxcli and external."""
    folder = tmp_path_factory.mktemp("serve")
    with Serve(folder, *write_setup(folder)) as server:
        yield server
        assert server.stop() == 0, server.log.read_text()
        assert "Traceback" not in server.log.read_text(), server.log.read_text()


@pytest.fixture
def client(server: Serve) -> Iterator[Client]:
    with Client(server.address) as client:
        yield client
        empty(client)


@pytest.fixture
def kept(postgres: Path, tmp_path: Path) -> Iterator[Serve]:
    """A server with a new store."""
    options = ("--store", "--store-folder", postgres)
    with Serve(tmp_path, *write_setup(tmp_path), *options) as server:
        yield server
        assert "Traceback" not in server.log.read_text(), server.log.read_text()
