"""The tree of one subsystem of a graph, in depth-first order.

Vertices are renumbered by *position*: the order in which a depth-first walk from the root reaches
them, children in the order in which their edges were added. In that order a subtree is a range
(`position .. end`), siblings are sorted, and a sum over children is a sum over segments, so the
matcher needs no pointers.

A subsystem may be a DAG, where a vertex has two parents. As in the reference, each vertex then
belongs to the parent through which the walk reaches it first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fluxnetes.common.arrays import Ints


@dataclass(frozen=True, slots=True)
class Topology:
    """The columns of a tree, by position; `position` alone is by vertex (-1: not in this tree)."""

    vertex: Ints
    """Row in the graph."""
    position: Ints
    """The inverse of `vertex`: the position of each row."""
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
    is_tree: bool
    """False where some vertex has a second parent in this subsystem."""

    def __len__(self) -> int:
        return len(self.vertex)

    def children(self, position: int) -> Ints:
        """The positions of the children of one vertex, in order."""
        return self.child[self.first_child[position] : self.first_child[position + 1]]

    def subtree(self, position: int) -> slice:
        return slice(position, int(self.end[position]))


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
    """Walk the edges of one subsystem depth first from `root`."""
    order = np.argsort(sources, kind="stable")
    sources, targets = sources[order], targets[order]
    pointers = np.searchsorted(sources, np.arange(vertex_count + 1))
    in_degree = np.bincount(targets, minlength=vertex_count)
    is_tree = len(targets) == 0 or int(in_degree.max()) <= 1
    if is_tree:
        vertex, parent, depth = _walk_tree(root, pointers, targets)
    else:
        vertex, parent, depth = _walk_dag(root, pointers, targets, vertex_count)
    return _finish(vertex_count, vertex, parent, depth, is_tree)


def _walk_tree(root: int, pointers: Ints, targets: Ints) -> tuple[Ints, Ints, Ints]:
    """Depth-first order of a tree, computed level by level with array operations."""
    levels = [np.array([root], dtype=np.int64)]
    parents_of = [np.array([-1], dtype=np.int64)]
    while True:
        level = levels[-1]
        lengths = pointers[level + 1] - pointers[level]
        if not lengths.any():
            break
        levels.append(targets[ragged(pointers[level], lengths)])
        parents_of.append(np.repeat(np.arange(len(level)), lengths))
    sizes = [np.ones(len(level), dtype=np.int64) for level in levels]
    for i in range(len(levels) - 1, 0, -1):
        sums = np.bincount(parents_of[i], weights=sizes[i], minlength=len(levels[i - 1]))
        sizes[i - 1] += sums.astype(np.int64)
    total = int(sizes[0][0])
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


def _walk_dag(
    root: int, pointers: Ints, targets: Ints, vertex_count: int
) -> tuple[Ints, Ints, Ints]:
    """The same for a graph in which a vertex may have several parents: the first one wins."""
    seen = bytearray(vertex_count)
    vertex: list[int] = []
    parent: list[int] = []
    depth: list[int] = []
    stack = [(root, -1, 0)]
    starts, held = pointers.tolist(), targets.tolist()
    while stack:
        row, above, level = stack.pop()
        if seen[row]:
            continue
        seen[row] = 1
        here = len(vertex)
        vertex.append(row)
        parent.append(above)
        depth.append(level)
        below = held[starts[row] : starts[row + 1]]
        stack.extend((child, here, level + 1) for child in reversed(below) if not seen[child])
    return np.array(vertex), np.array(parent), np.array(depth)


def _finish(vertex_count: int, vertex: Ints, parent: Ints, depth: Ints, is_tree: bool) -> Topology:
    total = len(vertex)
    position = np.full(vertex_count, -1, dtype=np.int64)
    position[vertex] = np.arange(total)
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
    return Topology(vertex, position, parent, depth, end, post, first_child, child, is_tree)
