"""The workload of a simulation: its jobs as columns, in the order of submission.

A job has a submit time, a run time, a walltime and a size, all whole numbers: seconds and
processors. The scheduler sees the walltime; only the simulation knows the run time. A job ends
after its run time and is killed at its walltime, so it holds its nodes for the smaller of the two.
A job with a run time of 0 ends at the instant at which it starts. A walltime is never 0.

Jobs that cannot be run are left out and counted by reason; see `SkippedJob`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.simulate.errors import SimulationError

UNKNOWN = -1
"""The value of a field that is not known."""


LONGEST = 2**40
"""Maximum seconds of a time in a workload: 35,000 years. Sums over all jobs still fit a column."""
MOST_OVERESTIMATE = 1_000_000
"""Maximum factor between the walltime and the run time of a job."""


class SkippedJob(StrEnum):
    """Why a job of a trace is not run."""

    NO_SUBMIT_TIME = "no submit time"
    NO_RUN_TIME = "no run time"
    NO_SIZE = "no size"
    TOO_LARGE = "larger than the cluster"


class WorkloadJob(NamedTuple):
    """One job, as it is read or generated."""

    number: int
    submit: int
    runtime: int
    walltime: int
    size: int
    user: int = UNKNOWN
    group: int = UNKNOWN


@dataclass(frozen=True, slots=True)
class Workload:
    """Jobs in order of submission; those of one instant in the order of the trace."""

    name: str
    number: Ints
    """The number of the job in the trace."""
    submit: Ints
    runtime: Ints
    walltime: Ints
    size: Ints
    """In processors."""
    user: Ints
    group: Ints
    skipped: Mapping[SkippedJob, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.submit)

    @property
    def duration(self) -> Ints:
        """How long each job holds its nodes."""
        return np.minimum(self.runtime, self.walltime)


def gather(name: str, jobs: Iterable[WorkloadJob | SkippedJob], processors: int) -> Workload:
    """The workload of these jobs on a cluster of this size."""
    rows: list[WorkloadJob] = []
    skipped: Counter[SkippedJob] = Counter()
    for job in jobs:
        if isinstance(job, SkippedJob):
            skipped[job] += 1
        elif job.size > processors:
            skipped[SkippedJob.TOO_LARGE] += 1
        else:
            rows.append(job)
    table = np.array(rows, np.int64).reshape(len(rows), len(WorkloadJob._fields))
    table = table[np.argsort(table[:, 1], kind="stable")]
    columns = dict(zip(WorkloadJob._fields, np.ascontiguousarray(table.T), strict=True))
    return Workload(name, **columns, skipped=dict(skipped))


def estimated_walltime(runtime: int, overestimate: float) -> int:
    """The walltime of a job that requested none; at least a second."""
    return max(1, min(math.ceil(runtime * overestimate), LONGEST))


def check_overestimate(overestimate: float) -> None:
    """Refuse a factor that would give walltimes below run times, or that is not a number."""
    if not (math.isfinite(overestimate) and overestimate >= 1):
        raise SimulationError(
            f"an overestimate of {overestimate} would kill jobs; give a factor of at least 1"
        )
    if overestimate > MOST_OVERESTIMATE:
        raise SimulationError(
            f"an overestimate of {overestimate}: expected a factor of at most {MOST_OVERESTIMATE:,}"
        )
