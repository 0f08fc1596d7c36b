"""Some faults of several kinds under a mixed load: every end is told as Kubernetes tells it."""

from __future__ import annotations

import shutil

import pytest

from fluxnetes.plane.binaries import PlaneBinaries
from tests.integration.crash.faults.plan import FaultKind, draw_plan
from tests.integration.crash.faults.run import run
from tests.integration.folders import reachable_folder

WORKLOADS, FAULTS, NODES = 80, 5, 8
SEED = 668
"""Always the same load and the same faults; what a fault hits differs from run to run all the same.
`bench/crash --workloads 2000 --faults 60` draws a new one each time."""


@pytest.mark.timeout(900)  # what has not ended has `run.SETTLE` seconds to end
def test_whatever_goes_wrong_every_end_is_told_as_kubernetes_tells_it(
    binaries: PlaneBinaries,
) -> None:
    folder = reachable_folder("fluxnetes-crash-")
    print(f"logs and record: {folder}")
    report = run(folder, draw_plan(SEED, WORKLOADS, FAULTS, NODES), NODES, binaries)
    print(report)
    assert report.is_well
    shutil.rmtree(folder)  # kept if the run failed, for its logs


def test_the_faults_are_of_kinds_that_differ() -> None:
    kinds = {fault.kind for fault in draw_plan(SEED, WORKLOADS, FAULTS, NODES).faults}
    assert len(kinds) == FAULTS and FaultKind.NO_CONTROLLER in kinds
