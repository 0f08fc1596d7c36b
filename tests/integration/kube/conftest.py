"""A real API server for the tests that ask for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from fluxnetes.kube.auth.access import ApiAccess, find_access
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.objects.namespaces import NAMESPACES
from fluxnetes.plane.components import API_SERVER
from fluxnetes.plane.plane import ControlPlane

Restart = Callable[[], Awaitable[None]]


@pytest.fixture(scope="package")
def plane(bare_plane: ControlPlane) -> ControlPlane:
    """A real API server, with nothing that changes things but the tests."""
    return bare_plane


@pytest.fixture(scope="package")
def restart(plane: ControlPlane) -> Iterator[Restart]:
    """Kill the API server and start it again, while the test goes on."""
    # The programs die with the thread that started them, so it must outlive the test's loop.
    with ThreadPoolExecutor(1) as thread:

        def kill_and_start() -> None:
            plane.processes[API_SERVER].kill()
            plane.start_component(API_SERVER)

        async def restart() -> None:
            await asyncio.get_running_loop().run_in_executor(thread, kill_and_start)

        yield restart


@pytest.fixture
def access(plane: ControlPlane) -> ApiAccess:
    """As an admin."""
    return find_access(plane.kubeconfig)


@pytest.fixture
def namespace(access: ApiAccess) -> str:
    """A namespace that is this test's alone."""

    async def make() -> str:
        async with KubeClient(access) as client:
            made = await client.create(NAMESPACES, {"metadata": {"generateName": "test-"}})
            return made.metadata.name

    return asyncio.run(make())
