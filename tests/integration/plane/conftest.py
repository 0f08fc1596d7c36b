"""One real control plane for all tests here. Without the programs they are skipped, loudly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.binaries import PlaneBinaries, find_binaries, find_existing
from fluxnetes.plane.plane import ControlPlane

HOW_TO_GET_ONE = (
    "NO CONTROL PLANE: there are no Kubernetes programs here. With FLUXNETES_PLANE=1 they are "
    "built first (minutes, once, needs Go)"
)


HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the programs: by a mark, so that pytest tells it in one line a file."""
    ours = [item for item in items if item.path.is_relative_to(HERE)]
    needing = [item for item in ours if "binaries" in getattr(item, "fixturenames", ())]
    if needing and os.environ.get("FLUXNETES_PLANE") != "1" and find_existing() is None:
        for item in needing:
            item.add_marker(pytest.mark.skip(reason=HOW_TO_GET_ONE))


@pytest.fixture(scope="session")
def binaries() -> PlaneBinaries:
    return find_binaries()


@pytest.fixture(scope="session")
def plane(
    binaries: PlaneBinaries, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A plane of four nodes for tests that leave it as it was."""
    folder = tmp_path_factory.mktemp("plane")
    with ControlPlane(folder, nodes=4, fsync=False, binaries=binaries) as plane:
        yield plane


@pytest.fixture
def api(plane: ControlPlane) -> Iterator[PlaneApi]:
    with plane.api() as api:
        yield api


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a plane can be made that is this test's alone."""
    return tmp_path / "plane"
