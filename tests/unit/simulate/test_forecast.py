"""What-if: a recorded queue run ahead."""

from __future__ import annotations

import json

import pytest

from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.config import (
    BackfillPolicy,
    BudgetConfig,
    LimitConfig,
    PriorityWeights,
    QueueConfig,
    SchedulerConfig,
)
from fluxnetes.queue.jobs import Dependency, DependencyKind, Submission
from fluxnetes.simulate.cluster import uniform_cluster, with_more_nodes
from fluxnetes.simulate.document import write_forecasts
from fluxnetes.simulate.errors import SimulationError
from fluxnetes.simulate.forecast import (
    Forecast,
    Scenario,
    compare,
    look_ahead,
    scenarios,
    with_policy,
    with_queues_of,
)
from fluxnetes.simulate.policies import parse_policy
from tests.unit.simulate.queues import (
    CLUSTER,
    HEAD,
    LONG,
    NOW,
    PASSING,
    RUNNING,
    job,
    snapshot_of,
)

EASY = SchedulerConfig(queues=(parse_policy("easy"),))


def ahead(snapshot: Snapshot, *more: Submission, nodes: int = 4, policy: str = "easy") -> Forecast:
    cluster = CLUSTER if nodes == 4 else with_more_nodes(CLUSTER, nodes - 4)
    config = SchedulerConfig(queues=(parse_policy(policy),))
    return look_ahead(snapshot, Scenario("s", cluster.graph, config, more), NOW)


def ahead_with(config: SchedulerConfig, snapshot: Snapshot, *more: Submission) -> Forecast:
    return look_ahead(snapshot, Scenario("s", CLUSTER.graph, config, more), NOW)


def test_jobs_start_as_if_every_walltime_were_used_up() -> None:
    found = ahead(snapshot_of(RUNNING, HEAD, PASSING, LONG))
    assert found.start == {2: NOW + 100, 4: NOW + 150}
    assert found.end == {2: NOW + 150, 4: NOW + 240}
    assert found.never == {}


def test_more_nodes_let_jobs_start_earlier() -> None:
    found = ahead(snapshot_of(RUNNING, HEAD, PASSING, LONG), nodes=8)
    assert found.start == {2: NOW, 4: NOW + 50}


def test_one_more_job_comes_last() -> None:
    found = ahead(snapshot_of(RUNNING, HEAD), job(9, 1, 300), policy="fcfs")
    assert found.start == {2: NOW + 100, 9: NOW + 150}


def test_one_more_job_that_never_fits_is_reported() -> None:
    found = ahead(snapshot_of(RUNNING), job(9, 5, 300))
    assert found.start == {}
    assert list(found.never) == [9]
    assert found.never[9]


def test_another_policy_lets_others_pass() -> None:
    queue = snapshot_of(RUNNING, HEAD)
    assert ahead(queue, job(9, 1, 10), policy="fcfs").start[9] == NOW + 150
    assert ahead(queue, job(9, 1, 10), policy="easy").start[9] == NOW


def test_who_waits_behind_a_job_without_walltime_has_no_forecast() -> None:
    found = ahead(snapshot_of(job(1, 3, None), HEAD))
    assert found.start == {}
    assert list(found.never) == [2]


def test_a_job_without_walltime_starts_and_never_ends() -> None:
    found = ahead(snapshot_of(RUNNING, job(2, 4, None)))
    assert (found.start, found.end) == ({2: NOW + 100}, {})


def test_held_jobs_wait_and_dependants_start_after_what_they_depend_on() -> None:
    after = job(4, 1, 10, dependencies=(Dependency(DependencyKind.SUCCEEDED, 2),))
    found = ahead(snapshot_of(RUNNING, HEAD, job(3, 1, 5, held=True), after))
    assert found.start == {2: NOW + 100, 4: NOW + 150}
    assert list(found.never) == [3]


def test_looking_ahead_changes_nothing_of_what_is_recorded() -> None:
    queue = snapshot_of(RUNNING, HEAD, PASSING, LONG)
    states = [job.state for job in queue.jobs]
    assert ahead(queue) == ahead(queue)
    assert [job.state for job in queue.jobs] == states


def test_a_queue_of_another_cluster_is_refused() -> None:
    with pytest.raises(SimulationError, match="--graph"):
        look_ahead(snapshot_of(RUNNING), Scenario("s", uniform_cluster(1, 1).graph, EASY), NOW)


def test_limits_of_the_configuration_hold_in_the_forecast() -> None:
    queue, small = snapshot_of(RUNNING, HEAD), job(9, 1, 10)
    one_at_a_time = SchedulerConfig(queues=(QueueConfig(cap=LimitConfig(running=1)),))
    assert ahead_with(EASY, queue, small).start == {2: NOW + 100, 9: NOW}
    assert ahead_with(one_at_a_time, queue, small).start == {2: NOW + 100, 9: NOW + 150}


