"""The walk of the `first` policies: visits vertices by edge weight and stops at enough.

Under `first` and `firstnodex` the walk visits the children of a vertex in the order of their
weights, the heaviest first, and stops as soon as it has enough; only visited vertices compete by
score. A weight is the amount that was free below a child, of the last type that it tracks, when a
job was last placed through it; a child through which no job was placed yet is heavier than any
other. So the walk visits unused parts of the machine first, then the emptiest (worst fit). Weights
are not updated when a job ends: the reference does not either, and placements depend on it.

Where vertices have several parents, amounts belong to a vertex and weights to an edge: all
positions of a vertex, or of an edge, have the same.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.topology import Topology, ragged
from fluxnetes.jobspec.model import SLOT, Resource
from fluxnetes.match.engine.closure import HeldVertices
from fluxnetes.match.engine.groups import VertexGroup
from fluxnetes.match.engine.packing import count_shares, pack
from fluxnetes.match.engine.stages import Stage, StageKind
from fluxnetes.match.engine.states import QualifiedEntries, States, below_members, entries_of
from fluxnetes.match.ledger.prune_filters import PruneFilters
from fluxnetes.match.ledger.twins import positions_of

_UNTOUCHED = 2**31 - 1
"""The weight of an edge through which no job was placed yet, and the largest weight."""
_RANKS = 2**31
"""More than there are vertices: a weight times this plus a rank sorts by weight, then by rank."""
_WORTH_MOVING = 1024
"""Number of children from which moving a few is quicker than sorting all again."""


@dataclass(slots=True)
class _Share:
    """The amounts that one job holds of the types by which vertices are weighted."""

    rows: Ints
    """Positions of the job's vertices that track a type."""
    used: Ints
    """The amount of that type that the job holds below each."""
    spans: Ints
    """1 where the job holds a vertex of any tracked type below, else 0."""
    counted: bool = False
    """Whether `used` is included in the running totals: from the job's start to its end."""


