"""A workload that is the same every time: what users do when, and how long each job runs.

600 jobs on 16 nodes: arrays, dependencies, preemption, jobs that are cancelled, held or altered, or
overrun. All of it is planned by counting. By rows the paths of promises are not written down, and
a queue that was killed may decide otherwise (it keeps its promises; see docs/critique.md), so the
tables could not be compared. No nodes are lost here: the queue would then plan by rows for a while.
"""

from __future__ import annotations

import random

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.build import jobspec, node, slot
from fluxnetes.queue.config import BackfillPolicy, PriorityWeights, QueueConfig, SchedulerConfig
from fluxnetes.queue.events import (
    Alter,
    Cancel,
    Event,
    Hold,
    Release,
    Submit,
)
from fluxnetes.queue.jobs import Dependency, DependencyKind, JobArray, OnLoss, Submission

JOBS = 600
NODES = 16

CONFIG = SchedulerConfig(
    queues=(
        QueueConfig("default", policy=BackfillPolicy.HYBRID, reservations=4, grace=5),
        QueueConfig("urgent", policy=BackfillPolicy.EASY, priority=10, grace=5, preempts=True),
    ),
    weights=PriorityWeights(fair_share=10.0, age=1.0),
)


def cluster() -> ResourceGraph:
    return pool_graph({f"n{i}": {"cpu": 4000} for i in range(NODES)})


def script() -> list[tuple[int, Event]]:
    """What users and operators do, in order of time."""
    rng = random.Random(20261115)
    events: list[tuple[int, Event]] = []
    now, id = 0, 1
    for _ in range(JOBS):
        now += rng.choice([0, 0, 1, 3, 7, 20])
        submission = _submission(id, rng)
        events.append((now, Submit(submission)))
        events += _meddling(id, now, rng)
        id += 1 + (submission.array.tasks if submission.array else 0)
    return sorted(events, key=lambda pair: pair[0])


def _submission(id: int, rng: random.Random) -> Submission:
    urgent = rng.random() < 0.1
    array = JobArray(rng.randint(2, 5), rng.choice([None, 1, 2])) if rng.random() < 0.05 else None
    after = rng.random() < 0.1 and id > 10
    kind = rng.choice([DependencyKind.ENDED, DependencyKind.STARTED])
    return Submission(
        id,
        jobspec(slot(rng.choice([1, 1, 2, 3, 5, 8, 16]), node(1))),
        walltime=rng.randint(5, 90),
        queue="urgent" if urgent else "default",
        job_class=1 if urgent else 0,
        user=rng.choice(["ada", "bob", "eve"]),
        namespace=rng.choice(["physics", "biology"]),
        dependencies=(Dependency(kind, 1),) if after else (),
        array=array,
        preemptible=not urgent and rng.random() < 0.3,
        on_loss=OnLoss.REQUEUE if rng.random() < 0.5 else OnLoss.FAIL,
    )


def _meddling(id: int, now: int, rng: random.Random) -> list[tuple[int, Event]]:
    """What else is done to a job; some of it comes too late, and is refused."""
    chance = rng.random()
    if chance < 0.05:
        return [(now + rng.randint(0, 60), Cancel(id))]
    if chance < 0.10:
        return [(now, Hold(id)), (now + rng.randint(1, 80), Release(id))]
    if chance < 0.15:
        return [(now + rng.randint(0, 40), Alter(id, walltime=rng.randint(20, 60)))]
    return []


def run_time(id: int, start: int, walltime: int) -> int:
    """How long a job really runs: mostly less than it said, sometimes more."""
    rng = random.Random(id * 1_000_003 + start)
    return rng.randint(1, walltime) if rng.random() < 0.9 else walltime + rng.randint(1, 9)
