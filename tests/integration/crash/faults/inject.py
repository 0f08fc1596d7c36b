"""Carries faults out. Each returns once what it took away is back."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.integration.crash.faults.cluster import FaultyCluster
from tests.integration.crash.faults.plan import Fault, FaultKind


def inject(cluster: FaultyCluster, fault: Fault) -> None:
    """One fault, with a note of when it began and ended."""
    lasting = f" ({fault.seconds:g} s)" if fault.seconds else ""
    cluster.note(f"{fault.kind.value}{lasting}")
    _INJECTORS[fault.kind](cluster, fault.seconds)
    cluster.note(f"over: {fault.kind.value}")


def _kill_leader(cluster: FaultyCluster, seconds: float) -> None:
    leader = cluster.leader()
    leader.kill()
    time.sleep(seconds)
    leader.start()


def _no_controller(cluster: FaultyCluster, seconds: float) -> None:
    for replica in cluster.replicas:
        replica.kill()
    time.sleep(seconds)
    for replica in cluster.replicas:
        replica.start()


def _kill_postgres(cluster: FaultyCluster, seconds: float) -> None:
    cluster.kill_postgres()


def _kill_server(cluster: FaultyCluster, seconds: float) -> None:
    cluster.kill_api_server()
    time.sleep(seconds)
    cluster.start_api_server()


def _pause(cluster: FaultyCluster, seconds: float) -> None:
    leader = cluster.leader()
    leader.pause()
    time.sleep(seconds)
    leader.resume()


def _cut(cluster: FaultyCluster, seconds: float) -> None:
    link = cluster.leader().link
    link.cut()
    time.sleep(seconds)
    link.restore()


def _reset(cluster: FaultyCluster, seconds: float) -> None:
    cluster.leader().link.reset()


def _watch_gap(cluster: FaultyCluster, seconds: float) -> None:
    """The new server knows no version from before, so the leader has to list everything anew."""
    link = cluster.leader().link
    link.cut()
    _kill_server(cluster, seconds)
    link.restore()


_INJECTORS: dict[FaultKind, Callable[[FaultyCluster, float], None]] = {
    FaultKind.KILL_LEADER: _kill_leader,
    FaultKind.LEADER_STAYS_AWAY: _kill_leader,
    FaultKind.NO_CONTROLLER: _no_controller,
    FaultKind.KILL_POSTGRES: _kill_postgres,
    FaultKind.KILL_SERVER: _kill_server,
    FaultKind.SERVER_AWAY: _kill_server,
    FaultKind.SHORT_PAUSE: _pause,
    FaultKind.LONG_PAUSE: _pause,
    FaultKind.SHORT_CUT: _cut,
    FaultKind.LONG_CUT: _cut,
    FaultKind.RESET: _reset,
    FaultKind.WATCH_GAP: _watch_gap,
}
