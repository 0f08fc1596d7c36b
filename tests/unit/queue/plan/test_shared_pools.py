"""Licences and other things that no node owns count like nodes."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.events import Cancel
from tests.unit.queue.build import JobToBe, a_gang, pods, pools
from tests.unit.queue.world import World

CONSERVATIVE = QueueConfig(policy=BackfillPolicy.CONSERVATIVE)


def licensed(licences: int, cpu: int = 1) -> JobToBe:
    return a_gang(pods(1, cpu=cpu), licence=licences)


def test_two_jobs_that_need_thirty_of_forty_never_run_together() -> None:
    world = World(pools(4, cpu=8, licence=40))
    first, second = world.submit_together(licensed(30).lasting(50), licensed(30).lasting(50))
    assert world.start(first) == 0
    assert world.plan(second) == 50
    assert "licence" in world.why(second)
    world.go_to(50)
    assert world.start(second) == 50


def test_mixed_gangs_that_need_thirty_of_forty_never_run_together() -> None:
    world = World(pools(4, cpu=8, gpu=1, licence=40))
    first = world.submit(a_gang(pods(1, cpu=1), pods(1, gpu=1), licence=30).lasting(50))
    second = world.submit(a_gang(pods(2, cpu=3), pods(1, gpu=1), licence=30).lasting(50))
    assert world.plan(second) == 50
    world.go_to(50)
    assert world.starts(first, second) == [0, 50]


def test_licences_are_given_out_to_the_last_one() -> None:
    world = World(pools(4, cpu=8, licence=40))
    jobs = world.submit_together(licensed(30), licensed(10), licensed(1))
    assert world.starts(*jobs) == [0, 0, None]


def test_a_job_for_more_licences_than_there_are_is_set_aside() -> None:
    world = World(pools(4, cpu=8, licence=40))
    job = world.submit(licensed(41))
    assert world.is_set_aside(job)
    assert "licence" in reason_text(world.job(job).reason)


@pytest.mark.parametrize("queue", [QueueConfig(), CONSERVATIVE], ids=["easy", "conservative"])
def test_backfill_plans_around_licences(queue: QueueConfig) -> None:
    world = World(pools(4, cpu=8, licence=40), queue)
    world.submit(licensed(30).lasting(50))
    head = world.submit(licensed(20).lasting(50))
    long, short, none, beside = world.submit_together(
        licensed(30).lasting(60),
        licensed(10).lasting(50),
        licensed(0).lasting(500),
        licensed(10).lasting(500),
    )
    assert world.plan(head) == 50
    assert world.starts(long, short, none) == [None, 0, 0]
    assert world.start(beside) is None, "the short one has the last ten"
    world.go_to(50)
    assert world.starts(head, beside) == [50, 50]


def test_a_promised_licence_is_not_taken() -> None:
    world = World(pools(4, cpu=8, licence=40))
    world.submit(licensed(30).lasting(50))
    head = world.submit(licensed(40).lasting(50))
    long, short = world.submit_together(licensed(10).lasting(51), licensed(10).lasting(50))
    assert world.starts(long, short) == [None, 0]
    world.go_to(50)
    assert world.start(head) == 50


def test_licences_and_nodes_must_both_be_free() -> None:
    world = World(pools(2, cpu=8, licence=40))
    nodes, licences = licensed(0, cpu=8).lasting(20), licensed(30, cpu=1).lasting(50)
    world.submit_together(nodes, licences)
    assert world.plan(world.submit(licensed(10, cpu=8).lasting(5))) == 20
    assert world.plan(world.submit(licensed(20, cpu=8).of_class(1).lasting(5))) == 50


def test_licences_come_back_when_a_job_is_gone() -> None:
    world = World(pools(4, cpu=8, licence=40))
    first, second = world.submit_together(licensed(30).lasting(50), licensed(30))
    world.go_to(5)
    world.tell(Cancel(first))
    assert world.start(second) is None
    world.end(first)
    assert world.start(second) == 5


def test_several_kinds_of_shared_things_all_count() -> None:
    world = World(pools(4, cpu=8, licence=40, token=2))
    jobs = world.submit_together(
        a_gang(pods(1, cpu=1), licence=10, token=2).lasting(20),
        a_gang(pods(1, cpu=1), licence=10, token=1).lasting(20),
        a_gang(pods(1, cpu=1), licence=20).lasting(20),
    )
    assert world.starts(*jobs) == [0, None, 0]
    assert world.plan(jobs[1]) == 20


def test_an_array_shares_licences_among_its_tasks() -> None:
    world = World(pools(4, cpu=8, licence=40))
    array = world.submit(licensed(15).lasting(10).times(5))
    world.go_to(30)
    assert world.starts(*range(array + 1, array + 6)) == [0, 0, 10, 10, 20]
