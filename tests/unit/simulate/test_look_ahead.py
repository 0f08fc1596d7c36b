"""Looking ahead at a cluster as it is: where jobs go, who else is there, and how long to look."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.graph.writers.whole import write_graph
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.events import Submit
from fluxnetes.queue.jobs import JobArray, Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import EndCause, JobState
from fluxnetes.simulate.forecast import Forecast, Scenario, look_ahead
from fluxnetes.simulate.policies import parse_policy
from tests.unit.simulate.queues import CLUSTER, HEAD, LONG, NOW, PASSING, RUNNING, job, snapshot_of

EASY = SchedulerConfig(queues=(parse_policy("easy"),))


def ahead(snapshot: Snapshot, *more: Submission, config: SchedulerConfig = EASY) -> Forecast:
    return look_ahead(snapshot, Scenario("s", CLUSTER.graph, config, more), NOW)


def test_looking_ahead_changes_nothing_of_the_graph() -> None:
    graph = pool_graph({"a": {"cpu": 4}, "b": {"cpu": 4}})
    before = write_graph(graph), graph.occupied.tolist(), graph.closed.tolist(), graph.version
    scenario = Scenario("s", graph, EASY, (pods(9, 1),), {"a": {"cpu": 3}}, ("b",))
    look_ahead(Snapshot(), scenario, NOW)
    after = write_graph(graph), graph.occupied.tolist(), graph.closed.tolist(), graph.version
    assert after == before


# -- others, and nodes that take nothing new -------------------------------------------------------


def pods(id: int, cpu: int) -> Submission:
    return Submission(id, Gang((Shape.of(1, {"cpu": cpu}),)), walltime=60)


def on_two_nodes(*more: Submission, **said: object) -> Forecast:
    graph = pool_graph({"a": {"cpu": 4}, "b": {"cpu": 4}})
    return look_ahead(Snapshot(), Scenario("s", graph, EASY, more, **said), NOW)  # type: ignore[arg-type]


def test_what_others_hold_is_held_all_the_time() -> None:
    others = {"a": {"cpu": 3}, "missing": {"cpu": 1}}
    found = on_two_nodes(pods(8, 2), pods(9, 3), others=others)
    assert found.start == {8: NOW, 9: NOW + 60}
    assert on_two_nodes(pods(8, 2), pods(9, 3)).start == {8: NOW, 9: NOW}


def test_nodes_that_are_closed_take_nothing() -> None:
    found = on_two_nodes(pods(8, 3), pods(9, 3), closed=("a", "missing"))
    assert found.start == {8: NOW, 9: NOW + 60}
    found = on_two_nodes(pods(8, 3), closed=("a", "b"))
    assert (found.start, list(found.never)) == ({}, [8])


def test_who_is_on_a_closed_node_stays_to_the_end() -> None:
    queue = snapshot_of(RUNNING, HEAD)
    closed = ("node0", "node1", "node2")
    found = look_ahead(queue, Scenario("s", CLUSTER.graph, EASY, (job(9, 1, 5),), {}, closed), NOW)
    assert (found.start, list(found.never)) == ({9: NOW}, [2])


def test_who_is_late_to_leave_is_not_gone_yet() -> None:
    """It was asked to end at 1100, was to be gone 30 s later, and is still there."""
    queue = snapshot_of(RUNNING, HEAD)
    ending = replace(
        queue.jobs[0], state=JobState.ENDING, cause=EndCause.TIMED_OUT, expected=NOW + 130
    )
    late = replace(queue, jobs=(ending, *queue.jobs[1:]))
    scenario = Scenario("s", CLUSTER.graph, SchedulerConfig(queues=(QueueConfig(grace=30),)))
    assert look_ahead(late, scenario, NOW + 110).start == {2: NOW + 130}
    assert look_ahead(late, scenario, NOW + 130).start == {2: NOW + 160}


# -- where -----------------------------------------------------------------------------------------


def nodes_of(forecast: Forecast, job: int) -> list[str]:
    graph = CLUSTER.graph
    rows = forecast.where[job].placement.vertex.tolist()
    return sorted(graph.name(row) for row in rows if graph.type_name(row) == "node")


def test_the_scenarios_own_jobs_have_a_place() -> None:
    found = ahead(snapshot_of(RUNNING, HEAD), job(8, 1, 10), job(9, 2, 10))
    assert found.start == {2: NOW + 100, 8: NOW, 9: NOW + 150}
    assert list(found.where) == [8, 9]
    assert nodes_of(found, 8) == ["node3"]
    assert (found.where[9].start, found.where[9].end) == (NOW + 150, NOW + 160)


def test_the_place_of_an_array_is_that_of_its_first_task() -> None:
    found = ahead(snapshot_of(RUNNING), job(8, 1, 10, array=JobArray(3)))
    assert found.start == {9: NOW, 10: NOW + 10, 11: NOW + 20}
    assert (list(found.where), nodes_of(found, 8)) == ([8], ["node3"])


def test_who_goes_and_comes_again_is_placed_where_it_first_was() -> None:
    config = SchedulerConfig(queues=(QueueConfig(preempts=True, grace=5),))
    first = job(8, 4, 100, preemptible=True)
    second = job(9, 4, 20, job_class=1, begin=NOW + 30)
    found = ahead(Snapshot(), first, second, config=config)
    assert found.start == {8: NOW, 9: NOW + 35}
    assert found.where[8].start == NOW


# -- in brief --------------------------------------------------------------------------------------


def briefly(snapshot: Snapshot, *more: Submission) -> Forecast:
    return look_ahead(snapshot, Scenario("s", CLUSTER.graph, EASY, more), NOW, brief=True)


def test_in_brief_it_ends_when_the_scenarios_own_jobs_have_started() -> None:
    queue = snapshot_of(RUNNING, HEAD, PASSING, LONG)
    found = briefly(queue, job(8, 1, 10), job(9, 1, 500))
    full = ahead(queue, job(8, 1, 10), job(9, 1, 500))
    assert full.start == {2: NOW + 100, 4: NOW + 150, 8: NOW + 60, 9: NOW + 150}
    assert found.start == full.start
    assert briefly(queue, job(8, 1, 10)).start == {8: NOW + 60}
    assert briefly(queue, job(8, 1, 10)).never == {}


def test_in_brief_a_job_that_was_not_admitted_or_may_not_start_is_reported_at_once() -> None:
    queue = snapshot_of(RUNNING, HEAD)
    waits = job(8, 1, 10, held=True), job(9, 1, 10, gathering=True)
    found = briefly(queue, job(7, 5, 10), *waits)
    assert found.start == {}
    assert set(found.never) == {7, 8, 9}
    assert all(found.never.values())


def test_in_brief_a_job_that_never_starts_is_reported_in_the_end() -> None:
    found = briefly(snapshot_of(job(1, 3, None), HEAD), job(9, 2, 10))
    assert (found.start, list(found.never)) == ({}, [9])


def test_a_job_that_was_not_admitted_is_remembered_however_many_end_after_it() -> None:
    graph = CLUSTER.graph
    many = job(10, 1, 1, array=JobArray(1_200))
    found = look_ahead(Snapshot(), Scenario("s", graph, EASY, (job(9, 5, 1), many)), NOW)
    assert len(found.start) == 1_200
    assert list(found.never) == [9]


# -- with no more effort than it is worth ----------------------------------------------------------


def mixed_queue(policy: str) -> tuple[Snapshot, SchedulerConfig, ResourceGraph]:
    """One pod of each node's two halves runs; many of several shapes wait, a short small one last.

    Shapes compete for nodes, so that only the matcher can tell what fits."""
    graph = pool_graph({name: {"cpu": 4} for name in ("a", "b")})
    config = SchedulerConfig(queues=(parse_policy(policy),))
    queue = Scheduler(Matcher(graph, policy=config.match_policy), config, now=NOW)
    shapes = [3, 3, *(4, 3, 2) * 10]
    for id, cpu in enumerate(shapes, 1):
        request = Gang((Shape.of(1, {"cpu": cpu}),))
        queue.apply(Submit(Submission(id, request, walltime=60)), NOW)
    queue.cycle(NOW)
    assert not queue.plans_by_counting
    return queue.snapshot(), config, graph


@pytest.mark.parametrize("policy", ["easy", "hybrid:4", "conservative"])
def test_a_queue_that_takes_too_much_effort_is_run_ahead_roughly(policy: str) -> None:
    snapshot, config, graph = mixed_queue(policy)
    scenario = Scenario("s", graph, config, (pods(99, 2),))
    exact = look_ahead(snapshot, scenario, NOW, brief=True)
    rough = look_ahead(snapshot, scenario, NOW, brief=True, effort=40)
    enough = look_ahead(snapshot, scenario, NOW, brief=True, effort=10_000)
    assert (exact.rough, rough.rough, enough.rough) == (False, True, False)
    assert enough == exact
    assert exact.start[99] < rough.start[99]
    # No job was passed: all others had started before it.
    assert set(rough.start) == set(range(3, 33)) | {99}


def test_a_queue_in_which_no_job_passes_anyhow_is_never_run_roughly() -> None:
    snapshot, config, graph = mixed_queue("fcfs")
    scenario = Scenario("s", graph, config, (pods(99, 2),))
    assert not look_ahead(snapshot, scenario, NOW, effort=1).rough


@pytest.mark.parametrize(("policy", "rough"), [("easy", False), ("conservative", True)])
def test_a_job_that_can_start_now_does_however_little_effort_it_is_worth(
    policy: str, rough: bool
) -> None:
    """A queue full of promises is not even restored as it is."""
    snapshot, config, graph = mixed_queue(policy)
    scenario = Scenario("s", graph, config, (pods(99, 1),))
    found = look_ahead(snapshot, scenario, NOW, brief=True, effort=1)
    assert (found.start, found.rough) == ({99: NOW}, rough)


def test_where_units_are_counted_no_effort_is_too_much() -> None:
    queue = snapshot_of(RUNNING, HEAD, *(job(id, 1, 90) for id in range(10, 40)))
    scenario = Scenario("s", CLUSTER.graph, EASY, (job(99, 1, 10),))
    found = look_ahead(queue, scenario, NOW, effort=0)
    assert (found.rough, found.start) == (False, look_ahead(queue, scenario, NOW).start)
