"""Generates workloads by the model of Lublin and Feitelson.

    U. Lublin, D. G. Feitelson: The workload on parallel supercomputers: modeling the
    characteristics of rigid jobs. J. Parallel Distrib. Comput. 63(11), 2003.

The model was fitted to the logs of three machines and describes how rigid jobs arrive:

- *Sizes*: a quarter of the jobs is serial. The logarithm of the size of the others is uniform in
  two stages, most of it below a bend that lies 2.5 powers of two under the machine's size; more
  than half of all jobs are rounded to powers of two.
- *Run times*: their logarithm is a mixture of two gamma distributions, short jobs and long jobs.
  The larger a job, the likelier it is a long one.
- *Arrivals*: the logarithm of the gap at the busiest hours is gamma distributed. The day has 48
  half hours; how busy each is follows a gamma distribution too, shifted so that the day begins
  before dawn. A gap is an amount of *business* to wait for, which passes fast at noon, slowly at
  night.

The constants are those that the authors publish for jobs of all kinds together. The model knows no
walltimes and no users: a walltime is the run time times `overestimate`.

The same seed gives the same jobs with the same version of NumPy, which may draw other numbers in
another release; requirements.lock pins one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import starmap

import numpy as np

from fluxnetes.common.arrays import Floats, Ints
from fluxnetes.simulate.workload import (
    Workload,
    WorkloadJob,
    check_overestimate,
    estimated_walltime,
    gather,
)

SERIAL = 0.244
"""Share of the jobs that use one processor."""
POWERS_OF_TWO = 0.576
"""Share of the jobs whose size is rounded to a power of two."""
LOWEST_SIZE = 0.8
"""The logarithm of the smallest parallel size; less than 1, so that 2 is not too rare."""
BEND_BELOW_LARGEST = 2.5
BELOW_BEND = 0.86

SHORT_RUN = (4.2, 0.94)
LONG_RUN = (312.0, 0.03)
SHORT_SHARE = 0.78
SHORT_SHARE_PER_NODE = -0.0054
LONGEST_RUN = 12.0
"""As a logarithm: 45 hours."""

GAP = (10.2303 * 1.0225, 0.4871)
"""Shape and scale of the busiest hours, stretched so that it holds for the whole day."""
LONGEST_GAP = 13.0
"""As a logarithm: 5 days."""
BUSY = (8.1737, 3.9631)
HALF_HOURS = 48
FIRST_HALF_HOUR = 11
"""Where the cycle of a day begins."""
DAY = 86_400


def generate_lublin(
    jobs: int, processors: int, seed: int, *, overestimate: float = 1.0
) -> Workload:
    """Generate jobs for a machine of this size; the same for the same seed."""
    check_overestimate(overestimate)
    random = np.random.default_rng(seed)
    submit = _arrivals(random, jobs).tolist()
    size = _sizes(random, jobs, processors)
    runtime = _runtimes(random, size).tolist()
    walltime = (estimated_walltime(seconds, overestimate) for seconds in runtime)
    columns = zip(range(1, jobs + 1), submit, runtime, walltime, size.tolist(), strict=True)
    return gather(f"lublin, seed {seed}", starmap(WorkloadJob, columns), processors)


def _sizes(random: np.random.Generator, jobs: int, processors: int) -> Ints:
    kind = random.random(jobs)
    largest = math.log2(processors)
    lowest = min(LOWEST_SIZE, largest)
    bend = max(lowest, largest - BEND_BELOW_LARGEST)
    below = random.random(jobs) <= BELOW_BEND
    power = np.where(below, random.uniform(lowest, bend, jobs), random.uniform(bend, largest, jobs))
    power = np.where(kind <= SERIAL + POWERS_OF_TWO, np.floor(power + 0.5), power)
    power = np.where(kind <= SERIAL, 0, power)
    # Rounding up to a power of two can pass a machine whose own size is none.
    return np.minimum(np.floor(2**power + 0.5), processors).astype(np.int64)


def _runtimes(random: np.random.Generator, size: Ints) -> Ints:
    short_share = np.clip(SHORT_SHARE + SHORT_SHARE_PER_NODE * size, 0, 1)

    def draw(which: Ints) -> Floats:
        short = random.random(len(which)) <= short_share[which]
        return np.where(
            short, random.gamma(*SHORT_RUN, len(which)), random.gamma(*LONG_RUN, len(which))
        )

    return np.exp(_redrawn(draw, len(size), LONGEST_RUN)).astype(np.int64)


def _arrivals(random: np.random.Generator, jobs: int) -> Ints:
    def draw(which: Ints) -> Floats:
        return random.gamma(*GAP, len(which))

    waited = np.cumsum(np.exp(_redrawn(draw, jobs, LONGEST_GAP)))
    days, business = np.divmod(waited, DAY)
    clock = np.linspace(0, DAY, HALF_HOURS + 1)
    passed = np.concatenate(([0], np.cumsum(_business())))
    return (days * DAY + np.interp(business, passed * DAY, clock)).astype(np.int64)


def _business() -> Floats:
    """The share of the day's jobs that comes in each half hour, from midnight on."""
    half_hours = np.arange(HALF_HOURS)
    place = (half_hours + 1 - FIRST_HALF_HOUR) % HALF_HOURS + FIRST_HALF_HOUR
    up_to = np.array([_gamma_cdf(x - 0.5, *BUSY) for x in range(FIRST_HALF_HOUR, 60)])
    share = np.diff(up_to)[place - FIRST_HALF_HOUR]
    return np.asarray(share / share.sum())


def _gamma_cdf(x: float, shape: float, scale: float) -> float:
    """The gamma distribution's share below x, by the series of the incomplete gamma function."""
    x /= scale
    term = total = 1.0
    n = 0
    while term > total * 1e-15:
        n += 1
        term *= x / (shape + n)
        total += term
    return total * math.exp(shape * math.log(x) - x - math.lgamma(shape + 1))


def _redrawn(draw: Callable[[Ints], Floats], count: int, limit: float) -> Floats:
    """Draw numbers; those above the limit are drawn again."""
    found = draw(np.arange(count))
    while len(over := np.flatnonzero(found > limit)):
        found[over] = draw(over)
    return found
