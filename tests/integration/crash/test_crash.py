"""Five kills each of the controller, Postgres and the API server, under load. Nothing is lost."""

from __future__ import annotations

import shutil

from fluxnetes.plane.binaries import PlaneBinaries
from tests.integration.crash.site import Victim
from tests.integration.crash.storm import plan
from tests.integration.crash.verdict import run
from tests.integration.folders import reachable_folder

KILLS = 5
NODES = 8
SEED = 20261115
"""Always the same work and the same plan; what a kill hits differs from run to run all the same.
`bench/crash` draws a new one each time."""


def test_whichever_component_is_killed_nothing_is_lost_doubled_leaked_or_overcommitted(
    binaries: PlaneBinaries,
) -> None:
    folder = reachable_folder("fluxnetes-crash-")
    print(f"logs and record: {folder}")
    verdict = run(folder, plan(SEED, dict.fromkeys(Victim, KILLS), NODES), NODES, binaries)
    print(verdict.report())
    assert not verdict.complaints
    shutil.rmtree(folder)  # kept if the run failed, for its logs
