"""The queue starts every job when the textbook says, to the second.

The textbook (`tests/oracle/textbook.py`) counts nodes; the queue matches requests on a graph. Both
must come to the same starts: on random small workloads, on generated ones and on the recorded one.
Early ends count, too: there the textbook moves plans up as the queue says that it does.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.simulate.cluster import uniform_cluster
from fluxnetes.simulate.engine import run_policy
from fluxnetes.simulate.lublin import generate_lublin
from fluxnetes.simulate.policies import parse_policy
from fluxnetes.simulate.schedule import Schedule
from fluxnetes.simulate.swf import read_swf
from fluxnetes.simulate.workload import Workload
from tests.integration.simulate.conftest import POLICIES, Run
from tests.oracle.textbook import Job, simulate
from tests.property.profile import examples
from tests.unit.simulate.jobs import textbook_jobs, workload
from tests.unit.simulate.traces import LUBLIN, NASA, trace


def queue_runs(work: Workload, policy: str, nodes: int, cores: int = 1) -> Schedule:
    return run_policy(policy, parse_policy(policy), work, uniform_cluster(nodes, cores))


@st.composite
def workloads(draw: st.DrawFn, *, exact: bool, nodes: int) -> list[Job]:
    jobs: list[Job] = []
    submit = 0
    for _ in range(draw(st.integers(1, 12))):
        submit += draw(st.sampled_from((0, 0, 1, 2, 5)))
        walltime = draw(st.integers(1, 12))
        runtime = walltime if exact else draw(st.integers(0, walltime + 2))
        jobs.append((submit, runtime, walltime, draw(st.integers(1, nodes))))
    return jobs


@pytest.mark.parametrize("policy", POLICIES)
@given(jobs=workloads(exact=True, nodes=5))
@examples(50)
def test_with_exact_walltimes_the_queue_is_the_textbook(policy: str, jobs: list[Job]) -> None:
    assert queue_runs(workload(*jobs), policy, 5).start.tolist() == simulate(jobs, 5, policy)


@pytest.mark.parametrize("policy", POLICIES)
@given(jobs=workloads(exact=False, nodes=5))
@examples(50)
def test_with_early_ends_and_kills_the_queue_is_the_textbook(policy: str, jobs: list[Job]) -> None:
    assert queue_runs(workload(*jobs), policy, 5).start.tolist() == simulate(jobs, 5, policy)


@pytest.mark.parametrize("policy", POLICIES)
@given(jobs=workloads(exact=True, nodes=6))
@examples(20)
def test_nodes_of_several_cores_are_shared_as_if_cores_were_all(
    policy: str, jobs: list[Job]
) -> None:
    found = queue_runs(workload(*jobs), policy, nodes=2, cores=3)
    assert found.start.tolist() == simulate(jobs, 6, policy)


@given(jobs=workloads(exact=True, nodes=5))
@examples(50)
def test_conservative_starts_no_job_later_than_fcfs(jobs: list[Job]) -> None:
    fcfs, conservative = (
        queue_runs(workload(*jobs), policy, 5).start for policy in ("fcfs", "conservative")
    )
    assert (conservative <= fcfs).all()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("overestimate", [1.0, 2.0])
def test_on_a_generated_workload_the_queue_is_the_textbook(
    policy: str, overestimate: float
) -> None:
    work = generate_lublin(1000, 64, seed=11, overestimate=overestimate)
    found = queue_runs(work, policy, 64)
    assert found.start.tolist() == simulate(textbook_jobs(work), 64, policy)
    check_that_nothing_was_given_twice(found)


@pytest.mark.parametrize("policy", POLICIES)
def test_on_the_trace_of_lublin_the_queue_is_the_textbook(policy: str, lublin_run: Run) -> None:
    jobs = textbook_jobs(read_swf(trace(LUBLIN), 256))
    found = lublin_run.policies[policy]["schedule"]
    assert [job["start"] for job in found] == simulate(jobs, 256, policy)
    assert [job["nodes"] for job in found] == [size for _, _, _, size in jobs]


def test_on_the_trace_of_nasa_the_queue_is_the_textbook(tmp_path: Path) -> None:
    lines = trace(NASA).read_text().splitlines(keepends=True)
    (tmp_path / NASA).write_text("".join(lines[:3000]))
    work = read_swf(tmp_path / NASA, 128)
    found = queue_runs(work, "easy", 128)
    assert found.start.tolist() == simulate(textbook_jobs(work), 128, "easy")


def check_that_nothing_was_given_twice(found: Schedule) -> None:
    """Each processor's jobs, in order of start, must not overlap; each job has its number."""
    assert [len(units) for units in found.units] == found.workload.size.tolist()
    unit = np.concatenate(found.units)
    job = np.repeat(np.arange(len(found.units)), found.workload.size)
    order = np.lexsort((found.end[job], found.start[job], unit))
    unit, job = unit[order], job[order]
    same = unit[1:] == unit[:-1]
    assert (found.start[job[1:]] >= found.end[job[:-1]])[same].all()
