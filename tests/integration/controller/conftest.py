"""A real API server that knows FluxJobs, and no other controller."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from fluxnetes.controller.leadership.crd import install_crd
from fluxnetes.kube.auth.access import ApiAccess, find_access
from fluxnetes.kube.client import KubeClient
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.plane import ControlPlane
from tests.integration.controller.candidates import Play, Theatre, a_theatre
from tests.integration.controller.space import Space
from tests.integration.controller.stage import Stage, a_stage
from tests.integration.kube.conftest import namespace, plane

__all__ = ["namespace", "plane"]


@pytest.fixture(scope="package")
def taught(plane: ControlPlane) -> None:
    async def teach() -> None:
        async with KubeClient(find_access(plane.kubeconfig)) as client:
            await install_crd(client)

    asyncio.run(teach())


@pytest.fixture
def access(plane: ControlPlane, taught: None) -> ApiAccess:
    """As an admin."""
    return find_access(plane.kubeconfig)


# --- the whole stage ---------------------------------------------------------------------------


@pytest.fixture(scope="package")
def whole_stage(binaries: PlaneBinaries) -> Iterator[Stage]:
    with a_stage(binaries) as stage:
        yield stage


@pytest.fixture
def stage(whole_stage: Stage) -> Iterator[Stage]:
    """Eight nodes of 16 cpu, and our controller; afterwards as they were."""
    yield whole_stage
    whole_stage.tidy()


@pytest.fixture
def space(stage: Stage) -> Iterator[Space]:
    """A namespace that is this test's alone."""
    space = stage.open_space()
    yield space
    space.clean()


@pytest.fixture
def managed(stage: Stage) -> Iterator[Space]:
    """One whose Jobs and pods go through the queue, whatever scheduler they name."""
    stage.webhook.start()
    space = stage.open_space({"fluxnetes.io/managed": "true"})
    yield space
    space.clean()


# --- several controllers, or one with a database of its own ------------------------------------


@pytest.fixture(scope="module")
def theatre(whole_stage: Stage) -> Iterator[Theatre]:
    """The stage without its controller."""
    with a_theatre(whole_stage) as theatre:
        yield theatre


@pytest.fixture
def play(theatre: Theatre) -> Iterator[Play]:
    """A namespace and a database that are this test's alone."""
    with theatre.play() as play:
        yield play
