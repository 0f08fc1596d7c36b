"""What `bench/kube` must show: how our figures compare with the others'.

A ratio below 1 is in our favour: all of them are of times, where less is better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.kube_contestants import COSCHEDULING, KUBE, NATIVE, ON_POD_GROUPS, OURS
from bench.kube_result import Result
from bench.kube_run import BACKLOG, MODES, STREAM
from bench.kube_work import ONE_GANG, WORKLOADS, Workload

Key = tuple[str, str, str]
"""Workload, mode, contestant."""
Results = Mapping[Key, Result]


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that a figure of ours may be: by itself, or as a part of another's."""

    workload: Workload
    mode: str
    figure: str
    """The name of a field of Result."""
    most: float
    against: str = ""
    aim: float | None = None
    of: str = OURS
    """Whose figure it is."""

    def measured(self, results: Results) -> float | None:
        """None if that was not measured."""
        ours = results.get((self.workload.name, self.mode, self.of))
        theirs = results.get((self.workload.name, self.mode, self.against))
        if ours is None or (self.against and theirs is None):
            return None
        figure = float(getattr(ours, self.figure))
        return figure / float(getattr(theirs, self.figure)) if self.against else figure


def limits() -> Iterator[Limit]:
    for workload in WORKLOADS:
        yield from _times(workload)
        for mode in MODES:
            if workload is not ONE_GANG:
                yield Limit(workload, mode, "p50", 1.0, KUBE)
            if workload.has_gangs:
                yield Limit(workload, mode, "writes_a_pod", 2.2)
                yield Limit(workload, mode, "seconds", 1.1, OURS, of=ON_POD_GROUPS)


def _times(workload: Workload) -> Iterator[Limit]:
    yield Limit(workload, STREAM, "seconds", 1.0, KUBE, aim=0.85)
    if workload.has_gangs:
        yield Limit(workload, STREAM, "seconds", 0.6, NATIVE)
    if workload is ONE_GANG:
        yield Limit(workload, STREAM, "seconds", 1 / 3, COSCHEDULING)
        yield Limit(workload, BACKLOG, "seconds", 1 / 3, COSCHEDULING)
    yield Limit(workload, BACKLOG, "seconds", 0.5, KUBE)  # twice the rate


_WORDS = {"seconds": "time", "p50": "median wait", "writes_a_pod": "API writes a pod"}


def show_limits(results: Results) -> bool:
    """Print how far each is kept; whether all are."""
    judged = [(limit, found) for limit in limits() if (found := limit.measured(results))]
    if judged:
        print(f"\n{'ours':64} {'measured':>8} {'limit':>6} {'aim':>5}")
    for limit, found in judged:
        what = (
            f"{_WORDS[limit.figure]} / {limit.against}" if limit.against else _WORDS[limit.figure]
        )
        aim = f"{limit.aim:.2f}" if limit.aim else ""
        verdict = "" if found <= limit.most else "over the limit"
        whose = "" if limit.of == OURS else f"{limit.of}, "
        name = f"{limit.workload.name}, {limit.mode}: {whose}{what}"
        print(f"{name:64} {found:8.2f} {limit.most:6.2f} {aim:>5} {verdict}".rstrip())
    return all(found <= limit.most for limit, found in judged)
