"""Which jobs are really on which vertices: none is there twice, or where none may be.

Everything is computed from the placements that were carried out, from the moment at which a job
started to the moment at which it was really gone, and from the edges of the graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.jobspec.build import jobspec, node, slot
from fluxnetes.jobspec.constraint import Hostlist
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.planning import times
from fluxnetes.queue.changes import NodeWindow
from fluxnetes.queue.events import Ended, NodesClosed, NodesLost, Occupied, Submit
from fluxnetes.queue.jobs import QueueJob, Request, Submission
from fluxnetes.queue.states import JobState
from tests.property.queue.world import Step, World


class Books:
    """Looks at the truth after every instant."""

    def __init__(self, world: World) -> None:
        self._world = world
        graph = world.graph
        self._parent = dict(
            zip(graph.edge_target.tolist(), graph.edge_source.tolist(), strict=True)
        )
        self._windows: dict[str, NodeWindow | None] = {}
        self._own: dict[int, dict[int, int]] = {}
        """What each job had for itself when we last looked, by row of the graph."""

    def check(self, step: Step) -> None:
        for changes in step.changes:
            self._windows.update(changes.windows)
        self._check_that_nothing_is_overcommitted()
        self._check_that_whole_means_alone()
        for job in step.started:
            if job in self._world.present:
                self._check_start(job)
        # Tasks move and groups grow before the queue decides; what happened then may be past.
        stirred = step.has(NodesLost, NodesClosed, Occupied)
        for job, presence in self._world.present.items():
            if job in step.started or not stirred:
                self._check_what_is_new(job, presence.placement)
        self._own = {job: _own(p.placement) for job, p in self._world.present.items()}

    # -- at every moment -----------------------------------------------------------------------

    def _check_that_nothing_is_overcommitted(self) -> None:
        graph = self._world.graph
        taken: Counter[int] = Counter()
        for presence in self._world.present.values():
            taken.update(_own(presence.placement))
        for row, amount in taken.items():
            path, size = graph.path(row), int(graph.size[row])
            assert amount <= size, f"{amount} of {path} are taken at {self._world.now}, of {size}"

    def _check_that_whole_means_alone(self) -> None:
        """Where a job has a vertex that cannot be divided, no other has anything below it."""
        own = {job: set(_own(p.placement)) for job, p in self._world.present.items()}
        whole = {job: {r for r in rows if not self._divisible(r)} for job, rows in own.items()}
        for one, other in combinations(own, 2):
            for mine, theirs in ((one, other), (other, one)):
                if whole[mine]:
                    above = {up for row in own[theirs] for up in self._lineage(row)}
                    assert whole[mine].isdisjoint(above), f"{theirs} is on the nodes of {mine}"

    def _divisible(self, row: int) -> bool:
        return bool(self._world.graph.divisible[row])

    def _lineage(self, row: int) -> list[int]:
        found = [row]
        while found[-1] in self._parent:
            found.append(self._parent[found[-1]])
        return found

    # -- when a job starts ---------------------------------------------------------------------

    def _check_start(self, id: int) -> None:
        world, job = self._world, self._world.job(id)
        placement = world.present[id].placement
        nodes = self._nodes(_own(placement))
        assert _amounts(world.graph, placement) == _asked(job)
        for window in self._windows.values():
            if window is not None and not nodes.isdisjoint(window.nodes):
                self._check_beside(window, job.submission, job.walltime)
        if job.submission.reservation is not None:
            reserved = self._windows[job.submission.reservation]
            assert reserved is not None and nodes <= set(reserved.nodes)

    def _check_what_is_new(self, job: int, placement: Placement) -> None:
        """What a job is given is up, open, and neither another job's nor held by others."""
        world, others = self._world, self._world.held_by_others()
        before = self._own.get(job, {})
        new = [row for row, amount in _own(placement).items() if amount > before.get(row, 0)]
        nodes = self._nodes(new)
        assert nodes.isdisjoint(world.down), f"job {job} is given nodes that are down"
        assert nodes.isdisjoint(world.closed), f"job {job} is given nodes that are closed"
        for row in new:
            taken = sum(_own(p.placement).get(row, 0) for p in world.present.values())
            free = int(world.graph.size[row]) - others.get(row, 0)
            assert taken <= free, f"{taken} of {world.graph.path(row)} are taken, of {free}"

    def _check_beside(self, window: NodeWindow, spec: Submission, walltime: int | None) -> None:
        """A job that has nodes of a window is gone before it, or may be in it."""
        now = self._world.now
        if not window.maintenance and spec.reservation == window.name:
            assert window.start <= now
            assert walltime is not None and now + walltime <= window.end
        elif now < window.end:
            assert walltime is not None and now + walltime <= window.start, (
                f"job {spec.id} starts at {now} for {walltime} and runs into {window}"
            )

    def _nodes(self, own: Iterable[int]) -> set[str]:
        """The names of the nodes that rows are in."""
        graph = self._world.graph
        rows = {up for row in own for up in self._lineage(row)}
        is_node = graph.types.get("node")
        return {graph.name(row) for row in rows if graph.type_id[row] == is_node}


def _own(placement: Placement) -> dict[int, int]:
    """What a job has for itself, by row of the graph."""
    mine = placement.exclusive
    return dict(zip(placement.vertex[mine].tolist(), placement.needs[mine].tolist(), strict=True))


def _amounts(graph: ResourceGraph, placement: Placement) -> Counter[str]:
    """What a job has for itself, by type; of whole nodes the nodes alone."""
    found: Counter[str] = Counter()
    for row, amount in _own(placement).items():
        found[graph.types.names[graph.type_id[row]]] += amount
    return Counter({"node": found["node"]}) if found["node"] else found


def _asked(job: QueueJob) -> Counter[str]:
    """What a job must have, all of it; an elastic one as many units as it says it has."""
    request, size = job.submission.request, job.submission.size
    if size is not None:
        assert size.min <= job.size <= size.max, f"job {job.id}: {job.size} of {size}"
        request = times(request, job.size)
    if isinstance(request, Gang):
        return Counter(request.needs())
    return Counter({"node": request.resources[0].count.min})


# -- in the end ------------------------------------------------------------------------------------


def check_that_nothing_is_leaked(world: World) -> None:
    """All jobs are gone, and one that asks for everything gets it at once."""
    assert not world.present
    graph = world.graph
    types = {row: graph.types.names[graph.type_id[row]] for row in range(graph.vertex_count)}
    nodes = frozenset(graph.name(row) for row, type in types.items() if type == "node")
    _check_that_it_starts(world, jobspec(slot(len(nodes), node(1)), constraint=Hostlist(nodes)))
    root = next(row for row, type in types.items() if type == "cluster")
    beside = graph.edge_target[graph.edge_source == root].tolist()
    pools = {types[row]: int(graph.size[row]) for row in beside if graph.divisible[row]}
    if pools:
        _check_that_it_starts(world, Gang((Shape.of(1, {"cpu": 1}),), tuple(pools.items())))


def _check_that_it_starts(world: World, request: Request) -> None:
    last = 1_000_000 + len(world.scheduler.jobs)
    world.scheduler.apply(Submit(Submission(last, request, walltime=1)), world.now)
    world.scheduler.cycle(world.now)
    assert world.job(last).state is JobState.ALLOCATED, world.scheduler.explain(last, world.now)
    world.scheduler.apply(Ended(last), world.now)
