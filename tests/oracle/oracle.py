"""The operations of the matcher, done slowly.

An `Oracle` reads the graph it is given (and never changes its shape); its jobs are in `calendar`.
Every answer is a `Verdict`: how it ended, when the job may start, and the exact rows it was given.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import CONTAINMENT
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.jobspec.model import SLOT, XOR_SLOT, Jobspec, Resource
from fluxnetes.match.answers import Operation, Outcome
from tests.oracle.calendar import Calendar, Job, Row, Window
from tests.oracle.emission import Emission, exclusive_types
from tests.oracle.filters import UNWEIGHTED, Filters
from tests.oracle.policies import read_policy
from tests.oracle.search import Search
from tests.oracle.tree import Tree, Vertex

GRAPH_END = 3_153_600_000
"""A graph lasts a hundred years, and a job without a walltime as long as the graph."""
END_OF_TIME = 2**63 - 1

_RECORDED = (
    Operation.ALLOCATE,
    Operation.ALLOCATE_WITH_SATISFIABILITY,
    Operation.ALLOCATE_ORELSE_RESERVE,
)
_LOOKS_AHEAD = (Operation.ALLOCATE_ORELSE_RESERVE, Operation.WITHOUT_ALLOCATING_FUTURE)

Held = tuple[int, int, bool]
"""Row in the graph, needs, exclusive."""


@dataclass(frozen=True)
class Verdict:
    """The answer to one match."""

    outcome: Outcome
    jobid: int
    at: int = 0
    rows: frozenset[Held] = frozenset()
    edges: frozenset[tuple[int, int]] = frozenset()
    """The edges through which the job came: rows of parent and child."""


@dataclass(frozen=True)
class Terrain:
    """The graph as a search sees it: who is up, what may be used, which child comes first."""

    graph: ResourceGraph
    constraint: Constraint | None
    weights: Mapping[tuple[int, int], int]

    def is_up(self, vertex: Vertex) -> bool:
        return bool(self.graph.up[vertex.row])

    def properties(self, vertex: Vertex) -> Mapping[str, str]:
        return self.graph.properties(vertex.row)

    def satisfies_constraint(self, vertex: Vertex) -> bool:
        """Constraints speak of nodes; everything else satisfies them."""
        if self.constraint is None or vertex.type not in ("node", "storage_node"):
            return True
        name, rank = self.graph.name(vertex.row), int(self.graph.rank[vertex.row])
        return self.constraint.matches(
            name, rank, lambda key: self.graph.has_property(vertex.row, key)
        )

    def by_weight(self, vertex: Vertex) -> Iterable[Vertex]:
        def weight(child: Vertex) -> tuple[int, int]:
            return self.weights.get((vertex.row, child.row), UNWEIGHTED), child.uniq_id

        return sorted(vertex.children, key=weight, reverse=True)


@dataclass(frozen=True)
class Request:
    """A jobspec, understood: what is asked, for how long, from when on."""

    jobspec: Jobspec
    operation: Operation
    now: int
    duration: int
    nodes: int
    """How many nodes it needs at least, as far as the filters count nodes."""


@dataclass
class Oracle:
    """A matcher. See the package's docstring."""

    graph: ResourceGraph
    policy: str = "first"
    traverser: str = "simple"
    prune_filters: str = "ALL:core,ALL:node"
    subsystem: str = CONTAINMENT
    calendar: Calendar = field(default_factory=Calendar)
    weights: dict[tuple[int, int], int] = field(default_factory=dict)
    """The weight of each edge (rows of parent and child) through which a job was ever placed."""
    next_jobid: int = 1

    def __post_init__(self) -> None:
        self._policy = read_policy(self.policy)
        self._filters = Filters(self.prune_filters, self.graph.types.names)
        self._tree = Tree(self.graph, self.subsystem)
        self._filters.prime(self._tree)

    @property
    def tree(self) -> Tree:
        """The graph as it stands; jobs keep their rows when it grows or shrinks."""
        if self._tree.version != self.graph.version:
            grown = self.graph.vertex_count > max(self._tree.by_row, default=-1) + 1
            self._tree = Tree(self.graph, self.subsystem)
            self._filters.follow(self._tree)
            if grown:
                self._filters.prime(self._tree)
            self._rebind()
        return self._tree

    def _rebind(self) -> None:
        """Point the rows of all jobs at the new tree's vertices; what is gone is held no more."""
        for job in list(self.calendar.jobs.values()):
            job.rows = {
                number: Row(self._tree.same_path(row.vertex), row.needs, row.exclusive)
                for number, row in job.rows.items()
                if number in self._tree.by_row
            }
            self._reduce(job, job.rows)

    # -- match ---------------------------------------------------------------------------------

    def match(self, operation: Operation, jobspec: Jobspec, now: int = 0) -> Verdict:
        jobid = self.next_jobid
        request = self._understand(operation, jobspec, now)
        if request is None:
            return Verdict(Outcome.INVALID, jobid)
        if operation is Operation.SATISFIABILITY:
            ever = self._could_ever(request)
            return Verdict(Outcome.SATISFIABLE if ever else Outcome.UNSATISFIABLE, jobid)
        if operation in _RECORDED:
            self.next_jobid += 1
        refused = self._precheck(request)
        if refused is not None:
            return Verdict(refused, jobid)
        job = self._place(request, jobid)
        if job is not None:
            return self._settle(request, job)
        if operation in (Operation.ALLOCATE, Operation.WITHOUT_ALLOCATING):
            return Verdict(Outcome.BUSY, jobid)
        ever = self._could_ever(request)
        return Verdict(Outcome.BUSY if ever else Outcome.UNSATISFIABLE, jobid)

    def _understand(self, operation: Operation, jobspec: Jobspec, now: int) -> Request | None:
        known = self.graph.types
        if not jobspec.resources or not all(type in known for type in types_of(jobspec.resources)):
            return None
        seconds = jobspec.duration
        if not 0 <= seconds <= GRAPH_END:
            return None
        duration = math.ceil(seconds) if seconds else GRAPH_END
        counted = "node" in self._filters.counted
        nodes = nodes_needed(jobspec.resources, self.traverser == "flexible") if counted else 0
        return Request(jobspec, operation, now, duration, nodes)

    def _place(self, request: Request, jobid: int) -> Job | None:
        """The job at the first time at which the request fits, not yet recorded."""
        times = [request.now]
        if request.operation in _LOOKS_AHEAD:
            times += self._later_times(request.now)
        for at in times:
            window = Window(at, at + request.duration, begins_now=at == request.now)
            rows = self._search(request, window)
            if rows is not None:
                end = min(window.end, GRAPH_END)
                return Job(jobid, at, end, at > request.now, rows)
        return None

    def _later_times(self, now: int) -> list[int]:
        """The instants after now at which the root's filter sees something begin or end."""
        root = self.tree.root
        seen = [job for job in self.calendar.jobs.values() if self._filters.sees(root, job)]
        return sorted({t for job in seen for t in (job.start, job.end) if t > now})

    def _could_ever(self, request: Request) -> bool:
        window = Window(END_OF_TIME - request.duration, END_OF_TIME)
        return self._search(request, window, heeds_status=False) is not None

    def _search(
        self, request: Request, window: Window, heeds_status: bool = True
    ) -> dict[int, Row] | None:
        """The rows that the request gets in a window; None if it does not fit."""
        root = self.tree.root
        resources = request.jobspec.resources
        whole = exclusive_types(resources)
        if self._policy.node_exclusive:
            whole.add("node")
        search = Search(
            calendar=self.calendar,
            terrain=Terrain(self.graph, request.jobspec.constraint, self.weights),
            policy=self._policy,
            flexible=self.traverser == "flexible",
            window=window,
            heeds_status=heeds_status,
            whole=whole,
        )
        if not search.run(root, resources):
            return None
        emission = Emission(search.marks, whole)
        emission.emit(root, search.marks[root])
        return emission.rows

    def _settle(self, request: Request, job: Job) -> Verdict:
        if not job.rows:  # it fits, but would hold nothing
            return Verdict(Outcome.INVALID, job.jobid)
        if job.start >= GRAPH_END:
            return Verdict(Outcome.BUSY, job.jobid)
        if request.operation in _RECORDED:
            self._record(job, request.now)
            outcome = Outcome.RESERVED if job.reserved else Outcome.ALLOCATED
        else:
            outcome = Outcome.MATCHED
        return Verdict(outcome, job.jobid, job.start, held(job), edges(job))

    def _record(self, job: Job, now: int) -> None:
        self.calendar.jobs[job.jobid] = job
        if self._policy.stops_early:
            for row in job.rows.values():
                if row.vertex.parent is not None:
                    self._reweigh(row.vertex.parent, row.vertex, now)

    def _reweigh(self, parent: Vertex, child: Vertex, now: int) -> None:
        edge = (parent.row, child.row)
        old = self.weights.get(edge, UNWEIGHTED)
        self.weights[edge] = self._filters.weight(self.calendar, child, now, old)

    # -- the check before any search -----------------------------------------------------------

    def _precheck(self, request: Request) -> Outcome | None:
        """Are there nodes enough at all? The outcome if not, None to go on and search."""
        enough = request.nodes <= self._nodes_up()
        if enough and request.jobspec.constraint is not None:
            enough = request.nodes <= self._allowed_nodes(request)
        if enough:
            return None
        if request.operation is Operation.ALLOCATE_WITH_SATISFIABILITY:
            return Outcome.UNSATISFIABLE
        return Outcome.BUSY

    def _nodes(self) -> list[Vertex]:
        return [vertex for vertex in self.tree.vertices() if vertex.type == "node"]

    def _nodes_up(self) -> int:
        return sum(map(self._is_reachable, self._nodes()))

    def _is_reachable(self, node: Vertex) -> bool:
        """Is the node up, and all above it on one of its paths?"""
        paths = ((one, *one.ancestors()) for one in self.tree.on_paths[node.row])
        return any(all(self.graph.up[v.row] for v in path) for path in paths)

    def _allowed_nodes(self, request: Request) -> int:
        """How many nodes the constraint allows, whatever runs on them."""
        terrain = Terrain(self.graph, request.jobspec.constraint, self.weights)
        ignores_status = request.operation is Operation.ALLOCATE_WITH_SATISFIABILITY
        return sum(
            terrain.satisfies_constraint(node) and (ignores_status or self._is_reachable(node))
            for node in self._nodes()
        )

    # -- what ends, shrinks and changes --------------------------------------------------------

    def cancel(self, jobid: int) -> None:
        del self.calendar.jobs[jobid]

    def partial_cancel(self, jobid: int, rows: Collection[int]) -> bool:
        """Give some exclusively held vertices back; True if that ended the job."""
        job = self.calendar.jobs[jobid]
        self._reduce(job, [number for number in job.rows if number not in rows])
        return jobid not in self.calendar.jobs

    def _reduce(self, job: Job, kept: Collection[int]) -> None:
        """Leave a job those exclusive rows that are kept, and what is above them, shared."""
        alone = {n: row for n, row in job.rows.items() if row.exclusive and n in kept}
        above = {v for row in alone.values() for v in row.vertex.ancestors()}
        job.rows = {v.row: Row(v, v.size, False) for v in above} | alone
        if not alone:
            del self.calendar.jobs[job.jobid]

    def settle(self) -> None:
        """Take note of a change of the graph's shape now, not at the next question."""
        self.tree  # noqa: B018 - reading it is what does it

    def set_status(self, vertex: int, up: bool) -> None:
        self.graph.set_status(vertex, up)


def held(job: Job) -> frozenset[Held]:
    return frozenset((number, row.needs, row.exclusive) for number, row in job.rows.items())


def edges(job: Job) -> frozenset[tuple[int, int]]:
    vertices = (row.vertex for row in job.rows.values())
    return frozenset((v.parent.row, v.row) for v in vertices if v.parent is not None)


def types_of(resources: Iterable[Resource]) -> set[str]:
    found: set[str] = set()
    for resource in resources:
        found |= {resource.type} | types_of(resource.children)
    return found


def nodes_needed(resources: Iterable[Resource], flexible: bool) -> int:
    """The least number of nodes; of slots that are alternatives, the most modest one's."""
    total = 0
    alternatives: list[int] = []
    for resource in resources:
        below = nodes_needed(resource.children, flexible)
        here = resource.count.min * (below + (resource.type == "node"))
        if flexible and resource.type in (SLOT, XOR_SLOT):
            alternatives.append(here)
        else:
            total += here
    return total + min(alternatives, default=0)
