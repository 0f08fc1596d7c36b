"""`fluxnetes up` as users start it. Without the programs of Kubernetes its tests are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluxnetes.plane.binaries import PlaneBinaries
from tests.integration.folders import reachable_folder
from tests.integration.up.command import Up, run_up


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where something can be started that is this test's alone."""
    made = reachable_folder()
    yield made / "up"
    shutil.rmtree(made)


@pytest.fixture(scope="package")
def shared_folder() -> Iterator[Path]:
    made = reachable_folder()
    yield made / "up"
    shutil.rmtree(made)


@pytest.fixture(scope="package")
def demo(binaries: PlaneBinaries, shared_folder: Path) -> str:
    """All that the demo said, from a first start to its end."""
    return run_up("--folder", str(shared_folder), "--nodes", "8", "--demo", "--once")


@pytest.fixture(scope="package")
def up(demo: str, shared_folder: Path) -> Iterator[Up]:
    """A second start of the demo's folder, with fewer nodes; it runs as long as the tests do."""
    with Up("--folder", str(shared_folder), "--nodes", "4") as up:
        up.read_until("Ctrl-C")
        yield up
        assert up.interrupt() == 0