class EdgeWeights:
    """The weight of every vertex's edge, and what it is computed from."""

    def __init__(self, graph: ResourceGraph, tree: Topology, filters: PruneFilters) -> None:
        self.tree = tree
        count = len(tree)
        self.types = graph.type_id[tree.vertex]
        self.size = graph.size[tree.vertex]
        by_uniq_id = np.argsort(graph.uniq_id[tree.vertex], kind="stable")
        self._rank = np.empty(count, np.int64)
        self._rank[by_uniq_id] = np.arange(count)
        self.weight = np.full(count, _UNTOUCHED, np.int64)
        self._last = self._last_types(graph, filters)
        self._last_kinds = np.unique(self._last[self._last >= 0]).tolist()
        self._is_tracked = np.array([name in filters.tracked for name in graph.types.names])
        self._total = self._totals()
        self._used = np.zeros(count, np.int64)
        self._spans = np.zeros(count, np.int64)
        self._jobs: dict[int, _Share] = {}
        self._events: list[tuple[int, int, int]] = []
        """Times at which a job starts (1) or ends (0), as a heap of (time, 1 or 0, job id)."""
        self._orders: dict[int, tuple[Ints, Ints]] = {}
        self._leaf_orders: dict[int, Ints] = {}

    def _last_types(self, graph: ResourceGraph, filters: PruneFilters) -> Ints:
        """The last type that each vertex tracks; -1: none, as at all leaves."""
        last = np.full(len(graph.types), -1, np.int64)
        for number, name in enumerate(graph.types.names):
            kept = filters.of(name, graph.types)
            if kept:
                last[number] = kept[-1]
        is_leaf = self.tree.first_child[1:] == self.tree.first_child[:-1]
        return np.where(is_leaf, -1, last[self.types])

    def _totals(self) -> Ints:
        total = np.zeros(len(self.tree), np.int64)
        paths = self.tree.paths
        size = self.size if paths is None else self.size * paths.primary
        for type_id in self._last_kinds:
            sums = np.cumsum(np.where(self.types == type_id, size, 0))
            mine = self._last == type_id
            total[mine] = (sums[self.tree.end - 1] - sums)[mine]
        # A vertex with several parents counts below the first, as in the reference.
        return total if paths is None else total[self.tree.position[self.tree.vertex]]

    def inherit(self, old: EdgeWeights) -> None:
        """Copy the weights of the edges that the graph had before its shape changed."""
        count = len(self.tree.position)
        before, after = old.edges(count), self.edges(count)
        order = np.argsort(before)
        at = np.minimum(before[order].searchsorted(after), len(before) - 1)
        known = np.flatnonzero(before[order][at] == after) if len(before) else after[:0]
        self.weight[known + 1] = old.weight[order[at[known]] + 1]

    def edges(self, count: int) -> Ints:
        """A number for the edge to each position but the root's, less than `count` squared."""
        above: Ints = self.tree.vertex[self.tree.parent[1:]]
        return above * count + self.tree.vertex[1:]

    def key(self, positions: Ints) -> Ints:
        """The sort key of the walk, largest first: weight, then unique id."""
        return np.minimum(self.weight[positions], _UNTOUCHED) * _RANKS + self._rank[positions]

    # -- jobs ----------------------------------------------------------------------------------

    def enter(self, jobid: int, held: HeldVertices, start: int, end: int) -> None:
        """Count what a job holds, from its start to its end."""
        rows, used, spans = self._everywhere(*self._below(held))
        self._jobs[jobid] = _Share(rows, used, spans)
        self._spans[rows] += spans
        heapq.heappush(self._events, (start, 1, jobid))
        heapq.heappush(self._events, (end, 0, jobid))

    def leave(self, jobid: int) -> None:
        share = self._jobs.pop(jobid, None)
        if share is not None:
            self._spans[share.rows] -= share.spans
            if share.counted:
                self._used[share.rows] -= share.used

    def _advance(self, now: int) -> None:
        """Apply the starts and ends of jobs up to now."""
        while self._events and self._events[0][0] <= now:
            _, begins, jobid = heapq.heappop(self._events)
            share = self._jobs.get(jobid)
            if share is not None and share.counted != bool(begins):
                share.counted = bool(begins)
                self._used[share.rows] += share.used if begins else -share.used

    def weigh(self, held: HeldVertices, now: int | None) -> None:
        """Set the weights along a job's placement to what is left now; None: to 0."""
        if now is not None:
            self._advance(now)
        rows = held.position[(self._last[held.position] >= 0) & (held.position > 0)]
        left = self._total[rows] - self._used[rows]
        worth = (left > 0) | (self._spans[rows] > 0)
        rows, left = rows[worth], left[worth]
        self._set(rows, np.zeros_like(left) if now is None else left)

    def _below(self, held: HeldVertices) -> tuple[Ints, Ints, Ints]:
        """For each vertex of a job that tracks a type: what the job holds of it strictly below."""
        position = held.position
        keeps = self._last[position] >= 0
        rows = position[keeps]
        start = position.searchsorted(rows) + 1
        stop = position.searchsorted(self.tree.end[rows])
        types = self.types[position]
        taken = held.needs * held.exclusive
        used = np.zeros(len(rows), np.int64)
        last = self._last[rows]
        sums = np.zeros(len(position) + 1, np.int64)
        for type_id in self._last_kinds:
            (taken * (types == type_id)).cumsum(out=sums[1:])
            used += (sums[stop] - sums[start]) * (last == type_id)
        self._is_tracked[types].cumsum(out=sums[1:])
        return rows, used, (sums[stop] > sums[start]).astype(np.int64)

    def _everywhere(self, rows: Ints, used: Ints, spans: Ints) -> tuple[Ints, Ints, Ints]:
        """The same at all positions of each vertex."""
        paths = self.tree.paths
        if paths is None:
            return rows, used, spans
        everywhere, of = positions_of(paths, self.tree.vertex[rows])
        return everywhere, used[of], spans[of]

    def _set(self, positions: Ints, weight: Ints) -> None:
        if self.tree.paths is not None:
            positions, weight = self._on_all_edges(positions, weight)
        changed = self.weight[positions] != weight
        positions, weight = positions[changed], weight[changed]
        if not len(positions):
            return
        parents = self.tree.parent[positions]
        for parent in set(parents.tolist()):
            self._reorder(parent, positions[parents == parent], weight[parents == parent])
        self.weight[positions] = weight

    def _on_all_edges(self, positions: Ints, weight: Ints) -> tuple[Ints, Ints]:
        """Positions that one edge leads to: the child below all positions of the parent."""
        tree, paths = self.tree, self.tree.paths
        assert paths is not None  # noqa: S101 - the caller checks
        everywhere, of = positions_of(paths, tree.vertex[tree.parent[positions]])
        return everywhere + (positions - tree.parent[positions])[of], weight[of]

    # -- the order of the walk -----------------------------------------------------------------

    def order(self, parent: int) -> Ints:
        """The children of a vertex as positions, in the order of the walk."""
        found = self._orders.get(parent)
        if found is None:
            children = self.tree.children(parent)
            key = -self.key(children)
            order = np.argsort(key)
            found = self._orders[parent] = (key[order], children[order])
        return found[1]

    def leaf_order(self, group: VertexGroup) -> Ints:
        """The members of a group of leaves, parent by parent, in the order of the walk."""
        found = self._leaf_orders.get(id(group))
        if found is None:
            rank = self._rank[group.members]
            found = self._leaf_orders[id(group)] = np.lexsort((-rank, group.above))
        return found

    def _reorder(self, parent: int, positions: Ints, weight: Ints) -> None:
        """Move a few children to the places of their new weights."""
        found = self._orders.get(parent)
        if found is None:
            return
        if len(found[0]) < _WORTH_MOVING:
            del self._orders[parent]  # sorting so few again is quicker than moving some
            return
        key, children = found
        gone = np.searchsorted(key, -self.key(positions))
        key, children = np.delete(key, gone), np.delete(children, gone)
        new = -(weight * _RANKS + self._rank[positions])
        order = np.argsort(new)
        new, positions = new[order], positions[order]
        where = np.searchsorted(key, new)
        self._orders[parent] = (np.insert(key, where, new), np.insert(children, where, positions))