def test_weights_and_default_walltimes_of_the_configuration_count() -> None:
    config = SchedulerConfig(
        queues=(QueueConfig(default_walltime=70),), weights=PriorityWeights(priority=1)
    )
    more = (job(2, 4, 50), job(3, 4, None, priority=5), job(4, 4, 90, priority=9))
    found = ahead_with(config, snapshot_of(RUNNING), *more)
    assert found.start == {4: NOW + 100, 3: NOW + 190, 2: NOW + 260}


def test_who_is_preempted_goes_and_starts_again_later() -> None:
    queue = snapshot_of(job(1, 4, 100, preemptible=True))
    config = SchedulerConfig(queues=(QueueConfig(preempts=True, grace=5),))
    found = ahead_with(config, queue, job(9, 4, 20, job_class=1))
    assert found.start == {9: NOW + 5, 1: NOW + 25}
    assert found.end == {9: NOW + 25, 1: NOW + 125}


def test_a_budget_that_is_renewed_lets_a_job_start_in_a_later_period() -> None:
    """A core-hour a day. The day of NOW is over at 86,400."""
    budget = BudgetConfig("b", amount=1.0, period=86_400, queue="default")
    config = SchedulerConfig(queues=(QueueConfig(),), budgets=(budget,))
    found = ahead_with(config, Snapshot(), job(8, 1, 3000), job(9, 1, 3000))
    assert found.start == {8: NOW, 9: 86_400}


def test_a_budget_that_never_suffices_ends_the_forecast_and_is_reported() -> None:
    budget = BudgetConfig("b", amount=1.0, period=86_400, queue="default")
    config = SchedulerConfig(queues=(QueueConfig(),), budgets=(budget,))
    later = job(9, 1, 60, begin=NOW + 100 * 86_400)
    found = ahead_with(config, Snapshot(), job(8, 1, 7200), later)
    assert (found.start, list(found.never)) == ({9: NOW + 100 * 86_400}, [8])
    assert found.never[8]


def test_another_policy_leaves_everything_else_of_a_queue() -> None:
    queues = (QueueConfig("a", priority=3, cap=LimitConfig(running=1)), QueueConfig("b", depth=7))
    config = SchedulerConfig(queues=queues, weights=PriorityWeights(age=1.0))
    changed = with_policy(config, parse_policy("hybrid:16"))
    assert changed.weights == config.weights
    assert changed.queues == (
        QueueConfig("a", BackfillPolicy.HYBRID, 16, priority=3, cap=LimitConfig(running=1)),
        QueueConfig("b", BackfillPolicy.HYBRID, 16, depth=7),
    )


def test_a_queue_that_is_no_longer_configured_is_a_plain_one() -> None:
    queue = snapshot_of(RUNNING, HEAD)
    config = with_queues_of(
        SchedulerConfig(queues=(QueueConfig("other", BackfillPolicy.FCFS),)), queue
    )
    assert [queue.name for queue in config.queues] == ["other", "default"]
    assert ahead_with(config, queue).start == {2: NOW + 100}


def test_an_empty_queue_has_an_empty_forecast() -> None:
    found = ahead(Snapshot())
    assert (found.start, found.never) == ({}, {})
    assert compare(found, found).mean_wait == 0


def test_forecasts_are_compared_with_today() -> None:
    queue = snapshot_of(RUNNING, HEAD, PASSING, LONG)
    asked = scenarios(CLUSTER, {"easy": EASY}, nodes=4, job=job(9, 4, 10))
    today, nodes, more = [look_ahead(queue, scenario, NOW) for scenario in asked]
    assert [scenario.name for scenario in asked] == ["easy", "+4 nodes", "+1 job"]
    outlook = compare(nodes, today)
    assert (outlook.start, outlook.earlier, outlook.later) == (2, 2, 0)
    assert (outlook.mean_wait, outlook.longest_wait, outlook.last_end) == (25, 50, 140)
    assert (compare(more, today).start, compare(more, today).later) == (3, 0)


def test_json_has_every_scenario() -> None:
    forecast = ahead(snapshot_of(RUNNING, HEAD, job(3, 1, 5, held=True)))
    found = json.loads(write_forecasts([forecast]))
    assert found["now"] == NOW
    assert found["scenarios"]["s"]["jobs"] == [{"job": 2, "start": NOW + 100, "end": NOW + 150}]
    assert list(found["scenarios"]["s"]["no_start"]) == ["3"]


def test_new_nodes_are_like_the_first_and_rows_stay_where_they_were() -> None:
    small = uniform_cluster(2, 3)
    small.graph.set_property(int(small.graph.find_path("/cluster0/node0")[0]), "fast", "")
    grown = with_more_nodes(small, 2)
    assert grown.machine.names == ("node0", "node1", "node2", "node3")
    assert grown.machine.node.tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert grown.unit[: small.graph.vertex_count].tolist() == small.unit.tolist()
    (new,) = grown.graph.find_path("/cluster0/node3")
    assert grown.graph.properties(new) == {"fast": ""}
    assert grown.graph.rank[new] == 3
    assert small.machine.processors == 6
