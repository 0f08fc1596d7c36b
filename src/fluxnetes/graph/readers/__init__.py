"""Readers: texts that describe a machine into a resource graph.

| format | text | reader |
|---|---|---|
| grug | GraphML recipe | `grug` |
| jgf, jgf_shorthand | JSON Graph Format | `jgf` |
| rv1exec, rv1exec_force | RFC 20 R | `rv1` |
| hwloc | hwloc XML of one machine | `hwloc` |

The modules that know a format are imported when it is first asked for. Whatever is wrong with a
text is a `GraphError`.
"""

from __future__ import annotations

from collections.abc import Collection

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.patch import CONTAINMENT

__all__ = ["FORMATS", "read_graph"]

FORMATS = ("grug", "jgf", "jgf_shorthand", "rv1exec", "rv1exec_force", "hwloc")


def read_graph(
    text: bytes | str, format: str, *, allowlist: Collection[str] | None = None
) -> ResourceGraph:
    """The graph that `text` describes; `allowlist` limits the types that hwloc gives."""
    graph = _load(text, format, allowlist)
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
