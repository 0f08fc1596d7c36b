"""Generates a graph from a GRUG recipe.

The recipe's nodes are walked depth first, and each edge that leads to a kind not seen yet is one
step: it makes all vertices of that kind at once, or links ones that exist. So vertices are numbered
step by step: all racks, then all nodes of all racks, then all their sockets. A step is a few array
operations, however many vertices it makes.

The id of a new vertex counts from `id_start` within its parent. With an `id_scope` above zero it
goes on counting over the siblings of the parent (1), of the parent's parent (2), and so on. Nodes
are ranked 0, 1, 2 ... in the order in which they are made; nothing else has a rank.

A recipe may describe several subsystems, each from a root of its own. They meet where a step
*associates*: it makes no vertices but links those that an earlier subsystem made. If there is an
edge between the two already, that edge moves to the new subsystem.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from math import prod

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.limits import check_depth
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.readers.grug_paths import VertexPaths
from fluxnetes.graph.readers.grug_recipe import (
    Recipe,
    RecipeEdge,
    RecipeMethod,
    RecipeVertex,
    read_recipe,
)
from fluxnetes.graph.topology import ragged

MAX_VERTICES = 2**24
"""Maximum number of vertices, and of edges: a short recipe can generate more than memory holds."""


def load_grug(text: bytes | str) -> ResourceGraph:
    """The graph that a recipe in GraphML generates."""
    recipe = read_recipe(text)
    return _Generator(recipe).run()


class _Generator:
    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.graph = ResourceGraph()
        self.patch = GraphPatch(self.graph)
        self.edges = _Edges()
        self.places = VertexPaths()
        self.made: list[Ints] = [np.empty(0, dtype=np.int64) for _ in recipe.kinds]
        """The vertices of each kind, in the order in which later steps use them."""
        self.by_type: dict[str, list[Ints]] = {}
        self.roots: dict[str, int] = {}
        self.scales: deque[int] = deque()
        """How many of each kind a parent has, from the current kind up to the root."""
        self.ranks = 0

    def run(self) -> ResourceGraph:
        for kind in self.recipe.kinds:
            self.graph.types.number(kind.type)
        self._walk()
        if self.patch.count == 0:
            raise GraphError("GRUG recipe: generates nothing; one node must have root set to 1")
        self.edges.add_to(self.patch)
        self.places.add_to(self.patch)
        self.graph.apply(self.patch)
        return self.graph

    def _walk(self) -> None:
        """Depth first over the recipe, a step wherever a kind is met for the first time."""
        leaving: list[list[RecipeEdge]] = [[] for _ in self.recipe.kinds]
        for step in reversed(self.recipe.steps):
            leaving[step.source].append(step)
        seen = [False] * len(self.recipe.kinds)
        for start in range(len(self.recipe.kinds)):
            stack = [] if seen[start] else [start]
            while stack:
                at = stack[-1]
                if not seen[at]:
                    seen[at] = True
                    self._ensure_root(at)
                if not leaving[at]:
                    stack.pop()
                    if self.scales:
                        self.scales.popleft()
                    continue
                step = leaving[at].pop()
                if not seen[step.target]:
                    check_depth(len(stack))
                    self._follow(step)
                    stack.append(step.target)

    def _ensure_root(self, at: int) -> None:
        kind = self.recipe.kinds[at]
        if not kind.root or len(self.made[at]):
            return
        root = self.roots.get(kind.subsystem)
        if root is None:
            root = self.roots[kind.subsystem] = int(self._make(kind, np.zeros(1, np.int64))[0])
            self.places.put_root(kind.subsystem, root)
        self.made[at] = np.array([root])

    def _follow(self, step: RecipeEdge) -> None:
        sources = self.made[step.source]
        if step.method is RecipeMethod.MULTIPLY:
            self.made[step.target] = self._multiply(step, sources)
            self.scales.appendleft(step.scale)
            return
        targets = _join(self.by_type.get(self.recipe.kinds[step.target].type, []))
        if step.method is RecipeMethod.ASSOCIATE_IN:
            _check_count(len(sources) * len(targets))
            holders = np.repeat(sources, len(targets))
            held = np.tile(targets, len(sources))
        else:
            holders, held = self._near(step, sources, targets)
        self.edges.associate(holders, held, self.graph.subsystems.number(step.subsystem))
        self.places.put_again(step.subsystem, held, holders)
        self.made[step.target] = held

    # -- new vertices --------------------------------------------------------------------------

    def _multiply(self, step: RecipeEdge, sources: Ints) -> Ints:
        _check_count(self.patch.count + len(sources) * step.scale)
        kind = self.recipe.kinds[step.target]
        rows = self._make(kind, self._ids(step, len(sources)))
        holders = np.repeat(sources, step.scale)
        self.edges.add(holders, rows, self.graph.subsystems.number(step.subsystem))
        if kind.subsystem == step.subsystem:
            self.places.put(kind.subsystem, rows, holders)
        else:
            self.places.put_again(kind.subsystem, rows, holders)
        return rows

    def _ids(self, step: RecipeEdge, parents: int) -> Ints:
        child = np.tile(np.arange(step.scale), parents)
        if step.id_scope < 0:
            return np.full(len(child), -1, dtype=np.int64)
        if step.id_scope == 0:
            return step.id_start + child
        parent = np.repeat(np.arange(parents), step.scale)
        wrap = min(max(prod(islice(self.scales, step.id_scope)), 1), MAX_VERTICES)
        return step.id_start + (parent % wrap * step.scale + child) * step.id_stride

    def _make(self, kind: RecipeVertex, ids: Ints) -> Ints:
        ranks: Ints | int = -1
        if kind.type == "node":
            ranks = self.ranks + np.arange(len(ids))
            self.ranks += len(ids)
        rows = self.patch.vertices(
            kind.type, ids, basename=kind.basename, ranks=ranks, sizes=kind.size, unit=kind.unit
        )
        for at in np.flatnonzero(ids == -1).tolist():
            self.patch.names[int(rows[at])] = kind.basename
        self.places.name(rows, kind.basename, ids)
        self.by_type.setdefault(kind.type, []).append(rows)
        return rows

    # -- vertices that exist -------------------------------------------------------------------

    def _near(self, step: RecipeEdge, sources: Ints, targets: Ints) -> tuple[Ints, Ints]:
        """For every source the targets whose path up to some level equals the source's."""
        prefix_of = self.places.prefixes(step.near_subsystem)
        target_prefix = prefix_of(targets, step.target_up)
        source_prefix = prefix_of(sources, step.source_up)
        order = np.argsort(target_prefix, kind="stable")
        sorted_prefix = target_prefix[order]
        starts = np.searchsorted(sorted_prefix, source_prefix)
        lengths = np.searchsorted(sorted_prefix, source_prefix, side="right") - starts
        _check_count(int(lengths.sum()))
        return np.repeat(sources, lengths), targets[order[ragged(starts, lengths)]]


