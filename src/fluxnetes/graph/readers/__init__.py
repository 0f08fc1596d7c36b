"""Readers: text that describes a cluster or a machine to a `ResourceGraph`.

| format | text | reader |
|---|---|---|
| grug | GraphML recipe | `grug` |
| jgf, jgf_shorthand | JSON Graph Format | `jgf` |
| rv1exec, rv1exec_force | RFC 20 R | `rv1` |
| hwloc | hwloc XML of one machine | `hwloc` |

Each format has one module that decodes its text to values, and one that makes a graph of them:

- `grug_recipe` (GraphML to a recipe), `grug_paths` (paths while it grows), `grug` (recipe to graph)
- `jgf_json` (the JSON), `jgf_document` (JSON to columns), `jgf` (columns to a graph, or added to
  one), `jgf_selection` (columns to the vertices of an existing graph that a job holds)
- `rv1_document` (the JSON), `rv1` (to a graph, or to the vertices of one that a job holds)
- `hwloc_objects` (XML to objects), `hwloc` (objects to graph)
- `xmltree`: the XML parser of `grug_recipe` and `hwloc_objects`

`read_graph` imports the modules of a format at its first use. Every error in a text is a
`GraphError`.
"""

from __future__ import annotations

from collections.abc import Collection

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.limits import check_total
from fluxnetes.graph.patch import CONTAINMENT

__all__ = ["FORMATS", "read_graph"]

FORMATS = ("grug", "jgf", "jgf_shorthand", "rv1exec", "rv1exec_force", "hwloc")


def read_graph(
    text: bytes | str, format: str, *, allowlist: Collection[str] | None = None
) -> ResourceGraph:
    """The graph that `text` describes; `allowlist` limits the types read from hwloc XML."""
    graph = _load(text, format, allowlist)
    check_total(graph.size)
    graph.topology(_dominant_subsystem(graph))
    return graph


def _load(text: bytes | str, format: str, allowlist: Collection[str] | None) -> ResourceGraph:
    match format:
        case "grug":
            from fluxnetes.graph.readers.grug import load_grug

            return load_grug(text)
        case "jgf" | "jgf_shorthand":
            from fluxnetes.graph.readers.jgf import load_jgf

            return load_jgf(text)
        case "rv1exec" | "rv1exec_force":
            from fluxnetes.graph.readers.rv1 import load_rv1

            return load_rv1(text)
        case "hwloc":
            from fluxnetes.graph.readers.hwloc import load_hwloc

            return load_hwloc(text, allowlist)
    raise GraphError(f"unknown graph format {format!r}; known are {', '.join(FORMATS)}")


def _dominant_subsystem(graph: ResourceGraph) -> str:
    """Containment, or the first subsystem that has edges where nothing is contained in anything."""
    if graph.edge_count == 0:
        return CONTAINMENT
    return graph.subsystems.names[int(graph.edge_subsystem.min())]
