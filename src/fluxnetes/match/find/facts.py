"""The facts about every vertex that `find` can query, as columns.

A vertex with several parents is found once, below the first of them: at its primary position. Facts
are true of it there, by whatever path a job came to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.match.engine.closure import HeldVertices, propagate_down
from fluxnetes.match.engine.engine import MatchEngine
from fluxnetes.match.jobs import MatchedJob


class TreeFacts:
    """Facts about the positions of an engine's tree and the jobs on it."""

    def __init__(self, engine: MatchEngine, jobs: Iterable[MatchedJob]) -> None:
        self._engine = engine
        self._tree = engine.tree
        self._held = {job.jobid: (job, engine.held(job.placement)) for job in jobs}

    def __len__(self) -> int:
        return len(self._tree)

    def down(self) -> Bools:
        return propagate_down(self._tree, ~self._engine.ledger.up)

    def allocated(self) -> Bools:
        return propagate_down(self._tree, self._exclusive(reserved=False))

    def reserved(self) -> Bools:
        return propagate_down(self._tree, self._exclusive(reserved=True))

    def _exclusive(self, *, reserved: bool) -> Bools:
        found = np.zeros(len(self), np.bool_)
        for job, held in self._held.values():
            if job.reserved == reserved:
                found[self._primary(held.position[held.exclusive])] = True
        return found

    def _primary(self, positions: Ints) -> Ints:
        """The primary positions of the vertices at some positions."""
        tree = self._tree
        return positions if tree.is_tree else tree.position[tree.vertex[positions]]

    def jobid_alloc(self, jobid: int) -> Bools:
        return self._of_job(jobid, reserved=False)

    def jobid_reserved(self, jobid: int) -> Bools:
        return self._of_job(jobid, reserved=True)

    def _of_job(self, jobid: int, *, reserved: bool) -> Bools:
        found = np.zeros(len(self), np.bool_)
        if jobid in self._held and self._held[jobid][0].reserved == reserved:
            held = self._held[jobid][1]
            found[self._primary(held.position[held.exclusive])] = True
        return found

    def jobid_tag(self, jobid: int) -> Bools:
        found = np.zeros(len(self), np.bool_)
        if jobid in self._held:
            found[self._primary(self._held[jobid][1].position)] = True
        return found

    def jobid_span(self, jobid: int) -> Bools:
        """Vertices that track a type of which the job holds something below them."""
        found = np.zeros(len(self), np.bool_)
        if jobid in self._held:
            held = self._held[jobid][1]
            found[self._primary(held.position)] = self._counts_something(held)
        return found & self.filtered()

    def _counts_something(self, held: HeldVertices) -> Bools:
        tracked = [self._engine.graph.types.get(n) for n in self._engine.filters.tracked]
        of_interest = np.isin(self._engine.types[held.position], tracked)
        sums = np.concatenate(([0], np.cumsum(of_interest)))
        start, stop = below_rows(self._engine, held)
        return sums[stop] > sums[start]

    def filtered(self) -> Bools:
        """Vertices that track the amounts of some types below them."""
        tree, names = self._tree, self._engine.graph.types.names
        inner = tree.first_child[1:] > tree.first_child[:-1]
        keeps = np.array([bool(self._tracked_by(name)) for name in names], np.bool_)
        return inner & keeps[self._engine.types]

    def _tracked_by(self, type: str) -> list[int]:
        return self._engine.filters.of(type, self._engine.graph.types)

    def named(self, names: Set[str]) -> Bools:
        graph = self._engine.graph
        lower = {name.lower() for name in names} | set(names)
        return np.array([name in lower for name in graph.names(self._tree.vertex)], np.bool_)

    def has_property(self, key: str) -> Bools:
        found = np.zeros(len(self), np.bool_)
        for vertex, properties in self._engine.graph.vertices_with_properties().items():
            position = self._tree.position[vertex]
            if position >= 0 and key in properties:
                found[position] = True
        return found

    def usage(self, positions: Ints, jobid: int | None) -> dict[int, dict[str, str]]:
        """The amounts that each vertex tracks: used (by all jobs, or by one) and total."""
        if jobid is None:
            jobs = [held for job, held in self._held.values() if not job.reserved]
        else:
            jobs = [self._held[jobid][1]] if jobid in self._held else []
        return {int(self._tree.vertex[p]): self._usage_of(int(p), jobs) for p in positions.tolist()}

    def _usage_of(self, position: int, jobs: list[HeldVertices]) -> dict[str, str]:
        engine, end = self._engine, int(self._tree.end[position])
        below = slice(position + 1, end)
        sizes = engine.ledger.nominal[below]
        if self._tree.paths is not None:
            sizes = sizes * self._tree.paths.primary[below]
        found = {}
        for number in self._tracked_by(engine.graph.types.names[engine.types[position]]):
            total = int(sizes[engine.types[below] == number].sum())
            used = sum(self._used_below(held, position, number) for held in jobs)
            found[engine.graph.types.names[number]] = f"used:{used}, total:{total}"
        return dict(sorted(found.items()))

    def _used_below(self, held: HeldVertices, position: int, type_number: int) -> int:
        """What a job holds of a type below a vertex, wherever its path has the vertex."""
        used = 0
        for at in self._tree.twins(position).tolist():
            start, stop = np.searchsorted(held.position, (at + 1, int(self._tree.end[at])))
            mine = self._engine.types[held.position[start:stop]] == type_number
            mine &= held.exclusive[start:stop]
            used += int(held.needs[start:stop][mine].sum())
        return used


def below_rows(engine: MatchEngine, held: HeldVertices) -> tuple[Ints, Ints]:
    """For each row of a job, where the rows strictly below it begin and end."""
    start = np.arange(len(held.position)) + 1
    stop = np.searchsorted(held.position, engine.tree.end[held.position])
    return start, stop
