"""From what a request names to all that its job holds, against a plain closure."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.topology import Topology, build_topology
from fluxnetes.match.engine.closure import (
    VertexSelection,
    among,
    ancestors,
    distinct,
    hold,
    propagate_down,
)
from tests.property.profile import examples
from tests.unit.match.clusters import cluster, cores, nodes, parent_lists, racks


def tree_of(parents: list[int]) -> Topology:
    sources = np.array(parents, np.int64)
    return build_topology(len(parents) + 1, 0, sources, np.arange(1, len(parents) + 1))


def above(tree: Topology, position: int) -> list[int]:
    """The ancestors of a position, nearest first."""
    parent = int(tree.parent[position])
    return [] if parent < 0 else [parent, *above(tree, parent)]


def selection(rows: list[tuple[int, int, bool]]) -> VertexSelection:
    position, needs, exclusive = (np.array([r[i] for r in rows]) for i in range(3))
    return VertexSelection(
        position.astype(np.int64), needs.astype(np.int64), exclusive.astype(np.bool_)
    )


@st.composite
def choices(draw: st.DrawFn) -> tuple[Topology, list[tuple[int, int, bool]], list[bool]]:
    tree = tree_of(draw(parent_lists(15)))
    some = st.tuples(st.integers(0, len(tree) - 1), st.integers(1, 3), st.booleans())
    rows = draw(st.lists(some, min_size=1, max_size=6))
    whole = draw(st.lists(st.booleans(), min_size=len(tree), max_size=len(tree)))
    return tree, rows, whole


@examples(300)
@given(choices())
def test_a_job_holds_the_exclusive_the_whole_and_shares_all_above(
    choice: tuple[Topology, list[tuple[int, int, bool]], list[bool]],
) -> None:
    tree, rows, whole = choice
    size = np.arange(len(tree)) + 10
    mine: dict[int, int] = {}
    for position, needs, exclusive in rows:
        if exclusive:
            mine[position] = mine.get(position, 0) + needs
    for position, _, _ in rows:
        for used in (position, *above(tree, position)):
            if whole[used]:
                mine.update({p: int(size[p]) for p in range(used, int(tree.end[used]))})
    shared = {p for m in mine for p in above(tree, m)} - set(mine)
    found = hold(tree, size, np.array(whole), selection(rows))
    if not mine:
        assert found is None
        return
    assert found is not None
    assert found.position.tolist() == sorted(set(mine) | shared)
    held = zip(found.position.tolist(), found.needs.tolist(), found.exclusive.tolist(), strict=True)
    assert list(held) == [
        (p, mine.get(p, int(size[p])), p in mine) for p in sorted(set(mine) | shared)
    ]


@examples(100)
@given(parent_lists(20), st.data())
def test_marks_are_handed_down_to_all_below(parents: list[int], data: st.DataObject) -> None:
    tree = tree_of(parents)
    marked = [data.draw(st.integers(0, 4)) == 0 for _ in range(len(tree))]
    expected = [marked[p] or any(marked[q] for q in above(tree, p)) for p in range(len(tree))]
    assert propagate_down(tree, np.array(marked)).tolist() == expected


@examples(100)
@given(parent_lists(20), st.data())
def test_ancestors_are_all_above_each_once(parents: list[int], data: st.DataObject) -> None:
    tree = tree_of(parents)
    some = data.draw(st.lists(st.integers(0, len(tree) - 1), max_size=5))
    expected = sorted({q for p in some for q in above(tree, p)})
    assert ancestors(tree, np.array(some, np.int64)).tolist() == expected


@examples(100)
@given(st.lists(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_short_sets_are_sets(numbers: list[int], some: set[int]) -> None:
    column = np.array(numbers, np.int64)
    assert distinct(column).tolist() == sorted(set(numbers))
    assert among(column, np.array(sorted(some), np.int64)).tolist() == [n in some for n in numbers]


def test_a_shared_vertex_with_nothing_held_below_it_is_not_part_of_the_job() -> None:
    graph = cluster(*racks(1, *nodes(2, *cores(1))))
    tree = graph.topology()
    found = hold(tree, graph.size, None, selection([(2, 1, False), (5, 1, True)]))
    assert found is not None
    assert [graph.path(int(tree.vertex[p])) for p in found.position] == [
        "/cluster0",
        "/cluster0/rack0",
        "/cluster0/rack0/node1",
        "/cluster0/rack0/node1/core0",
    ]
