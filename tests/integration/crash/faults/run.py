"""One run: work comes, things go wrong, everything is let end, and the ends are compared."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fluxnetes.plane.binaries import PlaneBinaries
from tests.integration.crash.faults.cluster import FaultyCluster
from tests.integration.crash.faults.gather import RecordTail, findings, stored_events
from tests.integration.crash.faults.inject import inject
from tests.integration.crash.faults.plan import Plan
from tests.integration.crash.faults.replicas import complaints_in
from tests.integration.crash.faults.users import Users
from tests.integration.crash.truth.contradictions import Contradiction, Findings
from tests.integration.crash.truth.dependents import wrong_dependents
from tests.integration.crash.truth.ends import false_ends, unknown_jobs
from tests.integration.crash.truth.history import Surroundings, tell
from tests.integration.crash.truth.stuck import stuck_work
from tests.integration.crash.truth.suspended import overridden_suspensions
from tests.integration.crash.truth.writers import read_log

SETTLE = 330.0
"""Seconds that all work has to end after the last fault. Kubernetes takes a minute to delete pods
of a node that is gone, and seats are held for replacements for as long. Its Job controller that
missed a pod which it expects does nothing for that Job for five minutes."""
WRITE = 20.0
"""Seconds after that until every end is written."""
BREAK = 5.0
"""Seconds between two faults at least, however slow the machine is."""
_POLL = 2.0
_TICK = 0.1


@dataclass(frozen=True, slots=True)
class Report:
    """What was found."""

    plan: Plan
    contradictions: tuple[Contradiction, ...]
    histories: dict[str, str]
    complaints: tuple[str, ...]
    """What the controllers themselves did wrong: ended, or logged an error."""
    outcomes: Counter[str]
    seconds: float

    @property
    def is_well(self) -> bool:
        return not self.contradictions and not self.complaints

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {state}" for state, count in self.outcomes.most_common())
        lines = [
            f"seed {self.plan.seed}: {len(self.plan.load.pieces)} workloads, "
            f"{len(self.plan.faults)} faults, {self.seconds:.0f} s",
            f"by Kubernetes: {kinds}",
        ]
        lines += [f"WRONG: {each}" for each in self.complaints]
        for name, history in self.histories.items():
            lines += [f"WRONG: {each}" for each in self.contradictions if each.name == name]
            lines.append(history)
        count = len({each.name for each in self.contradictions})
        lines.append(f"{count} workloads contradict Kubernetes" if count else "no contradictions")
        return "\n".join(lines)


def run(folder: Path, plan: Plan, nodes: int, binaries: PlaneBinaries | None = None) -> Report:
    """One run, from an empty folder to a report."""
    with FaultyCluster(folder, nodes, binaries) as cluster:
        began = time.monotonic()
        _go_wrong(cluster, plan, began)
        tail = RecordTail(cluster.record)
        _settle(cluster, plan, tail)
        cluster.stop_controllers()
        tail.await_all(cluster.api)
        return _report(cluster, plan, tail, began)


def _go_wrong(cluster: FaultyCluster, plan: Plan, began: float) -> None:
    """Let everything happen that is planned."""
    users = Users(cluster, plan.load)
    users.start()
    for fault in plan.faults:
        due = max(began + fault.at, time.monotonic() + BREAK)
        while time.monotonic() < due:
            cluster.mind()
            time.sleep(_TICK)
        inject(cluster, fault)
    while users.is_alive():
        cluster.mind()
        users.join(_TICK)
    if users.failure is not None:
        raise users.failure
    cluster.note("all nodes are back, nothing more comes")


def _settle(cluster: FaultyCluster, plan: Plan, tail: RecordTail) -> None:
    """Wait until all work has ended that can, and then until all ends are written."""
    deadline = time.monotonic() + SETTLE
    while time.monotonic() < deadline:
        cluster.mind()
        found = _look(cluster, plan, tail)
        if not stuck_work(found):
            if not judge(found):
                return
            deadline = min(deadline, time.monotonic() + WRITE)
        time.sleep(_POLL)


def _look(cluster: FaultyCluster, plan: Plan, tail: RecordTail) -> Findings:
    return findings(plan.load.pieces, tail.read(), cluster.dsn, cluster.audit)


def judge(found: Findings) -> list[Contradiction]:
    """Everything that is not true."""
    checks = (false_ends, unknown_jobs, wrong_dependents, stuck_work, overridden_suspensions)
    return [each for check in checks for each in check(found)]


def _report(cluster: FaultyCluster, plan: Plan, tail: RecordTail, began: float) -> Report:
    found = _look(cluster, plan, tail)
    contradictions = judge(found)
    around = Surroundings(
        began,
        time.time() - time.monotonic(),
        tuple(tail.seen),
        tuple(cluster.faults),
        tuple(read_log(cluster.audit)),
        stored_events(cluster.dsn),
    )
    names = dict.fromkeys(each.name for each in contradictions if each.name in found.records)
    return Report(
        plan,
        tuple(contradictions),
        {name: tell(found.records[name], around) for name in names},
        _complaints(cluster),
        Counter(each.state for each in found.outcomes.values()),
        time.monotonic() - began,
    )


def _complaints(cluster: FaultyCluster) -> tuple[str, ...]:
    alone = [words for replica in cluster.replicas for words in replica.ended_alone]
    logged = complaints_in(cluster.folder.glob("controller-*.log"))
    return (*(f"a controller ended by itself: {words}" for words in alone), *logged)
