"""Workloads and schedules in one line, and the textbook's view of a workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fluxnetes.simulate.schedule import Schedule, SimulatedMachine
from fluxnetes.simulate.workload import SkippedJob, Workload, WorkloadJob, gather
from tests.oracle.textbook import Job


def workload(*jobs: Job, skipped: Mapping[SkippedJob, int] | None = None) -> Workload:
    """Jobs by (submit, runtime, walltime, size), numbered from 1."""
    left_out = [why for why, count in (skipped or {}).items() for _ in range(count)]
    rows = [WorkloadJob(number, *job) for number, job in enumerate(jobs, 1)]
    return gather("a test", [*rows, *left_out], processors=10**9)


def textbook_jobs(workload: Workload) -> list[Job]:
    columns = (workload.submit, workload.runtime, workload.walltime, workload.size)
    return list(zip(*(c.tolist() for c in columns), strict=True))


def schedule(
    work: Workload, starts: Sequence[int], processors: int, policy: str = "easy"
) -> Schedule:
    """A schedule with these starts; jobs take the lowest processors that are free."""
    start = np.array(starts, np.int64)
    end = start + work.duration
    units = _seats(start.tolist(), end.tolist(), work.size.tolist(), processors)
    machine = SimulatedMachine.uniform(processors, 1)
    return Schedule(policy, work, machine, start, end, units, seconds=0.5)


def _seats(
    start: list[int], end: list[int], size: list[int], processors: int
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], ...]:
    free_from = np.zeros(processors)
    units = [np.empty(0, np.int64)] * len(start)
    for job in sorted(range(len(start)), key=lambda j: start[j]):
        units[job] = np.flatnonzero(free_from <= start[job])[: size[job]]
        assert len(units[job]) == size[job], "over-committed"
        free_from[units[job]] = end[job]
    return tuple(units)
