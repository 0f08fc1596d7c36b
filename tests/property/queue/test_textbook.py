"""On whole nodes alone the queue does what the textbook says, job for job.

By counting that is exact for every policy, whether jobs use their walltimes up or not. By rows it
is exact as long as at most one job is promised a start; with more of them, the places that are kept
for some may be in the way of others, and what must hold is that every job starts when promised.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.queue.config import BackfillPolicy
from fluxnetes.queue.states import JobState
from tests.oracle import textbook
from tests.property.profile import examples
from tests.property.queue.notary import Notary
from tests.property.queue.workloads import (
    LICENCES,
    NODES,
    Workload,
    bare_nodes,
    one_queue,
    pod_nodes,
    pods_of,
    script_of,
    textbook_jobs,
)
from tests.property.queue.world import World


def starts(
    jobs: Workload, policy: BackfillPolicy, *, count: bool = True, reservations: int = 1
) -> list[int | None]:
    """When the queue starts each job; none later than promised."""
    world = World(bare_nodes, one_queue(policy, reservations), script_of(jobs), count=count)
    notary = Notary(world)
    for step in world.steps():
        notary.check(step)
        assert world.scheduler.plans_by_counting == count
    assert notary.moved_later == 0
    return [world.job(id).start for id in world.ids]


TEXTBOOK = pytest.mark.parametrize(
    "policy", [BackfillPolicy.FCFS, BackfillPolicy.EASY, BackfillPolicy.CONSERVATIVE]
)
ONE_PROMISE = pytest.mark.parametrize("policy", [BackfillPolicy.FCFS, BackfillPolicy.EASY])


@TEXTBOOK
@given(jobs=textbook_jobs(exact=True))
@examples(30)
def test_with_exact_walltimes_every_job_starts_when_the_textbook_says(
    policy: BackfillPolicy, jobs: Workload
) -> None:
    assert starts(jobs, policy) == textbook.simulate(jobs, NODES, policy.value)


@TEXTBOOK
@given(jobs=textbook_jobs(exact=True, gap=0))
@examples(20)
def test_so_it_does_when_all_come_at_one_instant(policy: BackfillPolicy, jobs: Workload) -> None:
    assert starts(jobs, policy) == textbook.simulate(jobs, NODES, policy.value)


@TEXTBOOK
@given(jobs=textbook_jobs(exact=False))
@examples(30)
def test_so_it_does_when_jobs_end_before_their_walltimes(
    policy: BackfillPolicy, jobs: Workload
) -> None:
    assert starts(jobs, policy) == textbook.simulate(jobs, NODES, policy.value)


@ONE_PROMISE
@given(jobs=textbook_jobs(exact=True))
@examples(20)
def test_by_rows_every_job_starts_when_the_textbook_says(
    policy: BackfillPolicy, jobs: Workload
) -> None:
    assert starts(jobs, policy, count=False) == textbook.simulate(jobs, NODES, policy.value)


@ONE_PROMISE
@given(jobs=textbook_jobs(exact=False))
@examples(20)
def test_by_rows_so_it_does_when_jobs_end_before_their_walltimes(
    policy: BackfillPolicy, jobs: Workload
) -> None:
    assert starts(jobs, policy, count=False) == textbook.simulate(jobs, NODES, policy.value)


@given(jobs=textbook_jobs(exact=False))
@examples(30)
def test_by_rows_conservative_starts_all_jobs_by_the_promised_time(jobs: Workload) -> None:
    assert None not in starts(jobs, BackfillPolicy.CONSERVATIVE, count=False)


# -- pods that share nodes -------------------------------------------------------------------------


def start_pods(
    jobs: Workload, licences: list[int], policy: BackfillPolicy, *, count: bool
) -> list[int | None]:
    """When the queue starts groups of equal pods, two of which fit on a node."""
    script = pods_of(jobs, licences)
    world = World(pod_nodes, one_queue(policy), script, count=count)
    world.run()
    return [world.job(id).start for id in world.ids]


@TEXTBOOK
@given(jobs=textbook_jobs(exact=False))
@examples(20)
def test_equal_pods_that_share_nodes_start_when_the_textbook_says(
    policy: BackfillPolicy, jobs: Workload
) -> None:
    found = start_pods(jobs, [0] * len(jobs), policy, count=True)
    assert found == textbook.simulate(jobs, NODES, policy.value)


@ONE_PROMISE
@given(jobs=textbook_jobs(exact=False), drawn=st.data())
@examples(20)
def test_with_licences_counting_and_rows_come_to_the_same(
    policy: BackfillPolicy, jobs: Workload, drawn: st.DataObject
) -> None:
    some = st.integers(0, LICENCES)
    licences = drawn.draw(st.lists(some, min_size=len(jobs), max_size=len(jobs)))
    counted = start_pods(jobs, licences, policy, count=True)
    assert counted == start_pods(jobs, licences, policy, count=False)


# -- policies beside each other --------------------------------------------------------------------


@given(jobs=textbook_jobs(exact=True), count=st.booleans())
@examples(40)
def test_with_exact_walltimes_conservative_starts_no_job_later_than_fcfs(
    jobs: Workload, count: bool
) -> None:
    patient = textbook.simulate(jobs, NODES, "fcfs")
    found = starts(jobs, BackfillPolicy.CONSERVATIVE, count=count)
    pairs = zip(found, patient, strict=True)
    assert all(start is not None and start <= fcfs for start, fcfs in pairs)


@given(jobs=textbook_jobs(exact=False), count=st.booleans())
@examples(40)
def test_under_easy_the_promised_start_of_the_head_never_moves_later(
    jobs: Workload, count: bool
) -> None:
    world = World(bare_nodes, one_queue(BackfillPolicy.EASY), script_of(jobs), count=count)
    promised: dict[int, int] = {}
    for _ in world.steps():
        waiting = [j for j in world.scheduler.jobs.values() if j.state is JobState.PENDING]
        if waiting:
            head = min(waiting, key=lambda job: job.arrival)
            assert head.plan is not None
            assert head.plan.start <= promised.get(head.id, head.plan.start)
            promised[head.id] = head.plan.start
    for id, latest in promised.items():
        start = world.job(id).start
        assert start is not None and start <= latest


@given(jobs=textbook_jobs(exact=False))
@examples(20)
def test_hybrid_with_one_promise_is_easy(jobs: Workload) -> None:
    assert starts(jobs, BackfillPolicy.HYBRID, reservations=1) == starts(jobs, BackfillPolicy.EASY)


@given(jobs=textbook_jobs(exact=False))
@examples(20)
def test_hybrid_with_a_promise_for_every_job_is_conservative(jobs: Workload) -> None:
    for_all = max(1, len(jobs))
    hybrid = starts(jobs, BackfillPolicy.HYBRID, reservations=for_all)
    assert hybrid == starts(jobs, BackfillPolicy.CONSERVATIVE)
