"""A real API server for the tests that ask for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from fluxnetes.kube.auth.access import ApiAccess, find_access
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.objects.namespaces import NAMESPACES
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.plane import ControlPlane
from fluxnetes.plane.versions import PINNED
from tests.integration.bare import a_bare_plane


@pytest.fixture(scope="package")
def plane(bare_plane: ControlPlane) -> ControlPlane:
    """A real API server, with nothing that changes things but the tests."""
    return bare_plane


@pytest.fixture(scope="package")
def newest_plane(
    newest_binaries: PlaneBinaries, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """The same of the newest version of Kubernetes that is pinned."""
    with a_bare_plane(tmp_path_factory.mktemp("newest"), newest_binaries, PINNED[-1]) as plane:
        yield plane


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
