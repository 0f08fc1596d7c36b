"""Places a gang that has a topology request.

An *area* is a set of nodes in which the whole gang is tried, shape by shape, as `placer` does it on
all nodes. A gang that requires one rack is tried in each rack that has enough capacity for each of
its shapes, the one with the least capacity first, so that large free areas stay free. One that only
prefers one rack is then tried in one domain of each wider level, and last on all nodes, domain by
domain, the ones with the most capacity first. Inside an area nodes are used in the policy's order;
slices choose their domains before.

For a gang of equal pods a placement is found if there is one. For several shapes it is as on all
nodes: what an earlier shape takes may be what a later one needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.common.reasons import Reason
from fluxnetes.graph.topology import Topology
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.engine.closure import VertexSelection
from fluxnetes.match.gang.distribution import SliceDomains, fill_first, place_slices, within_quota
from fluxnetes.match.gang.domains import LevelDomains
from fluxnetes.match.gang.model import Gang, Seats, Shape, TopologyRequest
from fluxnetes.match.gang.node_table import FreeTable
from fluxnetes.match.gang.placer import GangPlacement, find_shared

_UNLIMITED = np.array([2**62])
"""The quota of a gang that is not spread."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The domains of each level of one tree, and which levels are wider than one."""

    domains: Callable[[str], LevelDomains]
    wider: Callable[[str], tuple[str, ...]]
    rows: Callable[[Iterable[str]], list[int]]
    """The rows of nodes by name, where -1 is no row of the table."""

    def pods_in(self, level: str, beside: tuple[tuple[str, int], ...]) -> Ints:
        """The number of pods in each domain of a level, of those that are on named nodes."""
        domains = self.domains(level)
        found = np.zeros(domains.count, np.int64)
        for row, (_, pods) in zip(self.rows(name for name, _ in beside), beside, strict=True):
            if row >= 0 and domains.of_row[row] >= 0:
                found[domains.of_row[row]] += pods
        return found

    def is_wider(self, level: str, other: str) -> bool:
        return level != other and level in self.wider(other)


@dataclass(frozen=True, slots=True)
class ShapeSeats:
    """Where the pods of a shape are: rows of the node table, and how many pods on each."""

    rows: Ints
    pods: Ints


@dataclass(slots=True)
class AreaTrial:
    """What became of a gang in one area."""

    seats: list[ShapeSeats]
    is_complete: bool
    pods: int
    """Pods that found a place."""
    slices: int
    """Slices that found a place."""


