"""Nodes come, go, grow and change while the queue runs."""

from __future__ import annotations

from collections.abc import Mapping

from fluxnetes.common.reasons import Reason
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.pools import add_pools
from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.queue.events import GraphChanged, Occupied, TasksEnded
from fluxnetes.queue.states import JobState
from tests.unit.queue.build import a_gang, pods, pools, with_property
from tests.unit.queue.world import World

CONSERVATIVE = QueueConfig(policy=BackfillPolicy.CONSERVATIVE)


def add_node(graph: ResourceGraph, name: str, **amounts: int) -> None:
    patch = GraphPatch(graph)
    node = patch.vertex("node", id=graph.vertex_count, name=name, rank=graph.vertex_count)
    patch.edge(0, node)
    add_pools(patch, node, amounts)
    graph.apply(patch)


def add_to_all(graph: ResourceGraph, amounts: Mapping[str, int]) -> None:
    patch = GraphPatch(graph)
    tree = graph.topology()
    for row in tree.vertex[graph.type_id[tree.vertex] == graph.types.get("node")].tolist():
        add_pools(patch, row, amounts)
    graph.apply(patch)


def remove(graph: ResourceGraph, *names: str) -> None:
    for name in names:
        graph.remove(graph.find_path(f"/cluster0/{name}"))


def resize(graph: ResourceGraph, path: str, size: int) -> None:
    [row] = graph.find_path(f"/cluster0/{path}")
    graph.set_size(row, size)


def test_a_node_that_comes_is_used_at_once() -> None:
    world = World(pools(1, cpu=8))
    world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    job = world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    assert world.plan(job) == 50
    add_node(world.graph, "new", cpu=8)
    world.tell(GraphChanged())
    assert world.nodes(job) == ["new"]


def test_a_job_that_was_too_large_starts_when_a_node_comes() -> None:
    world = World(pools(1, cpu=8))
    job = world.submit(a_gang(pods(2, cpu=8)))
    assert world.is_set_aside(job)
    add_node(world.graph, "new", cpu=8)
    world.tell(GraphChanged())
    assert world.nodes(job) == ["new", "node0"]


def test_jobs_on_a_node_that_vanished_are_ended_and_the_others_go_on() -> None:
    world = World(pools(3, cpu=8))
    lost = world.submit(a_gang(pods(2, cpu=8)).lasting(50).requeued_on_loss())
    other = world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    remove(world.graph, "node1")
    world.tell(GraphChanged(Reason.from_text("node1 is gone")))
    assert world.states(lost, other) == [JobState.ENDING, JobState.RUNNING]
    assert reason_text(world.job(lost).reason) == "node1 is gone"
    assert world.holds(lost) == {"cpu": 8}
    world.end(lost)
    assert (world.state(lost), world.job(lost).restarts) == (JobState.PENDING, 1)
    assert world.plan(lost) == 50


def test_a_job_that_does_not_say_so_fails() -> None:
    world = World(pools(1, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    remove(world.graph, "node0")
    world.tell(GraphChanged(Reason.from_text("node0 is gone")))
    world.end(job)
    assert world.state(job) is JobState.FAILED


def test_a_job_all_of_whose_tasks_there_had_ended_is_left_alone() -> None:
    world = World(pools(3, cpu=8))
    job = world.submit(a_gang(pods(4, cpu=4)).lasting(50))
    world.tell(TasksEnded(job, (0, 1)))
    remove(world.graph, "node0")
    world.tell(GraphChanged(Reason.from_text("node0 is gone")))
    assert (world.state(job), world.nodes(job)) == (JobState.RUNNING, ["node1"])
    assert world.nodes(world.submit(a_gang(pods(1, cpu=8)))) == ["node2"]


def test_a_node_of_the_same_name_is_another_node() -> None:
    world = World(pools(1, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=4)).lasting(50))
    remove(world.graph, "node0")
    add_node(world.graph, "node0", cpu=8)
    world.tell(GraphChanged(Reason.from_text("node0 is another one")))
    assert world.state(job) is JobState.ENDING
    assert world.nodes(world.submit(a_gang(pods(1, cpu=8)))) == ["node0"]


def test_nodes_that_come_and_go_at_one_time_keep_promises_where_they_can() -> None:
    world = World(pools(3, cpu=8), CONSERVATIVE)
    world.submit_together(*(a_gang(pods(1, cpu=8)).lasting(time) for time in (10, 20, 50)))
    head = world.submit(a_gang(pods(1, cpu=8)).lasting(30))
    behind = world.submit(a_gang(pods(2, cpu=8)).lasting(30))
    assert world.plans(head, behind) == [10, 40]
    remove(world.graph, "node2")
    add_node(world.graph, "new", cpu=4)
    world.tell(GraphChanged(Reason.from_text("node2 is gone")))
    assert world.plans(head, behind) == [10, 40]


def test_many_changes_before_a_cycle_are_one() -> None:
    world = World(pools(2, cpu=8))
    jobs = world.submit_together(*4 * [a_gang(pods(1, cpu=8)).lasting(50)])
    for number in range(3):
        add_node(world.graph, f"new{number}", cpu=8)
        world.queue.apply(GraphChanged(), world.now)
    remove(world.graph, "new1")
    world.tell(GraphChanged())
    assert world.starts(*jobs) == [0, 0, 0, 0]
    assert [world.nodes(job) for job in jobs[2:]] == [["new0"], ["new2"]]


# -- sizes -----------------------------------------------------------------------------------------


def test_a_node_that_grew_takes_more() -> None:
    world = World(pools(1, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=6)).lasting(50))
    waits = world.submit(a_gang(pods(1, cpu=4)))
    resize(world.graph, "node0/cpu0", 10)
    world.tell(GraphChanged())
    assert world.starts(job, waits) == [0, 0]
    assert world.state(world.submit(a_gang(pods(1, cpu=10)))) is JobState.PENDING


