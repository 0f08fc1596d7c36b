"""Which tests run one after the other, and which side by side, when several processes run them.

Tests of one *lane* share something that is slow to start or that they change, so they run in one
process, in order. A package under tests/integration is a lane, or several where `SPLIT` says so. A
file of unit tests is a lane, and so is a single property.

The lanes stand in one line. At its front are those that mostly wait for a Kubernetes, at its end
those that mostly compute, and at both ends the longest come first. Half of the processes take lanes
from the front, half from the end. So more processes than cores keep the cores busy, and the last
lanes to start are the short ones in the middle.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from xdist.scheduler.loadscope import LoadScopeScheduling
from xdist.workermanage import WorkerController

INTEGRATION = PurePosixPath("tests/integration")
PROPERTIES = PurePosixPath("tests/property")

SPLIT = {
    f"tests/integration/controller/{file}.py": f"tests/integration/controller-{part}"
    for part, files in {
        "rights": ["test_rights"],  # has a control plane of its own
        "native": ["test_native_groups"],  # has one of each version of Kubernetes
        "terms": [  # of all files that need a bare API server, and of long ones
            *("test_several", "test_lost_database"),
            *("test_leader", "test_records", "test_reports", "test_conditions"),
        ],
    }.items()
    for file in files
}
"""The lane of a file that is not in the lane of its package."""

WAITING = (
    *("controller", "controller-terms", "crash", "up", "rpc_live"),
    *("controller-native", "controller-rights", "webhook", "kube", "plane", "bench"),
)
"""Lanes under tests/integration that mostly wait for a Kubernetes, the longest first."""

COMPUTING = ("tests/property/", "tests/integration/simulate")
"""How lanes begin that mostly compute, the shortest first."""


def lane_of(nodeid: str) -> str:
    """The lane of a test."""
    name, _, _ = nodeid.partition("::")
    file = PurePosixPath(name)
    if name in SPLIT:
        return SPLIT[name]
    if file.is_relative_to(INTEGRATION):
        return str(INTEGRATION / file.relative_to(INTEGRATION).parts[0])
    return nodeid if file.is_relative_to(PROPERTIES) else name


def place_in_line(nodeid: str) -> int:
    """Where the lane of a test stands: a lower number is nearer to the front."""
    lane = lane_of(nodeid)
    for place, name in enumerate(WAITING, start=-len(WAITING)):
        if lane == str(INTEGRATION / name):
            return place
    for place, beginning in enumerate(COMPUTING, start=1):
        if lane.startswith(beginning):
            return place
    return 0


class LaneScheduling(LoadScopeScheduling):  # type: ignore[misc]  # comes without types
    """Gives each process whole lanes, from its own end of the line."""

    def _split_scope(self, nodeid: str) -> str:
        return lane_of(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        if self.nodes.index(node) % 2:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
