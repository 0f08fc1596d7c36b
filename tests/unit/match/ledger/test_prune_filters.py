"""Prune filters: who keeps count of what, and in which order."""

from __future__ import annotations

import pytest

from fluxnetes.graph.columns import BUILTIN_TYPES, Interner
from fluxnetes.match.ledger.prune_filters import FilterError, parse_filters

TYPES = Interner([*BUILTIN_TYPES, "memory", "licence"])


def kept(text: str, vertex_type: str, leaves: tuple[str, ...] = ()) -> list[str]:
    """The types that a vertex of a type keeps count of, by name and in order."""
    return [TYPES.names[number] for number in parse_filters(text, leaves).of(vertex_type, TYPES)]


def test_without_filters_cores_and_nodes_are_counted_everywhere() -> None:
    assert kept("", "rack") == kept("ALL:core,ALL:node", "rack") == ["core", "node"]


def test_a_vertex_counts_its_own_filters_first_then_the_general_ones() -> None:
    assert kept("ALL:core,rack:memory", "rack") == ["memory", "core"]
    assert kept("ALL:core,rack:memory", "node") == ["core"]


def test_within_each_part_types_are_in_the_order_in_which_they_were_first_seen() -> None:
    assert kept("ALL:memory,ALL:gpu,ALL:core", "rack") == ["core", "gpu", "memory"]


def test_no_vertex_counts_its_own_type() -> None:
    assert kept("ALL:core,ALL:node", "node") == ["core"]
    assert kept("node:node", "node") == []


def test_a_cluster_counts_every_leaf_type_unasked() -> None:
    leaves = ("core", "memory", "licence")
    assert kept("ALL:core", "cluster", leaves) == ["memory", "licence", "core"]
    assert kept("ALL:core", "rack", leaves) == ["core"]


def test_a_leaf_type_that_some_filter_names_is_not_added_to_the_cluster() -> None:
    assert kept("node:memory", "cluster", ("memory", "gpu")) == ["gpu"]


def test_a_type_counted_everywhere_is_not_counted_twice() -> None:
    assert kept("rack:core,ALL:core", "rack") == ["core"]
    assert kept("ALL:core,rack:core", "rack") == ["core"]


def test_a_type_that_the_graph_does_not_have_is_not_counted() -> None:
    assert kept("ALL:fpga,ALL:core", "rack") == ["core"]


def test_blanks_around_words_do_not_matter() -> None:
    assert kept(" ALL : core , rack : gpu ", "rack") == ["gpu", "core"]


def test_tracked_is_all_that_any_filter_counts() -> None:
    assert parse_filters("ALL:core,rack:gpu", ("memory",)).tracked == {"core", "gpu", "memory"}


@pytest.mark.parametrize("text", ["core", "ALL:", ":core", "ALL:core,", ",", "ALL"])
def test_what_is_no_filter_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(FilterError, match="expected HIGH:LOW, for example ALL:core"):
        parse_filters(text)
