"""On whole nodes alone the queue does what the textbook says, job for job."""

from __future__ import annotations

import pytest
from hypothesis import given

from fluxnetes.queue.config import Policy
from tests.oracle import textbook
from tests.property.profile import examples
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
) -> list[int]:
    """When the queue starts each job."""
    world = World(bare_nodes, one_queue(policy, reservations), script_of(jobs), count=count)
    world.run()
    assert world.scheduler.plans_by_counting == count or not jobs
    found = [world.job(id).start for id in world.ids]
    return [start for start in found if start is not None]


BOTH_WAYS = pytest.mark.parametrize("count", [True, False], ids=["by counting", "by rows"])


@pytest.mark.parametrize("policy", [Policy.FCFS, Policy.EASY, Policy.CONSERVATIVE])
@given(jobs=textbook_jobs(exact=True))
@examples(60)
def test_with_exact_walltimes_every_job_starts_when_the_textbook_says(
    policy: Policy, jobs: Workload
) -> None:
    assert starts(jobs, policy) == textbook.simulate(jobs, NODES, policy.value)


@pytest.mark.parametrize("policy", [Policy.FCFS, Policy.EASY, Policy.CONSERVATIVE])
@given(jobs=textbook_jobs(exact=True, gap=0))
@examples(40)
def test_so_it_does_when_all_come_at_one_instant(policy: Policy, jobs: Workload) -> None:
    assert starts(jobs, policy) == textbook.simulate(jobs, NODES, policy.value)
