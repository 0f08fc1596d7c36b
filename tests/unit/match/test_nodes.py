"""Nodes by name: which go down, which are closed, and what others hold of them."""

from __future__ import annotations

import numpy as np
import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.pools import add_pools, pool_graph
from fluxnetes.jobspec.build import jobspec, res, slot
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.planning import Planning


def planning_of(graph: ResourceGraph) -> Planning:
    return Planning(Matcher(graph, policy="low"))


def three() -> ResourceGraph:
    return pool_graph({f"n{number}": {"cpu": 8, "memory": 16} for number in range(3)})


def cpus(count: int, each: int) -> Gang:
    return Gang((Shape.of(count, {"cpu": each}),))


def nodes_for(planning: Planning, asked: Gang | Jobspec) -> list[str] | None:
    """Where a request would go now."""
    found = planning.find_now_if_nothing_were_booked(asked)
    if found is None:
        return None
    placement = planning.engine.placement(found.held, 0, 1, None)
    return planning.nodes.names(planning.nodes.of(placement))


def test_a_gang_goes_where_others_leave_room_and_follows_every_change() -> None:
    planning = planning_of(three())
    assert nodes_for(planning, cpus(1, 8)) == ["n0"]
    planning.nodes.occupy({"n0": {"cpu": 1}, "n1": {"cpu": 8}})
    assert nodes_for(planning, cpus(1, 8)) == ["n2"]
    planning.nodes.occupy({"n0": {}})
    assert nodes_for(planning, cpus(1, 8)) == ["n0"]


def test_so_does_a_jobspec() -> None:
    planning = planning_of(three())
    asked = jobspec(slot(1, res("cpu", 8)))
    assert nodes_for(planning, asked) == ["n0"]
    planning.nodes.occupy({"n0": {"cpu": 1}, "n1": {"cpu": 8}})
    assert nodes_for(planning, asked) == ["n2"]
    planning.nodes.occupy({"n0": {}})
    assert nodes_for(planning, asked) == ["n0"]


def test_later_is_not_free_either_where_others_are() -> None:
    planning = planning_of(three())
    planning.nodes.occupy({"n0": {"cpu": 1}, "n1": {"cpu": 2}, "n2": {"cpu": 3}})
    assert planning.find_later(cpus(3, 6), 100, 200) is None
    assert planning.find_later(cpus(2, 6), 100, 200) is not None


def test_no_request_is_judged_by_what_others_hold() -> None:
    planning = planning_of(three())
    planning.nodes.occupy({f"n{number}": {"cpu": 8} for number in range(3)})
    assert reason_text(planning.judge(cpus(3, 8))) == ""
    assert (
        reason_text(planning.judge(cpus(1, 9)))
        == "needs 9 cpu on one node; the most that one has is 8"
    )
    assert planning.totals()["cpu"] == 24


def test_the_answer_says_what_became_less_and_what_more() -> None:
    planning = planning_of(three())
    planning.nodes.occupy({"n0": {"cpu": 4}, "n1": {"cpu": 4}})
    shift = planning.nodes.occupy({"n0": {"cpu": 5}, "n1": {"cpu": 4}, "n2": {"memory": 1}})
    assert planning.nodes.owning(shift.less) == ["n0", "n2"]
    assert len(shift.more) == 0
    shift = planning.nodes.occupy({"n1": {"memory": 3}, "nowhere": {"cpu": 3}})
    assert [planning.nodes.owning(each) for each in (shift.less, shift.more)] == [["n1"], ["n1"]]


def test_who_holds_more_than_there_is_holds_all_of_it() -> None:
    planning = planning_of(three())
    planning.nodes.occupy({"n0": {"cpu": 100}})
    shift = planning.nodes.occupy({"n0": {"cpu": 9}})
    assert not len(shift.less) and not len(shift.more)
    assert planning.capacity(cpus(1, 1)) == 16


@pytest.mark.parametrize("each", [1, 2, 3, 5, 8])
def test_units_are_counted_as_one_by_one_they_fit(each: int) -> None:
    planning = planning_of(three())
    planning.nodes.occupy({"n0": {"cpu": 3}, "n1": {"memory": 9}, "n2": {"cpu": 9}})
    planning.nodes.close(planning.nodes.named(["n2"]), closed=True)
    shape = Shape.of(1, {"cpu": each, "memory": 2})
    counted = planning.capacity(Gang((shape,)))
    fits = [
        planning.find_now_if_nothing_were_booked(Gang((Shape(count, shape.amounts),))) is not None
        for count in range(1, counted + 3)
    ]
    assert fits == [count <= counted for count in range(1, counted + 3)]


def test_a_closed_node_takes_nothing_new_and_counts_where_it_is_judged() -> None:
    planning = planning_of(three())
    planning.nodes.close(planning.nodes.named(["n0", "n1"]), closed=True)
    assert nodes_for(planning, cpus(1, 1)) == ["n2"]
    assert planning.find_later(cpus(2, 8), 100, 200) is None
    assert reason_text(planning.judge(cpus(3, 8))) == ""
    planning.nodes.close(planning.nodes.named(["n1"]), closed=False)
    assert nodes_for(planning, cpus(1, 1)) == ["n1"]


def test_a_node_that_is_closed_and_down_is_usable_once_it_is_open_and_up() -> None:
    planning = planning_of(three())
    n0 = planning.nodes.named(["n0"])
    planning.nodes.close(n0, closed=True)
    planning.nodes.mark(n0, up=False)
    planning.nodes.close(n0, closed=False)
    assert nodes_for(planning, cpus(1, 8)) == ["n1"]
    planning.nodes.close(n0, closed=True)
    planning.nodes.mark(n0, up=True)
    assert nodes_for(planning, cpus(1, 8)) == ["n1"]
    planning.nodes.close(n0, closed=False)
    assert nodes_for(planning, cpus(1, 8)) == ["n0"]


def test_a_new_shape_of_the_graph_changes_nothing_of_it() -> None:
    graph = three()
    planning = planning_of(graph)
    planning.nodes.occupy({"n0": {"cpu": 1}})
    planning.nodes.close(planning.nodes.named(["n1"]), closed=True)
    patch = GraphPatch(graph)
    node = patch.vertex("node", id=3, name="n3", rank=3)
    patch.edge(0, node)
    add_pools(patch, node, {"cpu": 8, "memory": 16})
    graph.apply(patch)
    assert nodes_for(planning, cpus(2, 8)) == ["n2", "n3"]


def test_only_pools_can_be_held_in_part_or_change_their_size() -> None:
    graph = three()
    with pytest.raises(GraphError, match="n0 is not a pool"):
        graph.set_occupied(np.flatnonzero(graph.type_id == graph.types.get("node")), 1)
    with pytest.raises(GraphError, match="n0 is not a pool"):
        graph.set_size(int(np.flatnonzero(graph.type_id == graph.types.get("node"))[0]), 2)


def test_a_pool_that_changed_its_size_is_judged_by_the_new_one() -> None:
    graph = three()
    planning = planning_of(graph)
    assert reason_text(planning.judge(cpus(1, 10))) != ""
    pool = next(row for row in range(graph.vertex_count) if graph.path(row) == "/cluster0/n1/cpu0")
    graph.set_size(pool, 10)
    planning.nodes.occupy({"n1": {"cpu": 1}})
    assert reason_text(planning.judge(cpus(1, 10))) == ""
    assert nodes_for(planning, cpus(1, 9)) == ["n1"]
    with pytest.raises(GraphError, match="a pool of -1 cpu: expected 0 to"):
        graph.set_size(pool, -1)
