"""Limits of a resource graph, and the errors that name them."""

from __future__ import annotations

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.errors import GraphError

MAX_DEPTH = 128
"""Maximum number of levels below the root, because the matcher's walks over a tree recurse."""
MAX_AMOUNT = 2**53
"""Maximum size of a vertex, and of all that a document describes: the matcher sums sizes, and
doubles count exactly up to this number."""


def check_depth(depth: int) -> None:
    """Raise for a vertex that is too many levels below the root."""
    if depth > MAX_DEPTH:
        raise GraphError(f"the graph is too deep: at most {MAX_DEPTH} levels may be below its root")


def check_total(*sizes: Ints) -> None:
    """Raise for vertices whose sizes are too large to be summed."""
    if sum(float(some.sum(dtype=float)) for some in sizes) > MAX_AMOUNT:
        raise GraphError(f"the sizes of all vertices together are more than {MAX_AMOUNT}")
