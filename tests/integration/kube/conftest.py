"""A real API server for the tests that ask for it, and tests that await."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from fluxnetes.kube.auth.access import ApiAccess, find_access
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.objects.namespaces import NAMESPACES
from fluxnetes.plane.binaries import PlaneBinaries, find_binaries, find_existing
from fluxnetes.plane.components import API_SERVER, ETCD
from fluxnetes.plane.plane import ControlPlane

API_SERVER_ARGUMENTS = (
    # Without controllers nobody makes the accounts that pods run as.
    "--disable-admission-plugins=ServiceAccount",
    # Kubernetes' own PodGroups are off by default.
    "--feature-gates=GenericWorkload=true",
    "--runtime-config=scheduling.k8s.io/v1alpha2=true",
)

Restart = Callable[[], Awaitable[None]]

HOW_TO_GET_ONE = (
    "NO CONTROL PLANE: there are no Kubernetes programs here. With FLUXNETES_PLANE=1 they are "
    "built first (minutes, once, needs Go)"
)


@pytest.fixture(scope="session")
def binaries() -> PlaneBinaries:
    if os.environ.get("FLUXNETES_PLANE") == "1":
        return find_binaries()
    found = find_existing()
    if found is None:
        pytest.skip(HOW_TO_GET_ONE)
    return found


@pytest.fixture(scope="session")
def plane(
    binaries: PlaneBinaries, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A real API server, with two nodes that nobody plays and nobody to change things but us."""
    with ControlPlane(
        tmp_path_factory.mktemp("plane"),
        nodes=2,
        components=(ETCD, API_SERVER),
        fsync=False,
        extra={API_SERVER: API_SERVER_ARGUMENTS},
        binaries=binaries,
    ) as plane:
        yield plane


@pytest.fixture(scope="session")
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
