"""Computes the figures by which schedules are compared; `DEFINITIONS` defines each.

The run of a job is the time it was on its nodes, so that a job that was killed has a shorter one.
Times are seconds, shares are between 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fluxnetes.common.arrays import Floats, Ints
from fluxnetes.simulate.schedule import Schedule

SHORTEST_RUN = 10
"""Minimum seconds of a run in slowdowns: that of a shorter job says little of the scheduler."""

DEFINITIONS = {
    "jobs": "jobs that ran",
    "skipped": "jobs of the trace that could not be run",
    "makespan": "from the first submit to the last end",
    "utilisation": "processor-seconds on which jobs ran, as a share of all within the makespan",
    "mean_wait": "from submit to start, on average",
    "median_wait": "half of the jobs waited no longer than this",
    "p95_wait": "95 % of the jobs waited no longer than this; between two jobs, interpolated",
    "mean_bounded_slowdown": "(wait + run) / run on average, with a run counted as at least "
    f"{SHORTEST_RUN} s and a slowdown as at least 1",
    "longest_queue": "the most jobs that waited at one instant, once what could start had started",
    "backfilled": "share of the jobs that started while one that came earlier was waiting",
    "seconds": "how long the simulation took",
}


@dataclass(frozen=True, slots=True)
class Figures:
    """One row of the table; see `DEFINITIONS`."""

    jobs: int
    skipped: int
    makespan: int
    utilisation: float
    mean_wait: float
    median_wait: float
    p95_wait: float
    mean_bounded_slowdown: float
    longest_queue: int
    backfilled: float
    seconds: float


@dataclass(frozen=True, slots=True)
class StepFunction:
    """A number that changes at some instants and is the same from one to the next."""

    time: Ints
    value: Ints


def measure(schedule: Schedule) -> Figures:
    """The figures of one schedule; all 0 where nothing ran."""
    workload = schedule.workload
    skipped = sum(workload.skipped.values())
    if not len(workload):
        return Figures(0, skipped, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0, schedule.seconds)
    wait = schedule.wait
    makespan = int(schedule.end.max() - workload.submit.min())
    return Figures(
        jobs=len(workload),
        skipped=skipped,
        makespan=makespan,
        utilisation=_utilisation(schedule, makespan),
        mean_wait=float(wait.mean()),
        median_wait=float(np.median(wait)),
        p95_wait=float(np.percentile(wait, 95)),
        mean_bounded_slowdown=float(bounded_slowdown(schedule).mean()),
        longest_queue=int(queue_length(schedule).value.max()),
        backfilled=float(schedule.backfilled.mean()),
        seconds=schedule.seconds,
    )


def _utilisation(schedule: Schedule, makespan: int) -> float:
    used = int((schedule.workload.size * (schedule.end - schedule.start)).sum())
    return used / (schedule.machine.processors * makespan) if makespan else 0.0


def bounded_slowdown(schedule: Schedule) -> Floats:
    """The bounded slowdown of each job."""
    run = schedule.end - schedule.start
    slowdown = (schedule.wait + run) / np.maximum(run, SHORTEST_RUN)
    return np.asarray(np.maximum(1.0, slowdown))


def queue_length(schedule: Schedule) -> StepFunction:
    """The number of waiting jobs over time."""
    one = np.ones(len(schedule.start), np.int64)
    return _steps(schedule.workload.submit, schedule.start, one)


def processors_used(schedule: Schedule) -> StepFunction:
    """The number of processors in use over time."""
    return _steps(schedule.start, schedule.end, schedule.workload.size)


def _steps(up: Ints, down: Ints, amount: Ints) -> StepFunction:
    """The sum of what has gone up and not yet down, after all that happens at each instant."""
    time, at = np.unique(np.concatenate((up, down)), return_inverse=True)
    change = np.zeros(len(time), np.int64)
    np.add.at(change, at, np.concatenate((amount, -amount)))
    return StepFunction(time, np.cumsum(change))
