"""Writers: a `Placement` to text, as indented lines, as a graph, or as a Flux resource set.

| format | content | consumer | module |
|---|---|---|---|
| `simple`, `pretty_simple` | an indented line per vertex, root last or first | users | `simple` |
| `jgf` | the placed part of the graph, nodes and edges, as JSON | tools | `jgf` |
| `rlite` | the cores and gpus on each rank, nothing else | Flux's job shell | `rlite` |
| `rv1_nosched` | `rlite` with hosts, properties and times: R (RFC 20) | Flux | `rv1` |
| `rv1` | the same with the `jgf` inside, for a scheduler that restarts | Flux | `rv1` |
| `jgf_shorthand`, `rv1_shorthand` | without what an exclusive vertex implies | Flux, at scale | |

Two more modules: `jsontext` (JSON spaced as the reference's) and `whole` (a whole graph as JGF,
which `readers.jgf` reads back, for the store and for callers of the service).

Every format is the text that Fluxion's resource-query prints, to the byte: JSON on one line with
`", "` and `": "`, and a newline at the end. An empty placement is written as the empty text.

In the shorthand formats an exclusive vertex implies all that it holds. The answer to a query marks
every vertex as exclusive and so has no shorthand: write it in `COMPLETE[format]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.writers.jgf import write_jgf, write_jgf_shorthand
from fluxnetes.graph.writers.rv1 import (
    write_rlite,
    write_rv1,
    write_rv1_nosched,
    write_rv1_shorthand,
)
from fluxnetes.graph.writers.simple import write_pretty_simple, write_simple

__all__ = ["COMPLETE", "FORMATS", "render"]

_WRITERS: dict[str, Callable[[ResourceGraph, Placement], str]] = {
    "simple": write_simple,
    "pretty_simple": write_pretty_simple,
    "jgf": write_jgf,
    "jgf_shorthand": write_jgf_shorthand,
    "rlite": write_rlite,
    "rv1": write_rv1,
    "rv1_shorthand": write_rv1_shorthand,
    "rv1_nosched": write_rv1_nosched,
}

FORMATS = tuple(_WRITERS)

COMPLETE: Mapping[str, str] = MappingProxyType(
    {name: name.removesuffix("_shorthand") for name in FORMATS}
)
"""The format that writes every vertex, for each format."""


def render(format: str, graph: ResourceGraph, placement: Placement) -> str:
    """Write a placement in one of `FORMATS`."""
    writer = _WRITERS.get(format)
    if writer is None:
        raise GraphError(f"unknown match format {format!r}; known are {', '.join(FORMATS)}")
    return writer(graph, placement) if len(placement) else ""
