"""Extends a holding to every position of its vertices, where vertices have several parents.

A job comes to a vertex by one path. What it holds is unavailable below all parents of the vertex,
and each of them has a job below it. In a tree a holding is what it is.
"""

from __future__ import annotations

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.topology import PathIndex, Topology, ragged
from fluxnetes.match.engine.closure import among, ancestors


def extend(
    tree: Topology, size: Ints, position: Ints, needs: Ints, exclusive: Bools
) -> tuple[Ints, Ints, Bools]:
    """A holding at all positions of what it holds, and at all above them; ascending.

    What is below a vertex that is held alone is held with it. To extend a holding again changes
    nothing.
    """
    if tree.paths is None:
        return position, needs, exclusive
    mine, amount = position[exclusive], needs[exclusive]
    inside = ragged(mine + 1, tree.end[mine] - mine - 1)
    vertex, first = np.unique(tree.vertex[np.concatenate((mine, inside))], return_index=True)
    held = np.concatenate((amount, size[inside]))[first]
    everywhere, count = tree.paths.of(vertex), tree.paths.count(vertex)
    order = np.argsort(everywhere)
    everywhere, held = everywhere[order], np.repeat(held, count)[order]
    above = ancestors(tree, everywhere)
    above = above[~among(above, everywhere)]
    joined = np.concatenate((everywhere, above))
    order = np.argsort(joined)
    return joined[order], np.concatenate((held, size[above]))[order], order < len(everywhere)


def positions_of(paths: PathIndex, vertices: Ints) -> tuple[Ints, Ints]:
    """All positions of some vertices, and for each the index of its vertex among them."""
    return paths.of(vertices), np.repeat(np.arange(len(vertices)), paths.count(vertices))
