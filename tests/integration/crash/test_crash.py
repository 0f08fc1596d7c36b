"""Five kills each of the controller, Postgres and the API server, under load. Nothing is lost."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluxnetes.plane.binaries import Binaries
from tests.integration.crash.command import reachable_folder
from tests.integration.crash.site import Victim
from tests.integration.crash.storm import plan
from tests.integration.crash.verdict import run

KILLS = 5
NODES = 8


@pytest.fixture
def folder() -> Iterator[Path]:
    made = reachable_folder()
    yield made
    shutil.rmtree(made)


def test_whoever_is_killed_nothing_is_lost_doubled_leaked_or_overcommitted(
    binaries: Binaries, folder: Path
) -> None:
    seed = random.randrange(1_000_000)
    verdict = run(folder, plan(seed, dict.fromkeys(Victim, KILLS), NODES), NODES, binaries)
    print(verdict.told())
    assert not verdict.complaints