def test_a_node_that_shrank_below_what_its_jobs_hold_takes_nothing_and_they_go_on() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=6)).lasting(50))
    resize(world.graph, "node0/cpu0", 4)
    world.tell(GraphChanged(Reason.from_text("node0 is smaller")))
    assert world.state(job) is JobState.RUNNING
    small, large = world.submit_together(
        a_gang(pods(2, cpu=4)).lasting(50), a_gang(pods(2, cpu=5)).lasting(50)
    )
    assert world.nodes(small) == ["node1"]
    assert world.is_set_aside(large)
    world.go_to(20)
    world.end(job)
    assert world.start(world.submit(a_gang(pods(1, cpu=4)))) == 20


def test_a_promise_that_a_smaller_node_moves_has_the_reason() -> None:
    world = World(pools(2, cpu=8))
    world.submit(a_gang(pods(1, cpu=8)).lasting(10))
    world.submit(a_gang(pods(1, cpu=8)).lasting(50))
    head = world.submit(a_gang(pods(1, cpu=8)))
    assert world.plan(head) == 10
    resize(world.graph, "node0/cpu0", 7)
    world.tell(GraphChanged(Reason.from_text("node0 is smaller")))
    assert world.plan(head) == 50
    assert "node0 is smaller" in world.why(head)


# -- other things ----------------------------------------------------------------------------------


def test_pools_that_nodes_get_later_count_from_then_on() -> None:
    world = World(pools(2, cpu=8))
    job = world.submit(a_gang(pods(1, cpu=2)).lasting(50))
    early = world.submit(a_gang(pods(1, port=1)).lasting(20))
    assert world.why(early) == "there is no port here; it waits for nodes that can serve it"
    add_to_all(world.graph, {"port": 1})
    world.tell(GraphChanged())
    assert world.state(job) is JobState.RUNNING
    jobs = world.submit_together(*2 * [a_gang(pods(1, cpu=1, port=1)).lasting(50)])
    assert world.starts(early, *jobs) == [0, 0, None]
    world.tell(Occupied({"node0": {"port": 1}}))
    world.end(jobs[0])
    assert world.nodes(jobs[1]) == ["node1"]


def test_labels_that_change_are_seen() -> None:
    world = World(pools(2, cpu=8))
    [row] = world.graph.find_path("/cluster0/node1")
    world.graph.set_property(row, "fast", "")
    world.tell(GraphChanged())
    first = world.submit(a_gang(pods(1, cpu=8, on=with_property("fast"))).lasting(10))
    second = world.submit(a_gang(pods(1, cpu=8, on=with_property("fast"))).lasting(10))
    assert (world.nodes(first), world.plan(second)) == (["node1"], 10)
    [row] = world.graph.find_path("/cluster0/node0")
    world.graph.set_property(row, "fast", "")
    world.tell(GraphChanged())
    assert world.nodes(second) == ["node0"]
