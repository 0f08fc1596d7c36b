"""What is written for machines and for people says what was found."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from fluxnetes.simulate.document import write_json
from fluxnetes.simulate.metrics import Figures, measure
from fluxnetes.simulate.report import write_report
from fluxnetes.simulate.schedule import SimulatedMachine
from fluxnetes.simulate.workload import SkippedJob
from tests.unit.simulate.jobs import schedule, workload

WORK = workload((10, 10, 10, 3), (11, 40, 40, 4), (12, 5, 8, 1), skipped={SkippedJob.NO_SIZE: 2})
EASY = schedule(WORK, [10, 20, 12], 4)
FCFS = schedule(WORK, [10, 20, 60], 4, "fcfs")
SCRIPT = "</script><!-- <script>alert(1)</script>"


def embedded(page: str) -> dict[str, Any]:
    (text,) = re.findall(r'(?s)<script type="application/json" id="data">(.*?)</script>', page)
    found: dict[str, Any] = json.loads(text)
    return found


def test_json_has_the_figures_of_every_policy() -> None:
    found = json.loads(write_json([EASY, FCFS]))
    assert list(found["policies"]) == ["easy", "fcfs"]
    for run in (EASY, FCFS):
        figures = measure(run)
        policy = found["policies"][run.policy]
        assert {name: policy[name] for name in Figures.__dataclass_fields__} == {
            name: getattr(figures, name) for name in Figures.__dataclass_fields__
        }
    assert found["workload"] == {"name": "a test", "jobs": 3, "skipped": {"no size": 2}}
    assert found["cluster"] == {"nodes": 4, "processors": 4}


def test_json_has_every_job() -> None:
    jobs = json.loads(write_json([EASY]))["policies"]["easy"]["schedule"]
    assert [job["start"] for job in jobs] == [10, 20, 12]
    assert jobs[2] == {
        "job": 3,
        "submit": 12,
        "start": 12,
        "end": 17,
        "size": 1,
        "nodes": 1,
        "backfilled": True,
    }


def test_nodes_are_counted_once_however_many_processors_a_job_has_there() -> None:
    two_nodes = replace(EASY, machine=SimulatedMachine.uniform(2, 2))
    jobs = json.loads(write_json([two_nodes]))["policies"]["easy"]["schedule"]
    assert [job["nodes"] for job in jobs] == [2, 2, 1]


def test_the_report_carries_every_job_of_every_policy() -> None:
    data = embedded(write_report([EASY, FCFS]))
    assert data["submit"] == [0, 1, 2]
    easy, fcfs = data["policies"]
    assert (easy["start"], easy["end"]) == ([0, 10, 2], [10, 50, 7])
    assert fcfs["start"] == [0, 10, 50]
    assert easy["backfilled"] == [0, 0, 1]


def test_the_report_draws_runs_of_neighbouring_processors() -> None:
    work = workload((0, 9, 9, 1), (0, 1, 1, 2), (0, 9, 9, 1), (1, 5, 5, 2), (5, 1, 1, 3))
    run = schedule(work, [0, 0, 0, 1, 9], 4)
    easy = embedded(write_report([run]))["policies"][0]
    runs = list(zip(easy["first"], easy["count"], strict=True))
    by_job = [runs[a:b] for a, b in zip(easy["at"], easy["at"][1:], strict=False)]
    assert by_job == [[(0, 1)], [(1, 2)], [(3, 1)], [(1, 2)], [(0, 3)]]
    scattered = replace(run, units=(*run.units[:4], run.units[4] * 2))
    easy = embedded(write_report([scattered]))["policies"][0]
    assert (easy["first"][-3:], easy["count"][-3:], easy["at"][-2:]) == (
        [0, 2, 4],
        [1, 1, 1],
        [4, 7],
    )


def test_the_report_loads_nothing() -> None:
    page = write_report([EASY])
    assert "default-src 'none'" in page
    assert not re.search(r"(?i)https?://|//\w+\.\w|<link|@import|\bsrc\s*=|url\(|fetch\(", page)


def test_the_report_has_the_figures_as_a_table_without_any_script() -> None:
    page = write_report([EASY, FCFS])
    (table,) = re.findall(r'(?s)<table id="summary">.*?</table>', page)
    assert re.findall(r'<th scope="row">(\w+)</th>', table) == ["easy", "fcfs"]
    assert "97.5%" in table
    assert "Skipped: 2 (no size)." in page


def test_a_trace_of_any_name_stays_a_name() -> None:
    named = replace(EASY, workload=replace(WORK, name=SCRIPT), policy=SCRIPT)
    page = write_report([named])
    assert "alert(1)</script>" not in page
    assert embedded(page)["policies"][0]["name"] == SCRIPT


def test_a_workload_without_jobs_can_be_written() -> None:
    nothing = schedule(workload(), [], 4)
    assert json.loads(write_json([nothing]))["policies"]["easy"]["schedule"] == []
    assert embedded(write_report([nothing]))["policies"][0]["at"] == [0]
