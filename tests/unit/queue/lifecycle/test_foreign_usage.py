"""Foreign pods on our nodes: what they hold is not free, and makes no job unsatisfiable."""

from __future__ import annotations

from collections.abc import Mapping

from fluxnetes.common.reasons import Reason
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.events import GraphChanged, Occupied, Reshape
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, pods, pools
from tests.unit.queue.world import World

CONSERVATIVE = QueueConfig(policy=BackfillPolicy.CONSERVATIVE)


def others(**nodes: int | Mapping[str, int]) -> Occupied:
    """Others hold this much cpu of nodes, or these amounts."""
    return Occupied(
        {n: {"cpu": held} if isinstance(held, int) else held for n, held in nodes.items()}
    )


def test_a_job_starts_only_where_others_leave_room() -> None:
    world = World(pools(2, cpu=8))
    world.tell(others(node0=5))
    assert world.nodes(world.submit(a_gang(pods(1, cpu=4)))) == ["node1"]
    assert world.nodes(world.submit(a_gang(pods(1, cpu=3)))) == ["node0"]


def test_what_others_hold_makes_a_job_wait_in_line() -> None:
    world = World(pools(2, cpu=8))
    world.tell(others(node0=8, node1=5))
    job = world.submit(a_gang(pods(1, cpu=8)))
    too_large = world.submit(a_gang(pods(1, cpu=9)))
    assert (world.explain(job).place, world.is_set_aside(too_large)) == (0, True)
    assert world.plan(job) is None, "when foreign pods end is unknown"
    assert world.why(job) == (
        "needs 8 cpu on one node; the most that one has free is 3; "
        "it would fit without what others use on node0"
    )


def test_a_job_starts_as_soon_as_others_leave() -> None:
    world = World(pools(2, cpu=8))
    world.tell(others(node0=8, node1=5))
    job = world.submit(a_gang(pods(1, cpu=8)))
    world.go_to(7)
    world.tell(others(node1=0))
    assert (world.start(job), world.nodes(job)) == (7, ["node1"])


def test_types_that_are_not_named_are_free_again() -> None:
    world = World(pools(1, cpu=8, gpu=2))
    world.tell(others(node0={"cpu": 8, "gpu": 2}))
    job = world.submit(a_gang(pods(1, gpu=1)))
    assert world.start(job) is None
    world.tell(others(node0={"cpu": 8}))
    assert world.start(job) == 0


def test_nodes_that_are_not_named_stay_as_they_are() -> None:
    world = World(pools(2, cpu=8))
    world.tell(others(node0=8))
    world.tell(others(node1=4))
    assert world.nodes(world.submit(a_gang(pods(1, cpu=4)))) == ["node1"]


def test_nodes_and_types_that_we_do_not_have_are_no_trouble() -> None:
    world = World(pools(1, cpu=8))
    world.tell(others(elsewhere=4, node0={"cpu": 1, "fpga": 3}))
    assert world.start(world.submit(a_gang(pods(1, cpu=7)))) == 0


def test_others_may_hold_more_than_we_think_there_is() -> None:
    world = World(pools(1, cpu=8))
    world.tell(others(node0=10**15))
    job = world.submit(a_gang(pods(1, cpu=1)))
    assert world.start(job) is None
    world.tell(others(node0=7))
    assert world.start(job) == 0


def test_several_units_on_a_node_are_counted_with_what_others_leave() -> None:
    world = World(pools(3, cpu=8))
    world.tell(others(node0=3, node1=1, node2=6))
    five = world.submit(a_gang(pods(5, cpu=2)).lasting(20))
    more = world.submit(a_gang(pods(2, cpu=2)).lasting(20))
    assert world.start(five) == 0, "two, three and one fit"
    assert world.plan(more) == 20
    world.tell(others(node1=0))
    assert world.start(more) == 0


def test_when_nothing_waits_nothing_is_written() -> None:
    world = World(pools(2, cpu=8))
    world.submit(a_gang(pods(2, cpu=3)).lasting(50))
    before = len(world.keeper.events)
    world.tell(others(node0=2), others(node0=1), others(node0=0, node1=4))
    assert len(world.keeper.events) == before
    assert world.nodes(world.submit(a_gang(pods(1, cpu=4)))) == ["node1"]
    assert world.plan(world.submit(a_gang(pods(1, cpu=4)))) == 10


def test_a_job_for_which_no_start_is_known_gets_one_as_soon_as_it_asks_for_less() -> None:
    world = World(pools(2, cpu=8))
    world.tell(others(node0=1, node1=1))
    world.submit(a_gang(pods(2, cpu=7)).lasting(10))
    job = world.submit(a_gang(pods(1, cpu=8)))
    world.go_to(2)
    assert world.plan(job) is None
    world.tell(Reshape(job, a_gang(pods(1, cpu=7)).spec.request))
    assert world.plan(job) == 10


# -- promises --------------------------------------------------------------------------------------