class TopologyPlacer:
    """One attempt to place a gang under its topology request."""

    def __init__(
        self,
        tree: Topology,
        free_table: FreeTable,
        levels: Levels,
        gang: Gang,
        allowed: Callable[[Constraint], Bools],
    ) -> None:
        assert gang.topology is not None  # noqa: S101 - the caller checked
        self.gang = gang
        self.request = gang.topology
        self.levels = levels
        self.free = free_table
        self._tree = tree
        self.capacity = [self._capacity_of(shape, allowed) for shape in gang.shapes]
        """By shape and row, the pods that fit before any of the gang is placed."""

    def _capacity_of(self, shape: Shape, allowed: Callable[[Constraint], Bools]) -> Ints:
        usable = self.free.usable & self._is_inside()
        if shape.constraint is not None:
            usable = usable & allowed(shape.constraint)
        return np.where(usable, self.free.capacity_for(shape), 0)

    def _is_inside(self) -> Bools:
        """The rows that are in a domain of every level that has to have one."""
        request = self.request
        inside = np.ones(len(self.free.table.nodes), np.bool_)
        for level in (request.required, request.slice_level, request.spread_level):
            if level:
                inside &= self.levels.domains(level).of_row >= 0
        return inside

    # -- the whole gang ------------------------------------------------------------------------

    def seat(self) -> GangPlacement | None:
        """Seats for the whole gang; None: it does not fit."""
        for area in self.areas():
            trial = self.try_area(area)
            if trial.is_complete:
                return self._placement(trial.seats)
        return None

    def _placement(self, placed: list[ShapeSeats]) -> GangPlacement | None:
        table = self.free.table
        positions, needs = [], []
        for shape, seats in zip(self.gang.shapes, placed, strict=True):
            for type, amount in shape.amounts:
                positions.append(table.pools[type][seats.rows])
                needs.append(amount * seats.pods)
        for type, amount in self.gang.shared:
            found = find_shared(self.free, type, amount)
            if isinstance(found, Reason):
                return None
            positions.append(np.array([found]))
            needs.append(np.array([amount]))
        position = np.concatenate(positions)
        selection = VertexSelection(
            position, np.concatenate(needs), np.ones(len(position), np.bool_)
        )
        nodes = self._tree.vertex[table.nodes]
        return GangPlacement([Seats(nodes[each.rows], each.pods) for each in placed], selection)

    # -- areas ---------------------------------------------------------------------------------

    def areas(self) -> Iterator[Ints]:
        """The areas in which the gang is tried, each as rows in the order of their use."""
        required, preferred = self.request.required, self._preferred()
        for level in preferred:
            yield from self._domains(level)
        if required:
            for area in self._domains(required):
                if preferred:
                    yield self._packed(area, preferred)
                yield area
            return
        every = self.useful(np.arange(len(self.free.table.nodes)))
        if preferred:
            yield self._packed(every, preferred)
        yield every

    def _preferred(self) -> list[str]:
        """The levels of which one domain should hold the gang, the narrowest first."""
        request = self.request
        level = request.preferred
        if level is None and request.required is None:
            level = request.slice_level  # slices that find one rack need no second one
        if level is None:
            return []
        levels = [level, *self.levels.wider(level)]
        if request.required:
            levels = [each for each in levels if self.levels.is_wider(request.required, each)]
        return levels

    def _domains(self, level: str) -> Iterator[Ints]:
        """The domains of a level with enough capacity for each shape, the least capacity first."""
        domains = self.levels.domains(level)
        enough = np.ones(domains.count, np.bool_)
        total = np.zeros(domains.count, np.int64)
        for shape, capacity in zip(self.gang.shapes, self.capacity, strict=True):
            fits = self.bound(domains, level, capacity)
            enough &= fits >= shape.count
            total += fits
        if len(self.gang.shapes) > 1:
            enough &= self._has_enough_for_all(domains)
        is_elsewhere = self.is_elsewhere(level)
        if level == self.request.required:
            enough &= ~is_elsewhere
        found = np.flatnonzero(enough)
        for domain in found[np.lexsort((total[found], is_elsewhere[found]))].tolist():
            yield self.useful(domains.rows(domain))

    def is_elsewhere(self, level: str) -> Bools:
        """The domains without pods of the gang, where other ones have some."""
        placed = self.levels.pods_in(level, self.request.beside)
        elsewhere: Bools = (placed == 0) & placed.any()
        return elsewhere

    def _has_enough_for_all(self, domains: LevelDomains) -> Bools:
        """Whether the sums of each domain suffice for all shapes together."""
        useful = np.maximum.reduce(self.capacity) > 0
        enough = np.ones(domains.count, np.bool_)
        for type, amount in replace(self.gang, shared=()).needs().items():
            enough &= (
                domains.sums(np.where(useful, np.maximum(self.free.free(type), 0), 0)) >= amount
            )
        return enough

    def bound(self, domains: LevelDomains, level: str, capacity: Ints) -> Ints:
        """An upper bound of the pods of a shape that each domain of a level can have."""
        request = self.request
        found = domains.sums(capacity)
        if request.spread_level:
            found = np.minimum(found, self._spread_bound(domains, level, capacity))
        if request.slice_level and self.levels.is_wider(level, request.slice_level):
            slices = self._within(domains, request.slice_level, capacity, request.slice_size)
            found = np.minimum(found, slices + request.slice_size - 1)
        return found

    def _spread_bound(self, domains: LevelDomains, level: str, capacity: Ints) -> Ints:
        spread, most = self.request.spread_level, self.request.spread_most
        assert spread is not None  # noqa: S101 - the caller checked
        if self.levels.is_wider(spread, level):
            return np.full(domains.count, most)
        narrow = self.levels.domains(spread)
        left = np.maximum(most - self.levels.pods_in(spread, self.request.beside), 0)
        return self._add_up(domains, narrow, np.minimum(narrow.sums(capacity), left))

    def _within(self, domains: LevelDomains, level: str, capacity: Ints, unit: int) -> Ints:
        """The pods that fit in whole units, each inside one domain of a narrower level."""
        narrow = self.levels.domains(level)
        return self._add_up(domains, narrow, narrow.sums(capacity) // unit * unit)

    def _add_up(self, domains: LevelDomains, narrow: LevelDomains, pods: Ints) -> Ints:
        """The sum over the narrower domains in each domain."""
        above = domains.of_row[narrow.first_row]
        found = np.bincount(above + 1, weights=pods, minlength=domains.count + 1)
        return found[1:].astype(np.int64)

    def useful(self, rows: Ints) -> Ints:
        """The rows that have capacity for some shape."""
        fits = np.zeros(len(rows), np.bool_)
        for capacity in self.capacity:
            fits |= capacity[rows] > 0
        return rows[fits]

    def _packed(self, rows: Ints, levels: list[str]) -> Ints:
        """Rows ordered so that the domains with the most capacity are filled first."""
        if not levels:
            return rows
        keys: list[Ints] = []
        for level in levels:  # the last key of lexsort is the first to count
            domains = self.levels.domains(level)
            total = sum((domains.sums(each) for each in self.capacity), np.int64(0))
            rank = np.empty(domains.count + 1, np.int64)
            rank[np.argsort(-np.asarray(total), kind="stable")] = np.arange(domains.count)
            rank[-1] = domains.count  # what is in no domain comes last
            keys.append(rank[domains.of_row[rows]])
        return rows[np.lexsort((rows, *keys))]

    # -- one area ------------------------------------------------------------------------------

    def try_area(self, rows: Ints, *, partial: bool = False) -> AreaTrial:
        """Place the gang on some rows; `partial`: as much of it as fits, even if not all does."""
        return _Area(self, rows).place(partial=partial)


class _Area:
    """The nodes of one area, and what is left of them."""

    def __init__(self, placer: TopologyPlacer, rows: Ints) -> None:
        self._placer = placer
        self._request: TopologyRequest = placer.request
        self._rows = rows
        self._left: dict[str, Ints] = {}
        """What is left of the types that the gang uses, by place in `rows`."""
        self._spread = self._domains(self._request.spread_level)
        self._slice = self._domains(self._request.slice_level)
        self._quota = _UNLIMITED.copy()
        if self._request.spread_level:
            placed = placer.levels.pods_in(self._request.spread_level, self._request.beside)
            self._quota = np.maximum(self._request.spread_most - placed, 0)

    def _domains(self, level: str | None) -> Ints:
        if level is None:
            return np.zeros(len(self._rows), np.int64)
        return self._placer.levels.domains(level).of_row[self._rows]

    def place(self, *, partial: bool) -> AreaTrial:
        trial = AreaTrial([], True, 0, 0)
        shapes, capacities = self._placer.gang.shapes, self._placer.capacity
        for number, (shape, capacity) in enumerate(zip(shapes, capacities, strict=True)):
            here = capacity[self._rows]
            if number:
                here = np.minimum(here, self._capacity_left(shape))
            at, pods, slices = self._distribute(here, shape.count)
            trial.pods += int(pods.sum())
            trial.slices += slices
            trial.seats.append(ShapeSeats(self._rows[at], pods))
            trial.is_complete &= int(pods.sum()) == shape.count
            if not trial.is_complete and not partial:
                break
            if number + 1 < len(shapes):
                self._take(shape, at, pods)
        return trial

    def _capacity_left(self, shape: Shape) -> Ints:
        each = [self._left[type] // n for type, n in shape.amounts if type in self._left]
        nothing_used = np.full(len(self._rows), 2**62)
        left: Ints = np.maximum(np.minimum.reduce([nothing_used, *each]), 0)
        return left

    def _take(self, shape: Shape, at: Ints, pods: Ints) -> None:
        for type, amount in shape.amounts:
            if type not in self._left:
                self._left[type] = self._placer.free.free(type)[self._rows]
            self._left[type][at] -= amount * pods
        if self._request.spread_level:
            np.subtract.at(self._quota, self._spread[at], pods)

    def _distribute(self, capacity: Ints, count: int) -> tuple[Ints, Ints, int]:
        """Places in `rows` and the pods on each, in order; and the slices that these make."""
        request = self._request
        spread, slices = request.spread_level, request.slice_level
        by_domain = bool(
            spread and slices and self._placer.levels.is_wider(spread, slices)
        )  # a quota over several slice domains
        if spread and not by_domain:
            capacity = within_quota(capacity, self._spread, self._quota)
        if slices:
            return self._in_slices(capacity, count, by_domain=by_domain)
        pods = fill_first(capacity, count)
        at = np.flatnonzero(pods)
        return at, pods[at], 0

    def _in_slices(self, capacity: Ints, count: int, *, by_domain: bool) -> tuple[Ints, Ints, int]:
        _, first, domain = np.unique(self._slice, return_index=True, return_inverse=True)
        sums = np.bincount(domain, weights=capacity, minlength=len(first)).astype(np.int64)
        wider = self._spread[first] if by_domain else np.zeros(len(first), np.int64)
        quota = self._quota if by_domain else _UNLIMITED
        plan = place_slices(SliceDomains(sums, self._request.slice_size, wider, quota), count)
        at, pods = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for number, wanted in plan.pods.items():
            inside = np.flatnonzero(domain == number)
            taken = fill_first(capacity[inside], wanted)
            at.append(inside[taken > 0])
            pods.append(taken[taken > 0])
        return np.concatenate(at), np.concatenate(pods), plan.found
