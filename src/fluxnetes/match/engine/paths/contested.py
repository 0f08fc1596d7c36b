"""Decides by which path a match uses a vertex that it could use by several.

Where vertices have several parents, a request may reach a vertex by several paths: a request for
racks with storage reaches storage that two racks share below both. A match uses a vertex by one
path at most. As in the reference, a vertex belongs to the first parent that reaches it, in the
order of the walk. Unlike there, a parent that does not qualify gives back what it reached, and a
parent that the request only passes through claims nothing unless something below it qualifies.

A vertex that a request can reach by one path only is not contested, whatever number of parents it
has. Most requests contest nothing; trees know nothing of all this.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.topology import Topology
from fluxnetes.jobspec.model import Resource
from fluxnetes.match.engine.closure import ancestors, distinct
from fluxnetes.match.engine.evaluate import evaluate
from fluxnetes.match.engine.first_fit import EdgeWeights
from fluxnetes.match.engine.paths.visits import visited_positions
from fluxnetes.match.engine.stages import Stage, StageKind
from fluxnetes.match.engine.states import EvaluationContext, States


@dataclass(frozen=True, slots=True)
class ContestedVertices:
    """The vertices that one request can reach by several paths."""

    tree: Topology
    stage: Stage
    position: Ints
    """Their positions in the request's stages, vertex by vertex, ascending."""
    which: Ints
    """For each position the number of its vertex."""

    def settle(self, context: EvaluationContext) -> States:
        """Evaluate the request, with each contested vertex below one parent.

        Whether a vertex is taken when the walk comes to it depends only on what came before. So all
        is assumed at once, and what turns out to be wrong is corrected, from the first on.
        """
        barred = np.zeros(len(self.position), np.bool_)
        while True:
            states = self._without(context, self.position[barred])
            taken = self._taken(self._good(states), barred)
            wrong = self.position[taken != barred]
            if not len(wrong):
                return states
            barred = np.where(self.position < wrong.min(), barred, taken)

    def _taken(self, good: Bools, barred: Bools) -> Bools:
        """Whether each vertex is taken by an earlier path when the walk comes to it."""
        most = len(self.tree) + 1
        base = self.which * (most + 1)
        until = np.maximum.accumulate(base + np.where(barred, 0, self._until(good, most)))
        found = np.zeros(len(barred), np.bool_)
        found[1:] = until[:-1] - base[1:] > self.position[1:]
        return found

    def _until(self, good: Bools, most: int) -> Ints:
        """The position at which each contested one is given back; `most`: it is kept.

        It is given back where the walk leaves the first vertex above it that does not qualify.
        """
        at = self.position
        kept = np.ones(len(at), np.bool_)
        until = np.full(len(at), most, np.int64)
        while True:
            fails = kept & ~good[at]
            until[fails] = self.tree.end[at[fails]]
            kept &= ~fails & (at > 0)
            if not kept.any():
                return until
            at = np.maximum(self.tree.parent[at], 0)

    def settle_walk(
        self, context: EvaluationContext, weights: EdgeWeights, wanted: tuple[Resource, ...]
    ) -> States:
        """The same for a walk that stops early: a vertex belongs to the first that it visits.

        What a walk visits depends on what it found before, so conflicts are settled in the order of
        the walk.
        """
        barred = np.empty(0, np.int64)
        while True:
            states = self._without(context, barred)
            visited = visited_positions(self.stage, states, context, weights, wanted)
            again = self._had_before(visited, barred, weights)
            if not len(again):
                return states
            barred = np.concatenate((barred, again))

    def _had_before(self, visited: Ints, barred: Ints, weights: EdgeWeights) -> Ints:
        """The next positions that a walk must skip, because it had their vertices by other paths.

        Also below parents that it does not visit: without what others have, a range of amounts may
        come to more slots, and the parent qualify. Up to the first position that is found, the walk
        is settled. What was had up to there may be given back only if a vertex above both fails; so
        the positions below that vertex can be skipped at once.
        """
        used = distinct(np.concatenate((visited, ancestors(self.tree, visited))))
        turns = _turns(self.tree, weights, self.position)
        order = np.lexsort(turns.T[::-1])
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        is_used = np.isin(self.position, used)
        first = np.full(len(order), len(order))
        np.minimum.at(first, self.which[is_used], rank[is_used])
        had = first[self.which]
        again = np.flatnonzero((had < rank) & ~np.isin(self.position, barred))
        if not len(again):
            return self.position[:0]
        next_one = again[rank[again].argmin()]
        again = again[had[again] < rank[next_one]]
        by = turns[order[had[again]]]
        near = _shared_steps(by, turns[again]) >= _shared_steps(by, turns[next_one])
        found: Ints = self.position[again[near]]
        return found

    def _without(self, context: EvaluationContext, barred: Ints) -> States:
        """Evaluate the request without some positions."""
        states: States = {}
        evaluate(self.stage, states, context.excluding(barred, len(self.tree)), None)
        return states

    def _good(self, states: States) -> Bools:
        """By position, whether it qualifies and is of use to the request."""
        good = np.zeros(len(self.tree), np.bool_)
        _mark_good(self.stage, states, good)
        return good


def find_contested(tree: Topology, stage: Stage) -> ContestedVertices | None:
    """The vertices that a request can reach by several paths; None if there are none."""
    if tree.paths is None:
        return None
    staged = np.sort(np.concatenate([each.group.members for each in stage.all()]))
    order = np.argsort(tree.vertex[staged], kind="stable")
    position = staged[order]
    vertex = tree.vertex[position]
    _, number, count = np.unique(vertex, return_inverse=True, return_counts=True)
    # What is below a vertex that is contested as a whole needs no decision of its own.
    parents = np.unique(np.stack((tree.vertex[tree.parent[position]], vertex)), axis=1)
    shared = np.bincount(parents[1], minlength=len(tree.position)) > 1
    position = position[(count[number] > 1) & shared[vertex]]
    if not len(position):
        return None
    which = np.unique(tree.vertex[position], return_inverse=True)[1]
    return ContestedVertices(tree, stage, position, which)


def _turns(tree: Topology, weights: EdgeWeights, positions: Ints) -> Ints:
    """The turns at which a walk by weight takes the edges of paths, a row each: less is earlier."""
    depth = tree.depth[positions]
    turns = np.full((len(positions), int(depth.max())), np.iinfo(np.int64).min)
    at = positions
    while True:
        rows = np.flatnonzero(tree.depth[at] > 0)
        if not len(rows):
            return turns
        turns[rows, tree.depth[at[rows]] - 1] = -weights.key(at[rows])
        at = np.maximum(tree.parent[at], 0)


def _shared_steps(paths: Ints, others: Ints) -> Ints:
    """How many steps from the root each path has in common with another."""
    shared: Ints = np.cumprod(paths == others, axis=1).sum(axis=1)
    return shared


def _mark_good(stage: Stage, states: States, good: Bools) -> Bools:
    """Mark the members of a stage, and of all below it, that are of use; returns its own."""
    group, state = stage.group, states[id(stage)]
    found: Bools = state.ok
    if stage.kind is StageKind.SLOT and stage.request is None and state.slots is not None:
        found = found & (state.slots > 0)
    below = np.zeros(len(group), np.bool_)
    for child in stage.below:
        useful = _mark_good(child, states, good)
        below[child.group.above[useful]] = True
    if stage.kind is StageKind.PASS:
        found = found & below
    good[group.members] = found
    return found