class WalkLimit:
    """The vertices that a walk visits below a vertex before it has enough."""

    def __init__(self, weights: EdgeWeights, low: bool) -> None:
        self._weights = weights
        self._low = low

    def below(
        self, stages: list[Stage], states: States, parents: Ints, share: int, shares: int
    ) -> QualifiedEntries:
        """What is visited below some parents before each has its shares, the best first."""
        group = stages[0].group
        if len(stages) > 1 or group.below or group.size <= 0 or group.divisible:
            return self.limit(below_members(stages, states, parents, self._low), share, shares)
        # Leaves are always visited in the same order and have equal sizes: counting is enough.
        first = group.first[parents]
        lengths = group.first[parents + 1] - first
        member = self._weights.leaf_order(group)[ragged(first, lengths)]
        good = states[id(stages[0])].ok[member]
        member, parent = member[good], np.arange(len(parents)).repeat(lengths)[good]
        turn = np.arange(len(parent)) - parent.searchsorted(parent)
        met = turn < shares * -(-max(share, 1) // group.size)
        member, parent = member[met], parent[met]
        score = group.score[member]
        best = np.lexsort((score if self._low else -score, parent))
        return entries_of(0, stages[0], states[id(stages[0])], member[best], parent[best])

    def enough(self, entries: QualifiedEntries, count: int) -> QualifiedEntries:
        """Of each parent's entries, those visited before they add up to a count, best first."""
        return self.limit(replace(entries, divisible=False), count, 1)

    def limit(self, entries: QualifiedEntries, share: int, shares: int) -> QualifiedEntries:
        """Of each parent's entries, those visited before it has its shares, the best first.

        Equals keep the order in which they were visited.
        """
        if not len(entries):
            return entries
        order = np.lexsort((-self._weights.key(entries.position), entries.parent))
        met = entries.take(order)
        kept = np.empty(len(met), np.bool_)
        if met.size > 0 and not met.divisible:
            each = -(-max(share, 1) // met.size)
            np.less(met.ordinal(), shares * each, out=kept)
        else:
            self._limit_mixed(met, share, shares, kept)
        met = met.take(kept)
        key = met.score if self._low else -met.score
        return met.take(np.lexsort((key, met.parent)))

    def _limit_mixed(self, met: QualifiedEntries, share: int, shares: int, kept: Bools) -> None:
        """The same where shares are made of vertices of different sizes, or of parts of pools."""
        parents = int(met.parent[-1]) + 1
        each = np.full(parents, max(share, 1))
        made = count_shares(met, each, parents)
        np.less(made[met.parent], shares, out=kept)
        rows, _, _ = pack(met, each, np.minimum(made, shares))
        kept[rows] = True


@dataclass(frozen=True, slots=True)
class VisitedMembers:
    """Members of one stage that the walk visited, and the ordinal of each visit among all."""

    members: Ints
    turn: Ints


class FirstFitWalk:
    """One traversal: the vertices that are visited before there is enough."""

    def __init__(self, weights: EdgeWeights, states: States) -> None:
        self._weights = weights
        self._states = states

    def meet(self, root: Stage, wanted: tuple[Resource, ...]) -> dict[int, VisitedMembers]:
        """What is visited for the request's top level, by `id(stage)`."""
        found: list[tuple[int, Ints]] = []
        if root.kind is not StageKind.PASS:
            found.append((id(root), np.zeros(1, np.int64)))
        elif self._states[id(root)].ok[0]:
            self._explore(root, 0, wanted, found)
        met: dict[int, tuple[list[Ints], list[Ints]]] = {}
        turn = 0
        for stage, members in found:
            of_stage = met.setdefault(stage, ([], []))
            of_stage[0].append(members)
            of_stage[1].append(np.arange(turn, turn + len(members)))
            turn += len(members)
        return {
            s: VisitedMembers(np.concatenate(m), np.concatenate(t)) for s, (m, t) in met.items()
        }

    def _explore(
        self,
        stage: Stage,
        member: int,
        wanted: tuple[Resource, ...],
        found: list[tuple[int, Ints]],
    ) -> dict[str, int]:
        """Visit the vertices below one vertex; returns the amount found of each wanted type."""
        if len(stage.below) == 1 and stage.below[0].kind is not StageKind.PASS and len(wanted) == 1:
            return self._explore_one_kind(stage, member, wanted[0], found)
        met = dict.fromkeys((w.type for w in wanted), 0)
        enough = {w.type: w.count.largest for w in wanted}
        for child, index in self._children(stage, member):
            own_type = child.request.type if child.request is not None else None
            if own_type is not None and met[own_type] >= enough[own_type]:
                continue
            if child.kind is StageKind.PASS:
                for type, amount in self._explore(child, index, wanted, found).items():
                    met[type] += amount
            else:
                type = own_type if own_type is not None else SLOT
                met[type] += self._worth(child, np.array([index]), enough[type])[0]
                found.append((id(child), np.array([index])))
            if all(met[type] >= enough[type] for type in met):
                break
        return met

    def _children(self, stage: Stage, member: int) -> Iterator[tuple[Stage, int]]:
        """The children that qualify, in the order of the walk."""
        order = self._weights.order(int(stage.group.members[member]))
        if len(stage.below) == 1:
            below = stage.below[0]
            return ((below, index) for index in self._in_order(below, member, order).tolist())
        found = []
        for below in stage.below:
            index = self._in_order(below, member, order)
            position = below.group.members[index]
            found.append((below, index, -self._weights.key(position)))
        keys = np.concatenate([key for _, _, key in found])
        kids = [(below, i) for below, index, _ in found for i in index.tolist()]
        return (kids[i] for i in np.argsort(keys).tolist())

    def _in_order(self, stage: Stage, parent: int, order: Ints) -> Ints:
        """The members below one parent that qualify, in the order of the walk."""
        group, state = stage.group, self._states[id(stage)]
        start, stop = int(group.first[parent]), int(group.first[parent + 1])
        if start == stop:
            return np.empty(0, np.int64)
        mine = group.members[start:stop]
        index = mine.searchsorted(order)
        if stop - start < len(order):
            index[index == len(mine)] = 0
            index = index[mine[index] == order]
        index += start
        good = state.ok[index]
        if state.amount is not None:
            good = good & (state.amount[index] > 0)
        found: Ints = index[good]
        return found

    def _explore_one_kind(
        self, stage: Stage, member: int, wanted: Resource, found: list[tuple[int, Ints]]
    ) -> dict[str, int]:
        """The same where all children to visit are of one group: no loop is needed."""
        below = stage.below[0]
        type = below.request.type if below.request is not None else SLOT
        if type != wanted.type:
            return {wanted.type: 0}
        order = self._weights.order(int(stage.group.members[member]))
        index = self._in_order(below, member, order)
        if not len(index):
            return {wanted.type: 0}
        enough = wanted.count.largest
        sums = np.cumsum(self._worth(below, index, enough))
        needed = min(int(sums.searchsorted(enough)) + 1, len(index))
        found.append((id(below), index[:needed]))
        return {wanted.type: int(sums[needed - 1])}

    def _worth(self, stage: Stage, members: Ints, most: int) -> Ints:
        """The amount that each member adds: itself, or the slots filled below it."""
        state = self._states[id(stage)]
        if stage.request is None and state.slots is not None:
            slots: Ints = state.slots[members]
            return np.minimum(slots, most) if len(stage.slots) == 1 else slots
        if state.amount is not None:
            return state.amount[members]
        return np.where(state.ok[members], stage.group.size, 0)
