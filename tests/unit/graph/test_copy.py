"""A copy of a graph: equal in all that can be asked, and with nothing in common that changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from fluxnetes.graph.columns import Interner, ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.pools import pool_graph
from fluxnetes.graph.topology import Topology
from fluxnetes.graph.writers.whole import write_graph

NODE = 2


def a_graph() -> ResourceGraph:
    """A bit of everything: names, paths, properties, two subsystems, rows that are gone."""
    graph = pool_graph(
        {"a": {"cpu": 8, "memory": 16}, "b": {"cpu": 4}, "c": {"cpu": 2}},
        shared={"licence": 3},
        properties={"a": {"zone": "east", "fast": ""}},
    )
    patch = GraphPatch(graph)
    pdu = patch.vertex("pdu", id=0)
    patch.paths["power"] = {pdu: "/pdu0"}
    patch.edge(pdu, NODE, "power")
    graph.apply(patch)
    graph.remove(graph.find_path("/cluster0/c"))
    graph.set_status(NODE, up=False)
    graph.set_closed(NODE, closed=True)
    graph.set_occupied(graph.find_path("/cluster0/a/cpu0"), 5)
    graph.topology("power")
    return graph


def everything(graph: ResourceGraph) -> dict[str, object]:
    """All that a graph can be asked, but for what is computed from it when it is asked."""
    found: dict[str, object] = {
        "jgf": write_graph(graph),
        "paths": [graph.paths(row) for row in range(graph.vertex_count)],
        "found": [graph.find_path(path) for path in ("/cluster0/a/cpu0", "/pdu0", "/cluster0/c")],
        "ranks": [graph.vertices_of_rank(rank).tolist() for rank in (0, 1)],
        "version": graph.version,
    }
    for name, value in vars(graph).items():
        if isinstance(value, np.ndarray):
            found[name] = (value.dtype, value.tolist())
        elif isinstance(value, Interner):
            found[name] = tuple(value.names)
    return found


CHANGES: dict[str, Callable[[ResourceGraph], None]] = {
    "down": lambda graph: graph.set_status(0, up=False),
    "closed": lambda graph: graph.set_closed(0, closed=True),
    "others": lambda graph: graph.set_occupied(graph.find_path("/cluster0/b/cpu0"), 1),
    "size": lambda graph: graph.set_size(graph.find_path("/cluster0/b/cpu0")[0], 77),
    "label": lambda graph: graph.set_property(NODE, "fast", "no"),
    "no label": lambda graph: graph.remove_property(NODE, "zone"),
    "node": lambda graph: grow(graph),
    "no node": lambda graph: graph.remove(graph.find_path("/cluster0/b")),
}


def grow(graph: ResourceGraph) -> None:
    patch = GraphPatch(graph)
    node = patch.vertex("node", id=9, name="d", unit="box", properties={"new": ""})
    patch.edge(0, node)
    patch.edge(node, patch.vertex("quantum", id=0))
    patch.paths["network"] = {node: "/d"}
    graph.apply(patch)


def test_a_copy_answers_as_the_graph_does() -> None:
    graph = a_graph()
    assert everything(graph.copy()) == everything(graph)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_happens_to_one_does_not_happen_to_the_other(
    change: Callable[[ResourceGraph], None],
) -> None:
    graph = a_graph()
    before = everything(graph)
    copy = graph.copy()
    change(copy)
    assert everything(graph) == before
    assert everything(copy) != before
    again = graph.copy()
    change(graph)
    assert everything(again) == before
    assert everything(graph) == everything(copy)


def test_they_have_nothing_in_common_that_changes() -> None:
    graph = a_graph()
    everything(graph)  # fills whatever is kept for the next question
    copy = graph.copy()
    everything(copy)
    mine, theirs = list(changeable(vars(graph))), list(changeable(vars(copy)))
    assert {id(value) for value in mine}.isdisjoint(id(value) for value in theirs)
    arrays = [[v for v in all if isinstance(v, np.ndarray)] for all in (mine, theirs)]
    assert not any(np.shares_memory(one, other) for one in arrays[0] for other in arrays[1])


def changeable(value: object) -> Iterator[object]:
    """All that can be changed in a value, and the value. A topology never is."""
    if isinstance(value, dict | list | np.ndarray | Interner):
        yield value
    if isinstance(value, Topology):
        return
    parts: object = vars(value) if isinstance(value, Interner) else value
    if isinstance(parts, dict):
        parts = list(parts.values())
    if isinstance(parts, list | tuple):
        for part in parts:
            yield from changeable(part)


def test_a_graph_of_which_only_the_root_is_left_still_has_it_in_a_copy() -> None:
    graph = pool_graph({"a": {}, "b": {}})
    graph.topology()
    graph.remove([1, 2])
    assert graph.copy().topology().vertex.tolist() == [0]
