"""One real control plane for all tests here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.plane import ControlPlane


@pytest.fixture(scope="package")
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
