"""Generated workloads have the figures that the model promises, and those of its own trace.

The bounds are wide enough for any seed (they were tried with two hundred) and narrow enough for a
wrong constant, a shifted day or a missing rounding to be seen.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from fluxnetes.simulate.errors import SimulationError
from fluxnetes.simulate.lublin import generate_lublin
from fluxnetes.simulate.swf import read_swf
from fluxnetes.simulate.workload import Workload
from tests.unit.simulate.traces import LUBLIN, trace

JOBS = 20_000


@pytest.fixture(scope="module", params=[1, 7])
def generated(request: pytest.FixtureRequest) -> Workload:
    return generate_lublin(JOBS, 256, seed=request.param)


def test_the_same_seed_gives_the_same_jobs_and_another_one_others() -> None:
    one, same, other = (generate_lublin(500, 64, seed) for seed in (3, 3, 4))
    for column in ("submit", "runtime", "walltime", "size"):
        assert (getattr(one, column) == getattr(same, column)).all()
        assert (getattr(one, column) != getattr(other, column)).any()


def test_jobs_come_one_after_the_other_and_fit(generated: Workload) -> None:
    assert len(generated) == JOBS
    assert (np.diff(generated.submit) >= 0).all()
    assert generated.size.min() == 1
    assert generated.size.max() == 256
    assert generated.walltime.min() >= 1


def test_a_quarter_is_serial_and_most_others_are_powers_of_two(generated: Workload) -> None:
    serial = generated.size == 1
    powers = np.log2(generated.size) % 1 == 0
    assert serial.mean() == pytest.approx(0.244, abs=0.012)
    # Those that are not rounded on purpose come out as powers of two now and then.
    assert 0.57 < (powers & ~serial).mean() < 0.65


def test_sizes_bend_two_and_a_half_powers_of_two_below_the_machine(generated: Workload) -> None:
    bend = 2 ** (8 - 2.5)
    assert (generated.size < bend).mean() == pytest.approx(0.244 + 0.756 * 0.86, abs=0.012)


def test_large_jobs_are_likelier_long(generated: Workload) -> None:
    for low, high in ((1, 1), (16, 16), (128, 256)):
        chosen = (generated.size >= low) & (generated.size <= high)
        share = np.clip(0.78 - 0.0054 * generated.size[chosen], 0, 1).mean()
        logs = np.log(np.maximum(generated.runtime[chosen], 1))
        expected = share * 4.2 * 0.94 + (1 - share) * 312 * 0.03
        assert logs.mean() == pytest.approx(expected, abs=0.22)
    assert generated.runtime.max() <= math.exp(12)


def test_noon_is_busy_and_the_small_hours_are_not(generated: Workload) -> None:
    hours = np.bincount(generated.submit % 86_400 // 3600, minlength=24) / JOBS
    assert hours[2:5].sum() == pytest.approx(0.031, abs=0.011)
    assert hours[12:16].sum() == pytest.approx(0.30, abs=0.04)
    assert 11 <= int(np.argmax(hours)) <= 17


def test_generated_workloads_are_like_the_trace_of_the_model(generated: Workload) -> None:
    recorded = read_swf(trace(LUBLIN), 256)
    for quantile in (25, 50, 75, 90, 99):
        ours, theirs = (np.percentile(w.size, quantile) for w in (generated, recorded))
        assert ours == pytest.approx(theirs, rel=0.5)
    for quantile in (25, 50, 75, 90):
        ours, theirs = (np.percentile(w.runtime, quantile) for w in (generated, recorded))
        assert ours == pytest.approx(theirs, rel=0.4)
    assert generated.size.mean() == pytest.approx(recorded.size.mean(), rel=0.1)
    assert generated.runtime.mean() == pytest.approx(recorded.runtime.mean(), rel=0.12)
    logs = [float(np.log(np.diff(w.submit) + 1).mean()) for w in (generated, recorded)]
    assert logs[0] == pytest.approx(4.94, abs=0.06)
    assert logs[0] == pytest.approx(logs[1], abs=0.1)
    gaps = [np.diff(w.submit) for w in (generated, recorded)]
    assert np.median(gaps[0]) == pytest.approx(float(np.median(gaps[1])), rel=0.15)
    assert gaps[0].mean() == pytest.approx(gaps[1].mean(), rel=0.35)


@pytest.mark.parametrize("processors", [1, 2, 3, 100, 1000])
def test_any_machine_has_jobs_that_fit_on_it(processors: int) -> None:
    found = generate_lublin(2000, processors, seed=1)
    assert found.size.min() == 1
    assert found.size.max() <= processors
    assert found.skipped == {}


def test_walltimes_can_be_overestimated() -> None:
    found = generate_lublin(500, 64, seed=1, overestimate=2.5)
    assert (found.walltime == np.maximum(1, np.ceil(2.5 * found.runtime))).all()
    with pytest.raises(SimulationError, match="at least 1"):
        generate_lublin(1, 64, seed=1, overestimate=0.9)
