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


_MINUTE, _HOUR, _DAY = 60, 3600, 86_400

WAIT_LIMITS = (
    0,
    _MINUTE,
    10 * _MINUTE,
    _HOUR,
    4 * _HOUR,
    12 * _HOUR,
    _DAY,
    3 * _DAY,
    7 * _DAY,
    30 * _DAY,
)
"""Waits in seconds up to which jobs are counted."""


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


@dataclass(frozen=True, slots=True)
class WaitShare:
    """The share of the jobs that waited no longer than so many seconds."""

    seconds: int
    share: float


@dataclass(frozen=True, slots=True)
class SizeClass:
    """The waits of the jobs with a number of processors from `least` to `most`."""

    least: int
    most: int
    jobs: int
    mean_wait: float
    median_wait: float
    p95_wait: float


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
    used = float((schedule.workload.size * (schedule.end - schedule.start).astype(float)).sum())
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


def wait_distribution(schedule: Schedule) -> list[WaitShare]:
    """The share of jobs up to each of `WAIT_LIMITS`, as far as there are longer waits."""
    wait = np.sort(schedule.wait)
    if not len(wait):
        return []
    counts = np.searchsorted(wait, WAIT_LIMITS, side="right")
    last = int(np.searchsorted(WAIT_LIMITS, wait[-1]))
    shares = [
        WaitShare(limit, int(count) / len(wait))
        for limit, count in zip(WAIT_LIMITS[: last + 1], counts.tolist(), strict=False)
    ]
    return shares if shares[-1].share == 1 else [*shares, WaitShare(int(wait[-1]), 1.0)]


def waits_by_size(schedule: Schedule) -> list[SizeClass]:
    """The waits of jobs of 1, 2 to 3, 4 to 7 ... processors; sizes that no job has are left out."""
    size, wait = schedule.workload.size, schedule.wait
    power = np.frexp(size.astype(float))[1] - 1
    found: list[SizeClass] = []
    for exponent in np.unique(power).tolist():
        mine = wait[power == exponent]
        found.append(
            SizeClass(
                least=2**exponent,
                most=2 ** (exponent + 1) - 1,
                jobs=len(mine),
                mean_wait=float(mine.mean()),
                median_wait=float(np.median(mine)),
                p95_wait=float(np.percentile(mine, 95)),
            )
        )
    return found
