"""Servers that several packages of tests share: a process starts each of them once, when needed.

They are of package scope, like those of the packages below: a control plane that stays up until the
end of the session takes processor time from all other tests.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import tests.integration.store.quick  # noqa: F401 - for its effect
from fluxnetes.plane.binaries import PlaneBinaries, find_binaries, find_existing
from fluxnetes.plane.components import API_SERVER
from fluxnetes.plane.plane import ControlPlane
from fluxnetes.plane.versions import PINNED
from fluxnetes.store.embedded.server import EmbeddedServer
from tests.integration.bare import a_bare_plane
from tests.integration.folders import reachable_folder

HERE = Path(__file__).parent
NO_PROGRAMS = (
    "NO CONTROL PLANE: there are no Kubernetes programs here. With FLUXNETES_PLANE=1 they are "
    "built first (minutes, once, needs Go)"
)
NEEDED = {"binaries": None, "newest_binaries": PINNED[-1]}
"""The version of Kubernetes, if it matters, of which a fixture needs the programs."""

Restart = Callable[[], Awaitable[None]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the programs by a mark, so that pytest reports it in one line a file."""
    ours = [item for item in items if item.path.is_relative_to(HERE)]
    for fixture, version in NEEDED.items():
        needing = [item for item in ours if fixture in getattr(item, "fixturenames", ())]
        if needing and os.environ.get("FLUXNETES_PLANE") != "1" and find_existing(version) is None:
            for item in needing:
                item.add_marker(pytest.mark.skip(reason=NO_PROGRAMS))


@pytest.fixture(scope="session")
def binaries() -> PlaneBinaries:
    """The programs of a control plane, built if need be."""
    return find_binaries()


@pytest.fixture(scope="session")
def newest_binaries() -> PlaneBinaries:
    """The same of the newest version of Kubernetes that is pinned."""
    return find_binaries(kubernetes=NEEDED["newest_binaries"])


@pytest.fixture(scope="package")
def bare_plane(
    binaries: PlaneBinaries, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A real API server with two nodes; no controller, scheduler or kubelet changes things."""
    with a_bare_plane(tmp_path_factory.mktemp("plane"), binaries) as plane:
        yield plane


@pytest.fixture(scope="package")
def restart(bare_plane: ControlPlane) -> Iterator[Restart]:
    """Kill the bare API server and start it again, while the test goes on."""
    # The programs die with the thread that started them, so it lives as long as the control plane.
    with ThreadPoolExecutor(1) as thread:

        def kill_and_start() -> None:
            bare_plane.processes[API_SERVER].kill()
            bare_plane.start_component(API_SERVER)

        async def restart() -> None:
            await asyncio.get_running_loop().run_in_executor(thread, kill_and_start)

        yield restart


@pytest.fixture(scope="package")
def database() -> Iterator[EmbeddedServer]:
    """A Postgres for all tests that do it no harm."""
    folder = reachable_folder()
    server = EmbeddedServer(folder / "data")
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder)
