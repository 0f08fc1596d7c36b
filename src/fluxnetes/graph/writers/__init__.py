"""How a placement is written down: for people, as a graph, as a Flux resource set.

| format | what it is | for whom |
|---|---|---|
| `simple`, `pretty_simple` | an indented line a vertex, root last or root first | people |
| `jgf` | the placed part of the graph, nodes and edges, as JSON | whoever must know each vertex |
| `rlite` | which cores and gpus on which ranks, nothing else | Flux's job shell |
| `rv1_nosched` | `rlite` with hosts, properties and times: a resource set, R (RFC 20) | Flux |
| `rv1` | the same with the `jgf` inside, for a scheduler that restarts | Flux |
| `jgf_shorthand`, `rv1_shorthand` | without what a vertex held alone implies | Flux, at scale |

Every format is the text that Fluxion's resource-query prints, to the byte: JSON on one line with
`", "` and `": "`, and a newline at the end. An empty placement is written as nothing at all.

In the shorthand formats a vertex held alone stands for all that it holds. The answer to a query
marks every vertex as held alone and so has no shorthand: write it in `COMPLETE[format]`.
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
        raise GraphError(f"no match format {format!r}; there are {', '.join(FORMATS)}")
    return writer(graph, placement) if len(placement) else ""
