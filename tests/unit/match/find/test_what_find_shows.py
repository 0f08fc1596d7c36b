"""What is shown around the vertices that a query finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.topology import Topology, build_topology
from fluxnetes.match.find.query import emitted

_EDGES = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (5, 6)]


def _tree(edges: list[tuple[int, int]]) -> Topology:
    sources, targets = (np.array(ends, dtype=np.int64) for ends in zip(*edges, strict=True))
    return build_topology(len(edges) + 1, 0, sources, targets)


def _shown(tree: Topology, found: set[int], within: set[int] | None = None) -> list[int]:
    matched = np.isin(tree.vertex, list(found))
    allowed = None if within is None else np.isin(tree.vertex, list(within))
    rows: list[int] = tree.vertex[emitted(matched, tree, allowed)].tolist()
    return rows


def test_a_match_is_shown_with_the_way_up_to_the_root_children_first() -> None:
    assert _shown(_tree(_EDGES), {4, 6}) == [4, 1, 6, 5, 2, 0]


def test_what_is_below_a_match_is_not_shown() -> None:
    assert _shown(_tree(_EDGES), {1}) == [1, 0]


def test_nothing_found_shows_nothing() -> None:
    assert _shown(_tree(_EDGES), set()) == []


def test_only_vertices_within_count_and_are_shown() -> None:
    tree = _tree(_EDGES)
    assert _shown(tree, {3, 6}, within={0, 1, 2, 5}) == []
    assert _shown(tree, set(range(7)), within={0, 1, 2, 5}) == [1, 5, 2, 0]


@st.composite
def _trees(draw: st.DrawFn) -> Topology:
    size = draw(st.integers(2, 20))
    return _tree([(draw(st.integers(0, child - 1)), child) for child in range(1, size)])


@given(_trees(), st.data())
def test_a_vertex_is_shown_exactly_if_it_or_something_below_it_matches(
    tree: Topology, data: st.DataObject
) -> None:
    matched = np.array(data.draw(st.lists(st.booleans(), min_size=len(tree), max_size=len(tree))))
    shown = emitted(matched, tree).tolist()
    expected = {at for at in range(len(tree)) if matched[tree.subtree(at)].any()}
    assert set(shown) == expected
    assert len(shown) == len(expected)
    order = {at: place for place, at in enumerate(shown)}
    assert all(order[at] < order[int(tree.parent[at])] for at in shown if at)