class _Edges:
    """The edges made so far; the subsystem of one may still change."""

    def __init__(self) -> None:
        self.sources: list[Ints] = []
        self.targets: list[Ints] = []
        self.subsystems: list[Ints] = []

    def add(self, sources: Ints, targets: Ints, subsystem: int) -> None:
        self.sources.append(sources)
        self.targets.append(targets)
        self.subsystems.append(np.full(len(targets), subsystem, dtype=np.int64))

    def associate(self, sources: Ints, targets: Ints, subsystem: int) -> None:
        """Add edges, but where there is one between the two vertices move that to the subsystem."""
        there = _pair(_join(self.sources), _join(self.targets))
        wanted = _pair(sources, targets)
        subsystems = _join(self.subsystems)
        subsystems[np.isin(there, wanted)] = subsystem
        self.sources, self.targets = [_join(self.sources)], [_join(self.targets)]
        self.subsystems = [subsystems]
        _, first = np.unique(wanted, return_index=True)
        new = np.sort(first[~np.isin(wanted[first], there)])
        self.add(sources[new], targets[new], subsystem)

    def add_to(self, patch: GraphPatch) -> None:
        patch.edge_table(_join(self.sources), _join(self.targets), _join(self.subsystems))


def _pair(sources: Ints, targets: Ints) -> Ints:
    return sources * MAX_VERTICES + targets


def _join(chunks: list[Ints]) -> Ints:
    return np.concatenate(chunks) if chunks else np.empty(0, dtype=np.int64)


def _check_count(count: int) -> None:
    if count > MAX_VERTICES:
        raise GraphError(f"GRUG recipe: would make more than {MAX_VERTICES} vertices or edges")
