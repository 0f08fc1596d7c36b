"""Which tests run one after the other, and which side by side, when several processes run them.

Tests of one *lane* share something that is slow to start or that they change, so they run in one
process, in order. A package under tests/integration is a lane, or several where `SPLIT` says so;
every other file is a lane of its own.

The lanes stand in one line. At its front are those that mostly wait for a Kubernetes, at its end
those that mostly compute, and at both ends the longest come first. Half of the processes take lanes
from the front, half from the end. So more processes than cores keep the cores busy, and the last
lanes to start are the short ones in the middle.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from xdist.scheduler.loadscope import LoadScopeScheduling
from xdist.workermanage import WorkerController

SPLIT: dict[str, str] = {}
"""The lane of a file, where it is not its package."""

WAITING = ("controller", "crash", "up", "rpc_live", "webhook", "kube", "plane", "bench")
"""Lanes that mostly wait for a Kubernetes, the longest first."""

COMPUTING = ("property", "simulate")
"""Lanes that mostly compute, the shortest first."""


def lane_of(nodeid: str) -> str:
    """The lane of a test."""
    file = nodeid.partition("::")[0]
    parts = PurePosixPath(file).parts
    if file in SPLIT:
        return SPLIT[file]
    return "/".join(parts[:3]) if parts[:2] == ("tests", "integration") else file


def place_in_line(nodeid: str) -> int:
    """Where the lane of a test stands: a lower number is nearer to the front."""
    parts = PurePosixPath(lane_of(nodeid)).parts
    for place, name in enumerate(WAITING, start=-len(WAITING)):
        if name in parts:
            return place
    for place, name in enumerate(COMPUTING, start=1):
        if name in parts:
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
