"""The conservative policy keeps promises as documented: start for start, promise for promise.

The oracle is `tests/oracle/promises.py`, which is written from docs/queue.md alone. Walltimes are
mostly estimated too long, sometimes too short; jobs of a higher class come later; jobs are
cancelled while they wait or run, and may be slow to leave.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.queue.config import BackfillPolicy
from fluxnetes.queue.events import Cancel, Submit
from fluxnetes.queue.jobs import Submission
from tests.oracle.promises import PromisedJob, simulate
from tests.property.profile import examples
from tests.property.queue.story import Act, Fate, Script
from tests.property.queue.workloads import NODES, bare_nodes, many, one_queue, sizes, whole_nodes
from tests.property.queue.world import World

GRACE = 2


def queue_of(jobs: list[PromisedJob], nodes: int) -> World:
    numbered = list(enumerate(jobs, 1))
    acts = [
        Act(
            job.submit,
            Submit(
                Submission(
                    id, whole_nodes(job.size), walltime=job.walltime, job_class=job.job_class
                )
            ),
        )
        for id, job in numbered
    ]
    acts += [Act(job.cancel, Cancel(id)) for id, job in numbered if job.cancel is not None]
    fates = {id: Fate(job.runtime, leaves=job.leaves) for id, job in numbered}
    config = one_queue(BackfillPolicy.CONSERVATIVE, grace=GRACE)
    return World(lambda: bare_nodes(nodes), config, Script(tuple(acts), fates))


def compare(jobs: list[PromisedJob], nodes: int = NODES) -> None:
    expected = simulate(jobs, nodes, GRACE)
    promised: list[list[int]] = [[] for _ in jobs]
    world = queue_of(jobs, nodes)
    for step in world.steps():
        for changes in step.changes:
            for event in changes.events:
                if event.kind == "planned" and event.start is not None:
                    promised[event.job - 1].append(event.start)
    assert [world.job(id).start for id in range(1, len(jobs) + 1)] == expected.starts
    assert promised == expected.promises


@st.composite
def promised_jobs(draw: st.DrawFn, *, classes: int, tricky: bool) -> list[PromisedJob]:
    rows = draw(many(st.tuples(st.integers(0, 3), st.integers(1, 12), sizes()), 24))
    now, jobs = 0, []
    for pause, walltime, size in rows:
        now += pause
        most = walltime + 4 if tricky else walltime
        cancel = draw(st.none() | st.none() | st.integers(0, 15)) if tricky else None
        jobs.append(
            PromisedJob(
                now,
                draw(st.integers(0, most)),
                walltime,
                size,
                draw(st.integers(0, classes - 1)),
                draw(st.integers(0, 5)) if tricky else 0,
                None if cancel is None else now + cancel,
            )
        )
    return jobs


@given(promised_jobs(classes=1, tricky=False))
@examples(40)
def test_with_overestimated_walltimes(jobs: list[PromisedJob]) -> None:
    compare(jobs)


@given(promised_jobs(classes=3, tricky=False))
@examples(60)
def test_with_jobs_that_are_ordered_before_others_that_wait(jobs: list[PromisedJob]) -> None:
    compare(jobs)


@given(promised_jobs(classes=3, tricky=True))
@examples(80)
def test_with_overruns_cancellations_and_slow_ends(jobs: list[PromisedJob]) -> None:
    compare(jobs)


@pytest.mark.parametrize("seed", range(2))
def test_a_long_stream_of_jobs_that_overestimate(seed: int) -> None:
    """Three hundred jobs on 32 nodes, with walltimes up to twenty times the run times."""
    rng = random.Random(seed)
    now, jobs = 0, []
    for _ in range(300):
        now += rng.choice([0, 1, 2, 5, 20])
        runtime = rng.randint(1, 60)
        walltime = round(runtime * rng.choice([1, 1.5, 3, 20]))
        size = rng.choice([1, 1, 2, 4, 8, 16, 32])
        jobs.append(PromisedJob(now, runtime, walltime, size, rng.choice([0, 0, 0, 1])))
    compare(jobs, nodes=32)
