"""The distribution of waits, over all jobs and by size, against plain loops."""

from __future__ import annotations

import json
import re
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.simulate.document import write_json
from fluxnetes.simulate.metrics import WAIT_LIMITS, wait_distribution, waits_by_size
from fluxnetes.simulate.report import write_report
from fluxnetes.simulate.schedule import Schedule
from tests.property.profile import examples
from tests.unit.simulate.jobs import schedule, workload

waits = st.integers(0, 5) | st.sampled_from([59, 60, 61, 3600, 86_400, 30 * 86_400, 10**8])
jobs = st.lists(st.tuples(st.integers(1, 40), waits), min_size=1, max_size=12)


def scheduled(jobs: list[tuple[int, int]], policy: str = "easy") -> Schedule:
    """Jobs of these sizes that waited for so long, on a machine that is large enough."""
    work = workload(*((0, 1, 1, size) for size, _ in jobs))
    return schedule(work, [wait for _, wait in jobs], 600, policy)


@examples(150)
@given(jobs)
def test_shares_count_the_jobs_that_waited_no_longer(jobs: list[tuple[int, int]]) -> None:
    found = wait_distribution(scheduled(jobs))
    for each in found:
        assert each.share == sum(wait <= each.seconds for _, wait in jobs) / len(jobs)
    seconds = [each.seconds for each in found]
    assert seconds == sorted(set(seconds))
    assert set(seconds) <= {*WAIT_LIMITS, max(wait for _, wait in jobs)}
    assert found[-1].share == 1


@examples(150)
@given(jobs)
def test_every_job_is_in_the_class_of_its_size(jobs: list[tuple[int, int]]) -> None:
    found = waits_by_size(scheduled(jobs))
    assert sum(each.jobs for each in found) == len(jobs)
    for each in found:
        mine = [wait for size, wait in jobs if each.least <= size <= each.most]
        assert each.jobs == len(mine)
        assert each.most == 2 * each.least - 1
        assert each.median_wait == statistics.median(mine)
        assert each.mean_wait == pytest.approx(statistics.fmean(mine))
        assert min(mine) <= each.p95_wait <= max(mine)


def cells(page: str, id: str) -> list[list[str]]:
    (table,) = re.findall(rf'(?s)<table id="{id}">(.*?)</table>', page)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("<tr>")[1:]]


def test_report_and_json_tell_of_waits_by_time_and_size() -> None:
    easy = scheduled([(1, 0), (1, 90), (8, 7200)])
    fcfs = scheduled([(1, 0), (1, 7200), (8, 7200)], "fcfs")
    page = write_report([easy, fcfs])
    assert cells(page, "wait-shares") == [
        ["Waited at most", "easy", "fcfs"],
        ["00:00:00", "33.3%", "33.3%"],
        ["00:01:00", "33.3%", "33.3%"],
        ["00:10:00", "66.7%", "33.3%"],
        ["01:00:00", "66.7%", "33.3%"],
        ["04:00:00", "100.0%", "100.0%"],
    ]
    assert cells(page, "wait-sizes") == [
        ["Processors", "Jobs", "easy: median", "easy: p95", "fcfs: median", "fcfs: p95"],
        ["1", "2", "00:00:45", "00:01:26", "01:00:00", "01:54:00"],
        ["8-15", "1", "02:00:00", "02:00:00", "02:00:00", "02:00:00"],
    ]
    policy = json.loads(write_json([easy]))["policies"]["easy"]
    assert policy["wait_distribution"][-1] == {"seconds": 14_400, "share": 1.0}
    assert [each["least"] for each in policy["waits_by_size"]] == [1, 8]
