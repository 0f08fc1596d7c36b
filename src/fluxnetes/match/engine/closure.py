"""Computes everything that a job holds from the vertices that its request selects.

The job holds what was selected exclusively, all below a vertex of an *exclusive type* (the policy
or the request may make a type exclusive: a job that uses a part of a node then holds the whole
node), and shares everything above what it holds. What was selected to be shared but has nothing
held below it is not part of the job. A vertex that several parents share is part of a job once, by
the first path that leads to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.topology import Topology, ragged


@dataclass(frozen=True, slots=True)
class VertexSelection:
    """The vertices that a request itself selects; a pool may be in several rows."""

    position: Ints
    needs: Ints
    exclusive: Bools
    labels: dict[int, str] = field(default_factory=dict)
    """Labels that the request sets on the vertices, by position."""


@dataclass(frozen=True, slots=True)
class HeldVertices:
    """All that a job holds or shares, by ascending position."""

    position: Ints
    needs: Ints
    exclusive: Bools
    labels: dict[int, str] = field(default_factory=dict)


NOTHING = HeldVertices(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.bool_))


def hold(
    tree: Topology, size: Ints, whole: Bools | None, selection: VertexSelection
) -> HeldVertices | None:
    """Extend a selection upwards and downwards; None if nothing in it is held exclusively.

    `whole` marks by position the vertices that are of an exclusive type.
    """
    mine = selection.exclusive
    position, needs = _add_up(selection.position[mine], selection.needs[mine])
    if whole is not None:
        position, needs = _add_whole(tree, size, whole, selection.position, position, needs)
    if not len(position):
        return None
    if tree.paths is not None:
        position, needs = _with_shared(tree, size, selection, position, needs)
        position, needs = _each_once(tree, position, needs)
    if _are_siblings(tree, position):
        return _hold_siblings(tree, size, position, needs, selection.labels)
    above = ancestors(tree, position)
    shared = above[~among(above, position)]
    joined = np.concatenate((position, shared))
    order = np.argsort(joined)
    exclusive = order < len(position)
    all_needs = np.concatenate((needs, size[shared]))
    return HeldVertices(joined[order], all_needs[order], exclusive, selection.labels)


def _hold_siblings(
    tree: Topology, size: Ints, position: Ints, needs: Ints, labels: dict[int, str]
) -> HeldVertices:
    """The same for vertices of one parent, such as the pools of one pod: ancestors come first."""
    above = _path(tree, int(position[0]))
    exclusive = np.ones(len(above) + len(position), np.bool_)
    exclusive[: len(above)] = False
    return HeldVertices(
        np.concatenate((above, position)), np.concatenate((size[above], needs)), exclusive, labels
    )


def ancestors(tree: Topology, positions: Ints) -> Ints:
    """All ancestors of some positions, ascending."""
    if len(positions) == 1 or (len(positions) and _are_siblings(tree, positions)):
        return _path(tree, int(positions[0]))
    found = []
    level = positions
    while len(level):
        level = distinct(tree.parent[level])
        if level[0] < 0:
            level = level[1:]
        found.append(level)
    return distinct(np.concatenate(found)) if found else np.empty(0, np.int64)


def _are_siblings(tree: Topology, positions: Ints) -> bool:
    parents = tree.parent[positions]
    return bool((parents == parents[0]).all())


def _path(tree: Topology, position: int) -> Ints:
    """The ancestors of one position."""
    path = []
    position = int(tree.parent[position])
    while position >= 0:
        path.append(position)
        position = int(tree.parent[position])
    return np.array(path[::-1], np.int64)


def distinct(numbers: Ints) -> Ints:
    """Each number once, ascending: `np.unique` without its overhead on short arrays."""
    ordered = np.sort(numbers)
    new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    found: Ints = ordered[new]
    return found


def among(numbers: Ints, ascending: Ints) -> Bools:
    """Whether each number is among the ascending ones: `np.isin` without its overhead."""
    if not len(ascending):
        return np.zeros(len(numbers), np.bool_)
    at = ascending.searchsorted(numbers)
    at[at == len(ascending)] = 0
    found: Bools = ascending[at] == numbers
    return found


def _add_up(position: Ints, needs: Ints) -> tuple[Ints, Ints]:
    """Sort, and add up the rows of a pool that serves several slots."""
    order = np.argsort(position, kind="stable")
    position, needs = position[order], needs[order]
    new = np.ones(len(position), np.bool_)
    new[1:] = position[1:] != position[:-1]
    if new.all():
        return position, needs
    starts = np.flatnonzero(new)
    return position[starts], np.add.reduceat(needs, starts)


def _add_whole(
    tree: Topology, size: Ints, whole: Bools, selected: Ints, position: Ints, needs: Ints
) -> tuple[Ints, Ints]:
    """Add the whole subtree of every used vertex of an exclusive type."""
    used = distinct(np.concatenate((selected, ancestors(tree, selected))))
    roots = used[whole[used]]
    if not len(roots):
        return position, needs
    outermost = roots >= np.concatenate(([0], np.maximum.accumulate(tree.end[roots])[:-1]))
    roots = roots[outermost]
    covered = ragged(roots, tree.end[roots] - roots)
    rest = ~among(position, covered)
    joined = np.concatenate((covered, position[rest]))
    order = np.argsort(joined)
    return joined[order], np.concatenate((size[covered], needs[rest]))[order]


def _with_shared(
    tree: Topology, size: Ints, selection: VertexSelection, position: Ints, needs: Ints
) -> tuple[Ints, Ints]:
    """Add what was selected to be shared, and is held with a vertex above it on another path.

    The request came to it by the path that it selected, so the job shares the parents on that path.
    """
    shared = selection.position[~selection.exclusive]
    shared = shared[np.isin(tree.vertex[shared], tree.vertex[position])]
    shared = distinct(shared[~among(shared, position)]) if len(shared) else shared
    joined = np.concatenate((position, shared))
    order = np.argsort(joined)
    return joined[order], np.concatenate((needs, size[shared]))[order]


def _each_once(tree: Topology, position: Ints, needs: Ints) -> tuple[Ints, Ints]:
    """Move what is held to the first of the positions by which each vertex is held or shared."""
    while True:
        position, needs = _first_of_each(tree, position, needs)
        used = distinct(np.concatenate((position, ancestors(tree, position))))
        vertex, first = np.unique(tree.vertex[used], return_index=True)
        if len(vertex) == len(used):
            return position, needs
        again = np.delete(used, first)
        # The outermost vertex that is there again; its subtrees are alike at all its positions.
        twin = int(again[0])
        here = int(used[first[np.searchsorted(vertex, tree.vertex[twin])]])
        inside = (position >= twin) & (position < tree.end[twin])
        position = np.where(inside, position - twin + here, position)


def _first_of_each(tree: Topology, position: Ints, needs: Ints) -> tuple[Ints, Ints]:
    """Of the positions of each vertex the first, with the largest of its amounts."""
    order = np.lexsort((position, tree.vertex[position]))
    vertex = tree.vertex[position[order]]
    starts = np.flatnonzero(np.concatenate(([True], vertex[1:] != vertex[:-1])))
    first, most = position[order][starts], np.maximum.reduceat(needs[order], starts)
    order = np.argsort(first)
    return first[order], most[order]


def propagate_down(tree: Topology, marked: Bools) -> Bools:
    """The marked vertices and all below them."""
    roots = np.flatnonzero(marked)
    if not len(roots):
        return np.zeros(len(tree), np.bool_)
    steps = np.zeros(len(tree) + 1, np.int64)
    np.add.at(steps, roots, 1)
    np.subtract.at(steps, tree.end[roots], 1)
    return np.cumsum(steps)[:-1] > 0
