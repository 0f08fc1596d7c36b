"""Many groups at once: some of them are looked at in a round, in the order in which they go."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from fluxnetes.cluster.labels.names import PRIORITY, QUEUE
from fluxnetes.controller import loop as controller_module
from fluxnetes.queue.config import PriorityWeights, QueueConfig, SchedulerConfig
from tests.unit.cluster.builders import machine, one_pod
from tests.unit.controller.play import CONFIG, Play

SIZE = 4
"""The number of pods for which the one node has capacity."""


def a_play(config: SchedulerConfig = CONFIG) -> Play:
    return Play(machine("n1", cpu=str(SIZE)), config=config)


def bound(play: Play) -> list[str]:
    pods = play.cluster.pods.values()
    return sorted(pod.metadata.name for pod in pods if pod.spec.node_name)


def test_the_first_are_bound_before_all_are_queued() -> None:
    with a_play() as play:
        for number in range(2 * SIZE):
            play.cluster.put(one_pod(f"p{number}"))
        play.step()
        assert bound(play) == ["p0", "p1"]
        assert len(play.shared.scheduler.jobs) < 2 * SIZE
        play.settle()
        assert bound(play) == ["p0", "p1", "p2", "p3"]
        assert len(play.shared.scheduler.jobs) == 2 * SIZE


def test_once_a_job_waits_all_groups_are_looked_at() -> None:
    with a_play() as play:
        play.put(one_pod("large", cpu=str(SIZE)), one_pod("waits"))
        for number in range(2 * SIZE):
            play.cluster.put(one_pod(f"p{number}"))
        play.step()
        assert len(play.shared.scheduler.jobs) == 2 + 2 * SIZE


def test_all_are_looked_at_where_more_than_arrival_counts() -> None:
    config = SchedulerConfig(queues=CONFIG.queues, weights=PriorityWeights(size=1.0))
    with a_play(config) as play:
        for number in range(2 * SIZE):
            play.cluster.put(one_pod(f"p{number}"))
        play.step()
        assert len(play.shared.scheduler.jobs) == 2 * SIZE


def test_all_are_looked_at_while_a_group_asks_for_a_priority() -> None:
    with a_play() as play:
        for number in range(2 * SIZE):
            play.cluster.put(one_pod(f"p{number}"))
        for number in range(SIZE):
            play.cluster.put(one_pod(f"urgent{number}", annotations={PRIORITY: "5"}))
        play.settle()
        assert bound(play) == [f"urgent{number}" for number in range(SIZE)]
        play.end(*(pod for number in range(SIZE) for pod in play.pods(f"urgent{number}")))
        assert play.shared.scheduler.orders_by_arrival, "none that waits has a priority"


def test_a_low_priority_that_waits_lets_all_others_pass() -> None:
    with a_play() as play:
        play.put(one_pod("first", cpu=str(SIZE)))
        play.put(*(one_pod(f"low{n}", annotations={PRIORITY: "-5"}) for n in range(SIZE)))
        for number in range(3 * SIZE):
            play.cluster.put(one_pod(f"p{number}"))
        play.end(*play.pods("first"))
        assert bound(play) == ["first", *(f"p{number}" for number in range(SIZE))]


@pytest.mark.parametrize("look_at", [3, 1000])
def test_a_term_begins_with_the_highest_class(look_at: int) -> None:
    """Whether all are looked at or only some."""
    with a_play() as play, patch.object(controller_module, "_LOOK_AT_ONCE", look_at):
        for number in range(2 * SIZE):
            play.cluster.put(one_pod(f"a-low{number}"))
        play.cluster.pass_time()
        for number in range(SIZE):
            play.cluster.put(one_pod(f"high{number}", priority=1000))
        play.restart()
        play.settle()
        assert bound(play) == [f"high{number}" for number in range(SIZE)]


@pytest.mark.parametrize("look_at", [3, 1000])
def test_a_term_begins_with_the_queue_of_the_highest_priority(look_at: int) -> None:
    config = SchedulerConfig(
        queues=(QueueConfig(grace=2), QueueConfig("urgent", priority=1, grace=2))
    )
    with a_play(config) as play, patch.object(controller_module, "_LOOK_AT_ONCE", look_at):
        for number in range(2 * SIZE):
            play.cluster.put(one_pod(f"usual{number}", priority=1000))
        for number in range(SIZE):
            play.cluster.put(one_pod(f"first{number}", annotations={QUEUE: "urgent"}))
        play.restart()
        play.settle()
        assert bound(play) == [f"first{number}" for number in range(SIZE)]
