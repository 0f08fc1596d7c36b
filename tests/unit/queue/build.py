"""Jobs and clusters in one line.

    a_job(nodes=4).lasting(60).by("ada").after(other)
    a_gang(pods(2, cpu=4), pods(1, gpu=1), licence=30).lasting(60)
    machine(4)                                   # four nodes that can be had whole
    pools(2, cpu=8, gpu=1, licence=40)           # two nodes with amounts, and shared licences

A job lasts 10 s unless it is said otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.build import jobspec, node, slot
from fluxnetes.jobspec.constraint import Constraint, Hostlist, Properties
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.jobs import (
    Dependency,
    DependencyKind,
    ElasticSize,
    JobArray,
    OnLoss,
    Request,
    Submission,
)
from tests.unit.match.clusters import Branch, cluster, cores

SHARED = frozenset({"licence", "token"})
"""What no node owns, in these tests."""


@dataclass(frozen=True, slots=True)
class JobToBe:
    """A submission to be; its id is given when it is submitted."""

    spec: Submission

    def lasting(self, walltime: int) -> JobToBe:
        return self._with(replace(self.spec, walltime=walltime))

    def endless(self) -> JobToBe:
        return self._with(replace(self.spec, walltime=None))

    def by(self, user: str, namespace: str = "default") -> JobToBe:
        return self._with(replace(self.spec, user=user, namespace=namespace))

    def to(self, queue: str) -> JobToBe:
        return self._with(replace(self.spec, queue=queue))

    def of_class(self, job_class: int) -> JobToBe:
        return self._with(replace(self.spec, job_class=job_class))

    def with_priority(self, priority: int) -> JobToBe:
        return self._with(replace(self.spec, priority=priority))

    def held(self) -> JobToBe:
        return self._with(replace(self.spec, held=True))

    def gathering(self) -> JobToBe:
        return self._with(replace(self.spec, gathering=True))

    def beginning(self, begin: int) -> JobToBe:
        return self._with(replace(self.spec, begin=begin))

    def after(self, *jobs: int) -> JobToBe:
        return self._depending(DependencyKind.STARTED, jobs)

    def afterok(self, *jobs: int) -> JobToBe:
        return self._depending(DependencyKind.SUCCEEDED, jobs)

    def afterany(self, *jobs: int) -> JobToBe:
        return self._depending(DependencyKind.ENDED, jobs)

    def _depending(self, kind: DependencyKind, jobs: tuple[int, ...]) -> JobToBe:
        more = tuple(Dependency(kind, job) for job in jobs)
        return self._with(replace(self.spec, dependencies=self.spec.dependencies + more))

    def between(self, least: int, most: int) -> JobToBe:
        """Elastic: this small or that large, in units of its request."""
        return self._with(replace(self.spec, size=ElasticSize(least, most)))

    def times(self, tasks: int, at_once: int | None = None) -> JobToBe:
        """An array of so many tasks."""
        return self._with(replace(self.spec, array=JobArray(tasks, at_once)))

    def inside(self, reservation: str) -> JobToBe:
        return self._with(replace(self.spec, reservation=reservation))

    def preemptible(self, *, requeue: bool = True, min_runtime: int = 0) -> JobToBe:
        return self._with(
            replace(self.spec, preemptible=True, requeue=requeue, min_runtime=min_runtime)
        )

    def requeued_on_loss(self) -> JobToBe:
        return self._with(replace(self.spec, on_loss=OnLoss.REQUEUE))

    def _with(self, spec: Submission) -> JobToBe:
        return JobToBe(spec)


def a_job(nodes: int = 1, *, on: Constraint | None = None) -> JobToBe:
    """A job of whole nodes."""
    return asking_for(jobspec(slot(nodes, node(1)), constraint=on))


def a_gang(*shapes: Shape, **shared: int) -> JobToBe:
    """A group of pods, with what it needs that no node owns."""
    return asking_for(Gang(shapes, tuple(shared.items())))


def asking_for(request: Request) -> JobToBe:
    return JobToBe(Submission(0, request, walltime=10))


def pods(count: int, /, on: Constraint | None = None, **amounts: int) -> Shape:
    return Shape.of(count, amounts, on)


# -- where -----------------------------------------------------------------------------------------


def machine(
    nodes: int, *, cores_each: int = 1, named: Mapping[str, int] | None = None
) -> ResourceGraph:
    """So many nodes; `named` says how many of them, from the first, have a property, by name."""
    return cluster(*(_node(n, cores_each, named or {}) for n in range(nodes)))


def _node(number: int, cores_each: int, named: Mapping[str, int]) -> Branch:
    properties = {name: "" for name, most in named.items() if number < most}
    return Branch("node", tuple(cores(cores_each)), properties=properties)


def pools(nodes: int, **amounts: int) -> ResourceGraph:
    """So many nodes, each with these amounts; licences and tokens are no node's."""
    shared = {type: amount for type, amount in amounts.items() if type in SHARED}
    each = {type: amount for type, amount in amounts.items() if type not in SHARED}
    return pool_graph({f"node{n}": each for n in range(nodes)}, shared=shared)


def hosts(*numbers: int) -> Hostlist:
    return Hostlist(frozenset(f"node{n}" for n in numbers))


def with_property(name: str) -> Properties:
    return Properties(require=(name,))
