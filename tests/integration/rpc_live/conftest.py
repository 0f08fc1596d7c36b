"""One control plane for all tests here, and a controller that callers can ask."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from fluxnetes.client import Client
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.components import API_SERVER
from fluxnetes.plane.plane import ControlPlane
from tests.integration.bare import server_arguments
from tests.integration.controller.space import Space
from tests.integration.controller.stage import Stage
from tests.integration.folders import reachable_folder
from tests.integration.rpc_live.leading import ADA, Leading
from tests.integration.rpc_live.looking import call_all_off


@pytest.fixture(scope="package")
def whole_stage(binaries: PlaneBinaries) -> Iterator[Stage]:
    """Three nodes of 16 cpu; the controller of the stage itself does not play."""
    folder = reachable_folder("fluxnetes-stage-")
    plane = ControlPlane(
        folder / "plane",
        nodes=3,
        fsync=False,
        extra={API_SERVER: server_arguments()},
        binaries=binaries,
    )
    try:
        with plane:
            stage = Stage(plane, folder)
            yield stage
            stage.stop()
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="package")
def leader(whole_stage: Stage) -> Iterator[Leading]:
    """The controller that leads, and answers callers."""
    with Leading(whole_stage, "first") as leader:
        leader.until_it_leads()
        yield leader
        log = leader.log.read_text()
        assert "Traceback" not in log, log


@pytest.fixture
def stage(whole_stage: Stage) -> Iterator[Stage]:
    yield whole_stage
    whole_stage.tidy()


@pytest.fixture
def space(stage: Stage, leader: Leading) -> Iterator[Space]:
    """A namespace that is this test's alone."""
    made = stage.open_space()
    space = Space(stage.api, made.namespace, leader.log)
    yield space
    space.clean()


@pytest.fixture
def client(leader: Leading) -> Iterator[Client]:
    with Client(leader.address, token=ADA) as client:
        yield client
        call_all_off(client)
