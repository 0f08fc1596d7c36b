"""On whole nodes alone the queue does what the textbook says, job for job.

By counting that is exact for every policy, whether jobs use their walltimes up or not. By rows it
is exact as long as at most one job is promised a start; with more of them, the places that are kept
for some may be in the way of others, and what must hold is that everybody starts when promised.
"""

from __future__ import annotations

import pytest
from hypothesis import given

from fluxnetes.queue.config import Policy
from tests.oracle import textbook
from tests.property.profile import examples
from tests.property.queue.notary import Notary
from tests.property.queue.workloads import (
    NODES,
    Workload,
    bare_nodes,
    one_queue,
    script_of,
    textbook_jobs,
)
from tests.property.queue.world import World


def starts(
    jobs: Workload, policy: Policy, *, count: bool = True, reservations: int = 1
) -> list[int | None]:
    """When the queue starts each job; none later than promised."""
    world = World(bare_nodes, one_queue(policy, reservations), script_of(jobs), count=count)
    notary = Notary(world)
    for step in world.steps():
        notary.check(step)
        assert world.scheduler.plans_by_counting == count
    assert notary.moved_later == 0
    return [world.job(id).start for id in world.ids]


TEXTBOOK = pytest.mark.parametrize("policy", [Policy.FCFS, Policy.EASY, Policy.CONSERVATIVE])
ONE_PROMISE = pytest.mark.parametrize("policy", [Policy.FCFS, Policy.EASY])


@TEXTBOOK
@given(jobs=textbook_jobs(exact=True))
@examples(40)
def test_with_exact_walltimes_every_job_starts_when_the_textbook_says(
    policy: Policy, jobs: Workload
) -> None:
    assert starts(jobs, policy) == textbook.simulate(jobs, NODES, policy.value)


@TEXTBOOK
@given(jobs=textbook_jobs(exact=True, gap=0))
@examples(25)
def test_so_it_does_when_all_come_at_one_instant(policy: Policy, jobs: Workload) -> None:
    assert starts(jobs, policy) == textbook.simulate(jobs, NODES, policy.value)


@TEXTBOOK
@given(jobs=textbook_jobs(exact=False))
@examples(40)
def test_so_it_does_when_jobs_end_before_their_walltimes(policy: Policy, jobs: Workload) -> None:
    assert starts(jobs, policy) == textbook.simulate(jobs, NODES, policy.value)


@ONE_PROMISE
@given(jobs=textbook_jobs(exact=True))
@examples(25)
def test_by_rows_every_job_starts_when_the_textbook_says(policy: Policy, jobs: Workload) -> None:
    assert starts(jobs, policy, count=False) == textbook.simulate(jobs, NODES, policy.value)


@ONE_PROMISE
@given(jobs=textbook_jobs(exact=False))
@examples(25)
def test_by_rows_so_it_does_when_jobs_end_before_their_walltimes(
    policy: Policy, jobs: Workload
) -> None:
    assert starts(jobs, policy, count=False) == textbook.simulate(jobs, NODES, policy.value)


@given(jobs=textbook_jobs(exact=False))
@examples(40)
def test_by_rows_conservative_starts_everybody_by_the_promised_time(jobs: Workload) -> None:
    assert None not in starts(jobs, Policy.CONSERVATIVE, count=False)


# -- policies beside each other --------------------------------------------------------------------


@given(jobs=textbook_jobs(exact=True))
@examples(40)
def test_with_exact_walltimes_conservative_starts_no_job_later_than_fcfs(jobs: Workload) -> None:
    patient = textbook.simulate(jobs, NODES, "fcfs")
    found = starts(jobs, Policy.CONSERVATIVE)
    late = [
        (job, was, now)
        for job, was, now in zip(jobs, patient, found, strict=True)
        if now is None or now > was
    ]
    assert not late


@given(jobs=textbook_jobs(exact=False))
@examples(25)
def test_hybrid_with_one_promise_is_easy(jobs: Workload) -> None:
    assert starts(jobs, Policy.HYBRID, reservations=1) == starts(jobs, Policy.EASY)


@given(jobs=textbook_jobs(exact=False))
@examples(25)
def test_hybrid_with_a_promise_for_everybody_is_conservative(jobs: Workload) -> None:
    everybody = max(1, len(jobs))
    hybrid = starts(jobs, Policy.HYBRID, reservations=everybody)
    assert hybrid == starts(jobs, Policy.CONSERVATIVE)
