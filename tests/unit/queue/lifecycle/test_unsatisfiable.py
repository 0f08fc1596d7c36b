"""Jobs that nothing in the cluster can serve now wait aside, and come back when it changes."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons import Reason, ReasonCode
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.planning import Planning
from fluxnetes.queue.config import BackfillPolicy, QueueConfig, UnsatisfiablePolicy
from fluxnetes.queue.events import Cancel, GraphChanged, Hold, NodesLost, Release
from fluxnetes.queue.jobs import Origin
from fluxnetes.queue.lifecycle import review
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import JobToBe, a_gang, a_job, machine, pods, pools, with_property
from tests.unit.queue.lifecycle.test_graph_changes import add_node, remove, resize
from tests.unit.queue.world import Way, World

REJECTING = QueueConfig(unsatisfiable=UnsatisfiablePolicy.REJECT)
TOO_LARGE = a_gang(pods(1, cpu=9))


def grow(world: World, node: str = "node0", cpu: int = 16) -> None:
    resize(world.graph, f"{node}/cpu0", cpu)
    world.tell(GraphChanged())


def test_a_job_that_nothing_can_serve_waits_with_the_reason() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(TOO_LARGE)
    assert world.is_set_aside(job)
    needs = "needs 9 cpu on one node; the most that one has is 8"
    assert world.why(job) == f"{needs}; it waits for nodes that can serve it"
    assert world.job(job).reason == world.explain(job).reason, "the record says so, too"


@pytest.mark.parametrize("policy", BackfillPolicy)
def test_it_is_never_the_head_of_its_queue(policy: BackfillPolicy) -> None:
    world = World(pools(1, cpu=8), QueueConfig(policy=policy))
    world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    aside, head = world.submit_together(TOO_LARGE, a_gang(pods(1, cpu=8)))
    assert world.plans(aside, head) == [None, 50]
    world.go_to(50)
    assert world.starts(aside, head) == [None, 50]


def test_it_claims_nothing_where_endless_jobs_run() -> None:
    world = World(pools(2, cpu=8))
    world.submit(a_gang(pods(1, cpu=8)).endless())
    aside = world.submit(TOO_LARGE)
    assert world.start(world.submit(a_gang(pods(1, cpu=8)).endless())) == 0
    assert world.is_set_aside(aside)


def test_the_reason_follows_the_graph_while_it_waits() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=20)))
    grow(world, cpu=12)
    assert "the most that one has is 12" in world.why(job)


def test_it_starts_when_a_node_grows_and_its_story_tells() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(TOO_LARGE)
    grow(world)
    assert world.nodes(job) == ["node0"]
    notes = [reason_text(event.reason) for event in world.story(job) if event.kind == "note"]
    assert notes[1:] == ["there are nodes that can serve it"]


def test_it_starts_when_a_type_comes_that_there_never_was() -> None:
    world = World(pools(1, cpu=8))
    job = world.submit(a_gang(Shape.of(1, {"cpu": 1, "example.com/fpga": 1})))
    assert world.why(job).startswith("there is no example.com/fpga here")
    add_node(world.graph, "new", **{"cpu": 8, "example.com/fpga": 1})
    world.tell(GraphChanged())
    assert world.nodes(job) == ["new"]


def test_jobs_come_back_in_the_order_in_which_they_arrived() -> None:
    world = World(pools(1, cpu=8))
    jobs = world.submit_together(*3 * [TOO_LARGE])
    late = world.submit(a_gang(pods(1, cpu=8)).lasting(100))
    world.end(late)
    grow(world, cpu=10)
    assert world.starts(*jobs) == [0, None, None]
    assert [world.explain(job).place for job in jobs[1:]] == [0, 1]


def test_a_job_in_line_is_set_aside_when_the_last_node_goes_that_could_serve_it() -> None:
    world = World(pools(3, cpu=8))
    resize(world.graph, "node2/cpu0", 16)
    world.tell(GraphChanged())
    world.submit(a_gang(pods(1, cpu=16)).lasting(50))
    large = world.submit(a_gang(pods(1, cpu=16)))
    assert world.plan(large) == 50
    resize(world.graph, "node2/cpu0", 8)
    world.tell(GraphChanged())
    assert world.is_set_aside(large)
    assert world.promised(large)[-1] is None, "it has lost its promise"
    assert world.explain(world.submit(a_gang(pods(3, cpu=8)))).place == 0, "it blocks nothing"


def test_labels_set_jobs_aside_and_bring_them_back() -> None:
    world = World(machine(2, named={"fast": 1}))
    fast = a_job(on=with_property("fast"))
    world.submit(fast.lasting(50))
    job = world.submit(fast)
    world.matcher.remove_property("/cluster0/node0", "fast")
    world.tell(GraphChanged())
    assert world.is_set_aside(job)
    world.matcher.set_property("/cluster0/node1", "fast", "")
    world.tell(GraphChanged())
    assert world.nodes(job) == ["node1"]


def test_a_lost_node_sets_nothing_aside_since_it_may_come_back() -> None:
    world = World(machine(2))
    world.tell(NodesLost(("node0",)))
    assert world.explain(world.submit(a_job(nodes=2))).place == 0


def test_a_job_that_lost_the_only_node_that_can_serve_it_waits_for_another() -> None:
    world = World(pools(2, cpu=8))
    resize(world.graph, "node1/cpu0", 16)
    world.tell(GraphChanged())
    job = world.submit(a_gang(pods(1, cpu=16)).requeued_on_loss())
    remove(world.graph, "node1", "node1/cpu0")
    world.tell(GraphChanged())
    world.end(job)
    assert world.is_set_aside(job)


def test_it_can_be_held_released_and_cancelled() -> None:
    world = World(pools(1, cpu=8))
    job = world.submit(TOO_LARGE)
    world.tell(Hold(job))
    grow(world)
    assert world.state(job) is JobState.HELD
    world.tell(Release(job))
    assert world.start(job) == 0
    other = world.submit(a_gang(pods(1, cpu=99)))
    world.tell(Cancel(other))
    assert world.state(other) is JobState.CANCELLED


def test_a_held_job_does_not_know_and_is_judged_when_it_is_released() -> None:
    world = World(pools(1, cpu=8))
    job = world.submit(TOO_LARGE.held())
    assert world.state(job) is JobState.HELD
    world.tell(Release(job))
    assert world.is_set_aside(job)


def test_its_dependency_and_its_begin_time_count_when_it_comes_back() -> None:
    world = World(pools(1, cpu=8))
    first = world.submit(a_gang(pods(1, cpu=1)).lasting(30))
    after, later = world.submit_together(TOO_LARGE.afterany(first), TOO_LARGE.beginning(40))
    assert world.is_set_aside(after)
    assert world.is_set_aside(later)
    grow(world)
    assert world.starts(after, later) == [None, None]
    assert "afterany" in world.why(after)
    world.go_to(40)
    assert world.starts(after, later) == [30, 40]


def test_it_is_rejected_when_its_dependency_fails() -> None:
    world = World(pools(1, cpu=8))
    first = world.submit(a_gang(pods(1, cpu=1)))
    job = world.submit(TOO_LARGE.afterok(first))
    world.end(first, ok=False)
    assert world.state(job) is JobState.REJECTED


def test_an_array_comes_back_and_starts_all_its_tasks() -> None:
    world = World(pools(2, cpu=8))
    array = world.submit(TOO_LARGE.times(3))
    assert world.is_set_aside(array)
    grow(world, cpu=27)
    assert world.starts(array + 1, array + 2, array + 3) == [0, 0, 0]


def test_an_array_whose_tasks_all_run_is_not_set_aside() -> None:
    world = World(pools(1, cpu=8))
    array = world.submit(a_gang(pods(1, cpu=8)).times(1))
    grow(world, cpu=4)
    assert world.explain(array).reason is not None
    assert "were started" in world.why(array)
    world.end(array + 1)
    assert world.state(array) is JobState.COMPLETED


# -- what is rejected ------------------------------------------------------------------------------


def test_a_queue_may_reject_it_and_then_it_stays_rejected() -> None:
    world = World(pools(1, cpu=8), REJECTING)
    job = world.submit(TOO_LARGE)
    grow(world)
    assert world.state(job) is JobState.REJECTED
    reason = world.job(job).reason
    assert reason is not None
    assert reason.code is ReasonCode.UNSATISFIABLE


def test_a_queue_that_rejects_does_not_reject_a_job_that_it_accepted_before() -> None:
    world = World(pools(1, cpu=8), REJECTING)
    world.submit(a_gang(pods(1, cpu=8)))
    job = world.submit(a_gang(pods(1, cpu=8)))
    grow(world, cpu=4)
    assert world.is_set_aside(job)


def test_a_match_of_a_caller_is_rejected_at_once() -> None:
    from dataclasses import replace

    world = World(pools(1, cpu=8))
    match = JobToBe(replace(TOO_LARGE.spec, origin=Origin.CALL_MATCH))
    assert world.state(world.submit(match)) is JobState.REJECTED


@pytest.mark.parametrize("request_", [a_gang(pods(1, cpu=-1)), a_gang(pods(0, cpu=1))])
def test_what_makes_no_sense_on_any_graph_is_rejected(request_: JobToBe) -> None:
    world = World(pools(1, cpu=8))
    assert world.state(world.submit(request_)) is JobState.REJECTED


# -- what it costs ---------------------------------------------------------------------------------


def test_units_are_counted_beside_jobs_that_nothing_can_serve() -> None:
    world = World(pools(2, cpu=8), way=Way.COUNTING)
    world.submit(a_gang(pods(1, cpu=4)))
    world.submit_together(TOO_LARGE, a_gang(pods(1, gpu=1)), a_gang(pods(1, cpu=9), pods(2, cpu=1)))
    assert world.queue.plans_by_counting


def test_equal_requests_are_judged_once_and_hopeless_ones_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(pools(2, cpu=8), way=Way.COUNTING)
    world.submit_together(*100 * [TOO_LARGE], *(a_gang(pods(1, cpu=100 + n)) for n in range(100)))
    judged: list[object] = []
    judge = Planning.judge

    def noted(self: Planning, asked: Jobspec | Gang) -> Reason | None:
        judged.append(asked)
        return judge(self, asked)

    monkeypatch.setattr(Planning, "judge", noted)
    grow(world)
    assert judged == [TOO_LARGE.spec.request]


def test_many_searches_are_spread_over_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review, "_SEARCHES_PER_CYCLE", 2)
    world = World(pools(1, cpu=8), way=Way.COUNTING)
    shapes = [pods(1, on=with_property(f"p{n}"), cpu=1) for n in range(5)]
    jobs = world.submit_together(*map(a_gang, shapes))
    for n in range(5):
        world.matcher.set_property("/cluster0/node0", f"p{n}", "")
    world.queue.apply(GraphChanged(), world.now)
    started = []
    for now, wake in ((0, 1), (1, 2), (2, 10)):
        world.queue.cycle(now)
        assert world.queue.next_wake(now) == wake
        started.append(sum(world.queue.job(job).state is not JobState.PENDING for job in jobs))
    assert started == [2, 4, 5]
