"""What a measurement of `bench/kube` found, and how several are made into one."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.kube_audit import Writes
from bench.kube_costs import Costs

CPUS = 16
"""Of a node; a pod takes one of them."""

Pods = Mapping[str, tuple[str | None, float, float | None]]
"""Of each pod: its node, when it was made, when it got the node."""


class Wrong(Exception):  # noqa: N818 - reads better where it is raised
    """What was measured is no good: not all pods got a node, or a node got too many."""


@dataclass(frozen=True, slots=True)
class Result:
    """How it went."""

    pods: int
    seconds: float
    """Until the last pod had its node."""
    p50: float
    p99: float
    """Seconds that pods waited."""
    writes: dict[str, int]
    """Of the scheduler to the API server, by what was written."""
    scheduler: Costs
    postgres: Costs
    """Nothing, where there is none."""

    @property
    def rate(self) -> float:
        """Pods a second."""
        return self.pods / self.seconds

    @property
    def writes_a_pod(self) -> float:
        return sum(self.writes.values()) / self.pods


def result(pods: Pods, began: float, wrote: Writes, spent: tuple[Costs, Costs]) -> Result:
    """From what was seen. `began` is when the scheduler could see the first of them."""
    check(pods)
    bound = {name: at for name, (_, _, at) in pods.items() if at is not None}
    waited = sorted(at - max(pods[name][1], began) for name, at in bound.items())
    percentiles = statistics.quantiles(waited, n=100, method="inclusive")
    seconds = max(bound.values()) - began
    return Result(
        len(bound), seconds, percentiles[49], percentiles[98], dict(wrote), spent[0], spent[1]
    )


def check(pods: Pods) -> None:
    """All have nodes, and no node more than it can hold."""
    without = [name for name, (node, _, _) in pods.items() if node is None]
    if without:
        raise Wrong(f"{len(without)} of {len(pods)} pods got no node in time, {without[0]} for one")
    (node, most), *_ = Counter(node for node, _, _ in pods.values()).most_common(1)
    if most > CPUS:
        raise Wrong(f"{node} got {most} pods, and has capacity for {CPUS}")


def median(results: Sequence[Result]) -> Result:
    """Of each figure by itself."""

    def of(figures: Sequence[float]) -> float:
        return statistics.median(figures)

    def of_costs(each: Sequence[Costs]) -> Costs:
        return Costs(of([a.cpu for a in each]), of([a.memory for a in each]))

    middle = sorted(results, key=lambda r: r.writes_a_pod)[len(results) // 2]
    return Result(
        results[0].pods,
        of([r.seconds for r in results]),
        of([r.p50 for r in results]),
        of([r.p99 for r in results]),
        middle.writes,
        of_costs([r.scheduler for r in results]),
        of_costs([r.postgres for r in results]),
    )
