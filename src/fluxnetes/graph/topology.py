"""The tree of one subsystem of a graph, in depth-first order.

Vertices are renumbered by *position*: the order in which a depth-first walk from the root reaches
them, children in the order in which their edges were added. In that order a subtree is a range
(`position .. end`), siblings are sorted, and a sum over children is a sum over segments, so the
matcher needs no pointers.

In a subsystem that is not a tree a vertex may have several parents: storage that two racks share, a
switch below two chassis. Such a vertex has one position for each path from the root to it, so that
a subtree is still a range. The first of its positions is its *primary* one: a walk that enters no
vertex twice reaches it there. The subtrees at all positions of a vertex are alike, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.limits import check_depth

MAX_PATHS = 4_000_000
"""Maximum number of paths in a subsystem that is not a tree. Each path is a position with columns
of its own, and with several parents at several levels the number of paths multiplies."""


class TooManyPaths(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """The vertices of a subsystem have more than MAX_PATHS paths."""


@dataclass(frozen=True, slots=True)
class PathIndex:
    """The positions of vertices that have several paths; a tree has no such index."""

    first: Ints
    """By vertex, where its positions start in `positions`; the last entry is the end."""
    positions: Ints
    """The positions of all vertices, grouped by vertex, ascending."""
    primary: Bools
    """By position, whether it is the first one of its vertex."""

    def of(self, vertices: Ints) -> Ints:
        """All positions of some vertices, vertex by vertex."""
        return self.positions[ragged(self.first[vertices], self.count(vertices))]

    def count(self, vertices: Ints) -> Ints:
        """The number of positions of each vertex."""
        return self.first[vertices + 1] - self.first[vertices]


@dataclass(frozen=True, slots=True)
class Topology:
    """The columns of a subsystem, by position.

    `position` alone is by vertex (-1: not in this subsystem).
    """

    vertex: Ints
    """Row in the graph."""
    position: Ints
    """The inverse of `vertex`: the primary position of each row."""
    parent: Ints
    """Position of the parent; -1 for the root."""
    depth: Ints
    """0 for the root."""
    end: Ints
    """The position after the last one of the subtree."""
    post: Ints
    """Rank in the order in which a depth-first walk leaves the vertices, children first."""
    first_child: Ints
    """Where the children of each position start in `child`; the last entry is the end."""
    child: Ints
    """The positions of all children, grouped by parent."""
    paths: PathIndex | None = None
    """The positions of each vertex where some have several; None for a tree."""

    def __len__(self) -> int:
        return len(self.vertex)

    @property
    def vertex_count(self) -> int:
        """The number of vertices, each counted once."""
        return len(self.vertex) if self.paths is None else int(self.paths.primary.sum())

    @property
    def is_tree(self) -> bool:
        """Whether each vertex has one path."""
        return self.paths is None

    def children(self, position: int) -> Ints:
        """The positions of the children of one vertex, in order."""
        return self.child[self.first_child[position] : self.first_child[position + 1]]

    def subtree(self, position: int) -> slice:
        return slice(position, int(self.end[position]))

    def twins(self, position: int) -> Ints:
        """All positions of the vertex at one position, itself included."""
        if self.paths is None:
            return np.array([position], np.int64)
        return self.paths.of(self.vertex[position : position + 1])

    def everywhere(self, positions: Ints) -> Ints:
        """All positions of the vertices at some positions, ascending."""
        if self.paths is None:
            return positions
        return np.unique(self.paths.of(np.unique(self.vertex[positions])))

    def once(self) -> Bools | slice:
        """Selects each vertex once, to count what it has: primary positions."""
        return slice(None) if self.paths is None else self.paths.primary


def ragged(starts: Ints, lengths: Ints) -> Ints:
    """The numbers start .. start+length-1 of every pair, concatenated."""
    total = int(lengths.sum())
    if total == 0:
        return np.empty(0, dtype=np.int64)
    ends = np.cumsum(lengths)
    offsets = np.arange(total, dtype=np.int64)
    numbers: Ints = offsets + np.repeat(starts - (ends - lengths), lengths)
    return numbers


def build_topology(vertex_count: int, root: int, sources: Ints, targets: Ints) -> Topology:
    """Walk the edges of one subsystem depth first from `root`. Raises TooManyPaths."""
    shares = _shares_vertices(vertex_count, targets)
    if shares:
        sources, targets = _without_cycles(root, *_distinct(sources, targets))
    order = np.argsort(sources, kind="stable")
    sources, targets = sources[order], targets[order]
    pointers = np.searchsorted(sources, np.arange(vertex_count + 1))
    vertex, parent, depth = _walk(root, pointers, targets, MAX_PATHS if shares else None)
    return _finish(vertex_count, vertex, parent, depth)


def _shares_vertices(vertex_count: int, targets: Ints) -> bool:
    """Whether some vertex has several parents."""
    return len(targets) > 0 and int(np.bincount(targets, minlength=vertex_count).max()) > 1


def _distinct(sources: Ints, targets: Ints) -> tuple[Ints, Ints]:
    """Each edge once, in the order in which edges were added."""
    pairs = np.stack((sources, targets), axis=1)
    first = np.sort(np.unique(pairs, axis=0, return_index=True)[1])
    return sources[first], targets[first]


def _without_cycles(root: int, sources: Ints, targets: Ints) -> tuple[Ints, Ints]:
    """The edges without those that lead back to a vertex above, as the reference ignores them."""
    below: dict[int, list[int]] = {}
    for number, source in enumerate(sources.tolist()):
        below.setdefault(source, []).append(number)
    ends = targets.tolist()
    above, done = {root}, set()
    back: list[int] = []
    stack = [(root, iter(below.get(root, ())))]
    while stack:
        row, edges = stack[-1]
        for number in edges:
            child = ends[number]
            if child in above:
                back.append(number)
            elif child not in done:
                above.add(child)
                stack.append((child, iter(below.get(child, ()))))
                break
        else:
            stack.pop()
            above.discard(row)
            done.add(row)
    return np.delete(sources, back), np.delete(targets, back)


def _walk(root: int, pointers: Ints, targets: Ints, limit: int | None) -> tuple[Ints, Ints, Ints]:
    """Depth-first order of all paths, computed level by level with array operations."""
    total = 1
    levels = [np.array([root], dtype=np.int64)]
    parents_of = [np.array([-1], dtype=np.int64)]
    while True:
        level = levels[-1]
        lengths = pointers[level + 1] - pointers[level]
        if not lengths.any():
            break
        check_depth(len(levels))
        total += int(lengths.sum())
        if limit is not None and total > limit:
            raise TooManyPaths(f"vertices with several parents have more than {limit} paths in all")
        levels.append(targets[ragged(pointers[level], lengths)])
        parents_of.append(np.repeat(np.arange(len(level)), lengths))
    sizes = [np.ones(len(level), dtype=np.int64) for level in levels]
    for i in range(len(levels) - 1, 0, -1):
        sums = np.bincount(parents_of[i], weights=sizes[i], minlength=len(levels[i - 1]))
        sizes[i - 1] += sums.astype(np.int64)
    vertex, parent = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    depth = np.empty(total, dtype=np.int64)
    vertex[0], parent[0], depth[0] = root, -1, 0
    above = np.zeros(1, dtype=np.int64)
    for i in range(1, len(levels)):
        before = np.cumsum(sizes[i]) - sizes[i]
        up = parents_of[i]
        is_first = np.ones(len(up), dtype=np.bool_)
        is_first[1:] = up[1:] != up[:-1]
        base = before[is_first][np.cumsum(is_first) - 1]
        here = above[up] + 1 + before - base
        vertex[here], parent[here], depth[here] = levels[i], above[up], i
        above = here
    return vertex, parent, depth


def _finish(vertex_count: int, vertex: Ints, parent: Ints, depth: Ints) -> Topology:
    total = len(vertex)
    position = np.full(vertex_count, -1, dtype=np.int64)
    position[vertex[::-1]] = np.arange(total)[::-1]
    size = np.ones(total, dtype=np.int64)
    for level in range(int(depth.max()), 0, -1):
        here = np.flatnonzero(depth == level)
        size += np.bincount(parent[here], weights=size[here], minlength=total).astype(np.int64)
    end = np.arange(total) + size
    # The walk leaves a vertex after all vertices before it in depth-first order that are not its
    # ancestors, and after all below it.
    post = end - 1 - depth
    child = np.argsort(parent[1:], kind="stable") + 1
    first_child = np.searchsorted(parent[1:][child - 1], np.arange(total + 1))
    paths = _index_paths(vertex_count, vertex, position)
    return Topology(vertex, position, parent, depth, end, post, first_child, child, paths)


def _index_paths(vertex_count: int, vertex: Ints, position: Ints) -> PathIndex | None:
    if np.count_nonzero(position >= 0) == len(vertex):
        return None
    positions = np.argsort(vertex, kind="stable")
    first = np.searchsorted(vertex[positions], np.arange(vertex_count + 1))
    primary = position[vertex] == np.arange(len(vertex))
    return PathIndex(first, positions, primary)
