"""One real control plane for all tests here. Without the programs they are skipped, loudly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluxnetes.plane.api import Api
from fluxnetes.plane.binaries import Binaries, find_binaries, find_existing
from fluxnetes.plane.plane import ControlPlane

HOW_TO_GET_ONE = (
    "NO CONTROL PLANE: there are no Kubernetes programs here. With FLUXNETES_PLANE=1 they are "
    "built first (minutes, once, needs Go)"
)


@pytest.fixture(scope="session")
def binaries() -> Binaries:
    if os.environ.get("FLUXNETES_PLANE") == "1":
        return find_binaries()
    found = find_existing()
    if found is None:
        pytest.skip(HOW_TO_GET_ONE)
    return found


@pytest.fixture(scope="session")
def plane(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A plane of four nodes for tests that leave it as it was."""
    folder = tmp_path_factory.mktemp("plane")
    with ControlPlane(folder, nodes=4, fsync=False, binaries=binaries) as plane:
        yield plane


@pytest.fixture
def api(plane: ControlPlane) -> Iterator[Api]:
    with plane.api() as api:
        yield api


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a plane can be made that is this test's alone."""
    return tmp_path / "plane"