def test_a_promise_moves_later_with_a_reason_when_others_take_its_capacity() -> None:
    world = World(pools(2, cpu=8))
    world.submit(a_gang(pods(1, cpu=8)).lasting(10))
    world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    head = world.submit(a_gang(pods(1, cpu=8)))
    assert world.plan(head) == 10
    world.tell(others(node0=3))
    assert world.plan(head) == 50
    assert "others took capacity on node0" in world.why(head)


def test_a_promise_that_needs_nothing_of_it_stays() -> None:
    world = World(pools(2, cpu=8), CONSERVATIVE)
    world.submit(a_gang(pods(1, cpu=8)).lasting(10))
    world.submit(a_gang(pods(1, cpu=4)).lasting(50))
    head = world.submit(a_gang(pods(1, cpu=8)))
    world.tell(others(node1=4))
    assert world.promised(head) == [10]


def test_a_promise_is_lost_when_others_take_all_of_its_room_and_made_anew_when_they_go() -> None:
    world = World(pools(1, cpu=8))
    world.submit(a_gang(pods(1, cpu=8)).lasting(10))
    head = world.submit(a_gang(pods(1, cpu=8)))
    world.tell(others(node0=1))
    assert world.promised(head) == [10, None]
    world.tell(others(node0=0))
    assert world.plan(head) == 10


def test_a_promise_moves_earlier_when_others_leave() -> None:
    world = World(pools(2, cpu=8))
    world.tell(others(node0=1))
    world.submit(a_gang(pods(1, cpu=7)).lasting(10))
    world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    head = world.submit(a_gang(pods(1, cpu=8)))
    assert world.plan(head) == 50
    world.tell(others(node0=0))
    assert world.plan(head) == 10


def test_backfill_uses_what_others_leave_and_nothing_of_a_promise() -> None:
    world = World(pools(2, cpu=8))
    world.submit(a_gang(pods(2, cpu=6)).lasting(20))
    head = world.submit(a_gang(pods(2, cpu=8)).lasting(20))
    world.tell(others(node1=0))
    long, short = world.submit_together(
        a_gang(pods(1, cpu=2)).lasting(30), a_gang(pods(1, cpu=2)).lasting(20)
    )
    assert world.plan(head) == 20
    assert world.starts(long, short) == [None, 0]


def test_mixed_gangs_keep_their_promises_beside_others() -> None:
    world = World(pools(3, cpu=8, gpu=1), CONSERVATIVE)
    world.submit(a_gang(pods(2, cpu=6), pods(1, gpu=1)).lasting(10))
    head = world.submit(a_gang(pods(3, cpu=8)).lasting(10))
    behind = world.submit(a_gang(pods(1, cpu=8), pods(1, cpu=2, gpu=1)).lasting(20))
    assert world.plans(head, behind) == [10, 20]
    world.tell(others(node2=6))
    assert world.plans(head, behind) == [None, 10]
    world.tell(others(node2=0))
    assert world.start(behind) == 0
    assert world.plan(head) == 20


# -- collisions ------------------------------------------------------------------------------------


def test_a_job_whose_capacity_others_took_goes_on_and_no_other_starts_there() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=6)).lasting(50))
    world.tell(others(node0=5))
    next_ = world.submit(a_gang(pods(1, cpu=6)).lasting(50))
    last = world.submit(a_gang(pods(1, cpu=2)).lasting(50))
    assert world.state(job) is JobState.RUNNING
    assert [world.nodes(each) for each in (next_, last)] == [["node1"], ["node1"]]


def test_what_a_job_gives_back_that_others_took_is_there_for_no_job() -> None:
    world = World(pools(1, cpu=8))
    job = world.submit(a_gang(pods(2, cpu=4)).lasting(50))
    world.tell(others(node0=5))
    waits = world.submit(a_gang(pods(1, cpu=4)))
    world.end(job)
    assert world.start(waits) is None
    world.tell(others(node0=4))
    assert world.start(waits) == 0


def test_an_overcommitted_node_takes_no_room_from_another_one() -> None:
    world = World(pools(2, cpu=8))
    both = world.submit(a_gang(pods(2, cpu=8)).lasting(50))
    world.tell(others(node0=8))
    world.end(both)
    on_it = world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    assert world.nodes(on_it) == ["node1"]


def test_counting_goes_on_once_nothing_is_overcommitted_any_more() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=4)).lasting(50))
    other = world.submit(a_gang(pods(1, cpu=4)).lasting(50))
    world.tell(others(node0=3))
    assert not world.queue.plans_by_counting
    world.end(job)
    assert world.queue.plans_by_counting == world.way.counts
    assert world.state(other) is JobState.RUNNING
    assert world.starts(*world.submit_together(*3 * [a_gang(pods(1, cpu=4))])) == [0, 0, None]


# -- the graph changes -----------------------------------------------------------------------------


def test_what_others_hold_is_known_on_another_graph() -> None:
    world = World(pools(3, cpu=8))
    world.tell(others(node0=8, node2=5))
    world.matcher.remove("/cluster0/node1")
    world.tell(GraphChanged(Reason.from_text("node1 was removed")))
    assert world.nodes(world.submit(a_gang(pods(1, cpu=3)))) == ["node2"]
    assert world.start(world.submit(a_gang(pods(1, cpu=8)))) is None
