"""Writes placements as one indented line per vertex.

`simple` follows the placement's own order, so the root comes last; `pretty_simple` reverses it
and spells out how a vertex is held:

          ------node0[1:x]                  ---cluster0[1:shared]
          ---cluster0[1:s]                  ------node0[1:exclusive]

The number is the allocated amount of the vertex.
"""

from __future__ import annotations

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.placement import Placement

_MARGIN = "      "
_LEVEL = "---"


def write_simple(graph: ResourceGraph, placement: Placement) -> str:
    return "".join(_lines(graph, placement, held=("s", "x")))


def write_pretty_simple(graph: ResourceGraph, placement: Placement) -> str:
    return "".join(reversed(_lines(graph, placement, held=("shared", "exclusive"))))


def _lines(graph: ResourceGraph, placement: Placement, held: tuple[str, str]) -> list[str]:
    depths = placement.depth.tolist()
    indents = [_MARGIN + _LEVEL * (depth + 1) for depth in range(max(depths) + 1)]
    columns = zip(
        depths,
        graph.names(placement.vertex),
        placement.needs.tolist(),
        placement.exclusive.tolist(),
        strict=True,
    )
    return [
        f"{indents[depth]}{name}[{needs}:{held[exclusive]}]\n"
        for depth, name, needs, exclusive in columns
    ]
