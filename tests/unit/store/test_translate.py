"""Allocations find their vertices on another graph, by path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.pools import add_pools, pool_graph
from fluxnetes.jobspec.build import jobspec, node, res, slot
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Allocation, Snapshot
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.events import Started, Submit, TaskEnded
from fluxnetes.queue.jobs import Request, Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.store.system import StoredSystem
from fluxnetes.store.translate import NOWHERE, TranslatedSnapshot, translate
from tests.property.profile import examples
from tests.unit.queue.keeper import Keeper
from tests.unit.store.plain import plain
from tests.unit.store.systems import read_back

AMOUNTS = {"cpu": 4000, "memory": 100}


def cluster(*names: str, zones: dict[str, str] | None = None) -> ResourceGraph:
    return pool_graph(dict.fromkeys(names, AMOUNTS), zones=zones, shared={"licence": 10})


def gang(*pods: int, cpu: int = 3000) -> Gang:
    """Pods of one shape for each number; no two fit on one node."""
    return Gang(tuple(Shape.of(count, {"cpu": cpu}) for count in pods), (("licence", 1),))


def queue_on(graph: ResourceGraph, *requests: Request, ended: Iterable[int] = ()) -> Snapshot:
    """Jobs 1, 2, ... run on a graph; of the first some tasks have ended."""
    scheduler, keeper = Scheduler(Matcher(graph, policy="lonode"), SchedulerConfig()), Keeper()
    for id, request in enumerate(requests, 1):
        scheduler.apply(Submit(Submission(id, request, walltime=60)), 0)
    scheduler.cycle(0)
    for id in range(1, len(requests) + 1):
        scheduler.apply(Started(id), 0)
    for task in ended:
        scheduler.apply(TaskEnded(1, task), 0)
    keeper.fold(scheduler.take_changes())
    snapshot = keeper.snapshot()
    assert len(snapshot.allocations) == len(requests)
    return snapshot


def held(
    allocation: Allocation, graph: ResourceGraph, system: StoredSystem | None = None
) -> object:
    """What an allocation says, with paths for rows."""

    def path(row: int) -> str | None:
        if system is not None and row >= 0:
            return system.graph.path(int(np.flatnonzero(system.rows == row)[0]))
        return graph.path(row) if row >= 0 else None

    placed = allocation.placement
    columns = (placed.depth, placed.needs, placed.exclusive)
    return (
        [*map(path, placed.vertex.tolist())],
        [*map(path, placed.parent.tolist())],
        [column.tolist() for column in columns],
        {path(row): label for row, label in placed.labels.items()},
        [[*map(path, seats.each())] for seats in allocation.seats],
        [*map(path, allocation.task_nodes(graph))],
        sorted(allocation.ended_tasks),
    )


def test_the_same_numbering_is_left_as_it_is() -> None:
    graph = cluster("a", "b", "c")
    snapshot = queue_on(graph, gang(2), jobspec(slot(1, node(1))))
    for other in (graph, cluster("a", "b", "c"), cluster("a", "b", "c", "d")):
        assert translate(snapshot, read_back(graph), other).snapshot is snapshot


def test_nodes_in_another_order_are_found() -> None:
    graph, other = cluster("a", "b", "c"), cluster("c", "b", "a")
    snapshot = queue_on(graph, gang(1, 1), jobspec(slot(1, node(1, res("cpu", 500)))))
    found = translate(snapshot, read_back(graph), other)
    assert found.lost == ()
    for before, after in zip(snapshot.allocations, found.snapshot.allocations, strict=True):
        assert held(after, other) == held(before, graph)
    rows = [a.placement.vertex.tolist() for a in found.snapshot.allocations]
    assert rows != [a.placement.vertex.tolist() for a in snapshot.allocations]


def test_what_need_not_move_is_the_same_object() -> None:
    """So the store sees what it has to write again."""
    graph, other = cluster("a", "b", "c"), cluster("a", "c", "b")
    snapshot = queue_on(graph, *[Gang((Shape.of(1, {"cpu": 3000}),))] * 3)
    found = translate(snapshot, read_back(graph), other).snapshot
    pairs = zip(found.allocations, snapshot.allocations, strict=True)
    assert sorted(after is before for after, before in pairs) == [False, False, True]


def test_tasks_keep_their_numbers_where_the_order_of_nodes_changes() -> None:
    graph, other = cluster("a", "b", "c"), cluster("c", "b", "a")
    snapshot = queue_on(graph, jobspec(slot(3, node(1))))
    [after] = translate(snapshot, read_back(graph), other).snapshot.allocations
    assert other.names(np.array(after.task_nodes(other))) == ["a", "b", "c"]
    assert after.ended_tasks == frozenset()


def test_tasks_that_ended_stay_ended() -> None:
    graph, other = cluster("a", "b", "c"), cluster("c", "b", "a")
    snapshot = queue_on(graph, gang(3), ended=[1])
    [before] = snapshot.allocations
    [after] = translate(snapshot, read_back(graph), other).snapshot.allocations
    assert held(after, other) == held(before, graph)
    assert after.ended_tasks == {1}


def test_a_graph_with_removed_vertices_is_read_back_with_other_rows() -> None:
    graph = cluster("a", "b", "c")
    graph.remove(graph.find_path("/cluster0/a"))
    system = read_back(graph)
    assert system.graph.vertex_count < graph.vertex_count
    snapshot = queue_on(graph, gang(2), jobspec(slot(1, res("cpu", 100))))
    found = translate(snapshot, system, system.graph)
    assert found.lost == ()
    for before, after in zip(snapshot.allocations, found.snapshot.allocations, strict=True):
        assert held(after, system.graph) == held(before, graph)
    resumed(found, system.graph)


def test_nodes_that_came_later_have_rows_of_the_writer() -> None:
    graph = cluster("a", "b")
    patch = GraphPatch(graph)
    new = patch.vertex("node", id=2, name="c", rank=2)
    patch.edge(0, new)
    add_pools(patch, new, AMOUNTS)
    graph.apply(patch)
    graph.remove(graph.find_path("/cluster0/a"))
    snapshot = queue_on(graph, gang(2))
    other = cluster("c", "b")
    found = translate(snapshot, read_back(graph), other)
    assert held(found.snapshot.allocations[0], other) == held(snapshot.allocations[0], graph)


def test_a_job_whose_node_is_gone_is_named_and_keeps_the_rest() -> None:
    graph, other = cluster("a", "b", "c", "d"), cluster("d", "c", "a")
    snapshot = queue_on(graph, gang(2, 1), gang(1))
    found = translate(snapshot, read_back(graph), other)
    assert found.lost == (1,)
    after = found.snapshot.allocations[0]
    assert {other.name(row) for row in after.task_nodes(other) if row >= 0} == {"a", "c"}
    assert [task for task, row in enumerate(after.task_nodes(other)) if row == NOWHERE] == [1]
    assert after.ended_tasks == {1}
    assert sum(int(seats.pods.sum()) for seats in after.seats) == 3
    assert (after.placement.vertex >= 0).all()
    resumed(found, other)


def test_a_node_of_a_jobspec_that_is_gone_leaves_the_numbers_of_the_others() -> None:
    graph, other = cluster("a", "b", "c"), cluster("c", "a")
    snapshot = queue_on(graph, jobspec(slot(3, node(1))))
    [after] = translate(snapshot, read_back(graph), other).snapshot.allocations
    a, b, c = after.task_nodes(other)
    assert (other.name(a), b, other.name(c)) == ("a", NOWHERE, "c")
    assert after.ended_tasks == {1}


def test_a_node_that_was_removed_before_the_graph_was_written_is_gone() -> None:
    graph = cluster("a", "b", "c")
    snapshot = queue_on(graph, jobspec(slot(3, node(1))))
    graph.remove(graph.find_path("/cluster0/a"))
    found = translate(snapshot, read_back(graph), graph)
    assert found.lost == (1,)
    a, b, c = found.snapshot.allocations[0].task_nodes(graph)
    assert (a, graph.name(b), graph.name(c)) == (NOWHERE, "b", "c")


def test_a_job_that_has_nothing_left_is_named_and_holds_nothing() -> None:
    graph, other = cluster("a"), cluster("b")
    snapshot = queue_on(graph, jobspec(slot(1, node(1))))
    found = translate(snapshot, read_back(graph), other)
    assert found.lost == (1,)
    [after] = found.snapshot.allocations
    assert [other.path(row) for row in after.placement.vertex.tolist()] == ["/cluster0"]
    resumed(found, other)


def test_a_node_that_moved_to_another_zone_is_another_node() -> None:
    graph = cluster("a", "b", zones={"a": "east", "b": "west"})
    other = cluster("a", "b", zones={"a": "west", "b": "west"})
    snapshot = queue_on(graph, gang(2))
    assert translate(snapshot, read_back(graph), other).lost == (1,)


def test_labels_move_with_their_vertices() -> None:
    graph, other = cluster("a", "b", "c"), cluster("c", "a")
    snapshot = queue_on(graph, gang(3))
    [before] = snapshot.allocations
    rows = {name: graph.find_path(f"/cluster0/{name}")[0] for name in "ab"}
    amounts = {"used": "1"}
    placement = replace(
        before.placement,
        labels={row: f"label of {name}" for name, row in rows.items()},
        usage=dict.fromkeys(rows.values(), amounts),
    )
    labelled = replace(snapshot, allocations=(replace(before, placement=placement),))
    [after] = translate(labelled, read_back(graph), other).snapshot.allocations
    [a] = other.find_path("/cluster0/a")
    assert after.placement.labels == {a: "label of a"}
    assert after.placement.usage == {a: amounts}


def test_vertices_with_one_path_are_distinguished_by_rank() -> None:
    def twins(*ranks: int) -> ResourceGraph:
        graph = ResourceGraph()
        patch = GraphPatch(graph)
        root = patch.vertex("cluster", id=0)
        for rank in ranks:
            patch.edge(root, patch.vertex("node", id=0, rank=rank))
        graph.apply(patch)
        return graph

    graph, other = twins(0, 1), twins(1, 0)
    snapshot = queue_on(graph, jobspec(slot(1, node(1))))
    [after] = translate(snapshot, read_back(graph), other).snapshot.allocations
    [before] = snapshot.allocations
    assert other.rank[after.placement.vertex].tolist() == (
        graph.rank[before.placement.vertex].tolist()
    )


@examples(100)
@given(
    st.permutations("abcdef"),
    st.permutations("abcdef"),
    st.sets(st.sampled_from("abcdef"), max_size=3),
    st.sets(st.sampled_from("abcdef"), max_size=3),
)
def test_there_and_back_is_the_same_but_for_what_was_lost(
    mine: list[str], theirs: list[str], removed: set[str], gone: set[str]
) -> None:
    graph = cluster(*mine)
    for name in removed:
        graph.remove(graph.find_path(f"/cluster0/{name}"))
    snapshot = queue_on(graph, *[Gang((Shape.of(1, {"cpu": 3000}),))] * (6 - len(removed)))
    other = cluster(*(name for name in theirs if name not in gone))
    there = translate(snapshot, read_back(graph), other)
    where = {a.job: graph.name(a.task_nodes(graph)[0]) for a in snapshot.allocations}
    assert set(there.lost) == {job for job, name in where.items() if name in gone}
    back = translate(there.snapshot, read_back(other), graph)
    for before, after in zip(snapshot.allocations, back.snapshot.allocations, strict=True):
        if before.job not in there.lost:
            assert plain(after) == plain(before)


def test_a_queue_without_allocations_has_nothing_to_translate() -> None:
    snapshot = Snapshot(step=3)
    assert translate(snapshot, read_back(cluster("a")), cluster("b")) == TranslatedSnapshot(
        snapshot, ()
    )


def resumed(found: TranslatedSnapshot, graph: ResourceGraph) -> None:
    """A queue can go on from it."""
    jobs = tuple(replace(job) for job in found.snapshot.jobs)
    snapshot = replace(found.snapshot, jobs=jobs)
    Scheduler.resume(Matcher(graph), SchedulerConfig(), snapshot, now=0).cycle(0)


@pytest.mark.parametrize("name", ["a", "b"])
def test_nodes_that_are_down_are_down_when_read_back(name: str) -> None:
    graph = cluster("a", "b")
    graph.remove(graph.find_path("/cluster0/licence0"))
    graph.set_status(graph.find_path(f"/cluster0/{name}")[0], up=False)
    again = read_back(graph).graph
    assert [again.path(row) for row in np.flatnonzero(~again.up).tolist()] == [f"/cluster0/{name}"]
