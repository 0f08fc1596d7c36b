"""`fluxnetes up --demo --once`, where standard output is no terminal."""

from __future__ import annotations

import re
from pathlib import Path

from tests.integration.up.command import Up
from tests.integration.up.kubectl import Kubectl

ROOT = Path(__file__).resolve().parents[3]
SWEEPS = [f"sweep-{number}" for number in range(1, 7)]


def test_of_two_gangs_that_do_not_fit_together_one_waits_with_a_promise(demo: str) -> None:
    assert re.search(r"ocean +running on node-\[0-5\]", demo)
    assert re.search(r"climate +pending, starts by \d\d:\d\d:\d\d: needs 8 pods", demo)
    assert _when(demo, "climate", "running on node-[0-7]") >= _when(demo, "ocean", "completed")


def test_small_jobs_that_came_later_ran_meanwhile_and_a_long_one_did_not(demo: str) -> None:
    climate = _when(demo, "climate", "running")
    assert all(_when(demo, sweep, "running") < climate for sweep in SWEEPS[:4])
    assert _when(demo, "marathon", "pending") < climate <= _when(demo, "marathon", "running")


def test_the_job_that_no_node_can_serve_waits_with_the_reason(demo: str) -> None:
    assert re.search(r"colossus +pending: needs 64 cpu on one node; the most .* 16 cpu", demo)


def test_it_shows_what_the_readme_shows(demo: str) -> None:
    [shown] = re.findall(r"(?ms)^```text\n(.*?)^```$", (ROOT / "README.md").read_text())
    lines = shown.splitlines()
    assert len(lines) >= 5
    for line in lines:
        name, words = line.split(maxsplit=1)
        pattern = re.escape(words).replace(r"\.\.\.", ".+")
        pattern = re.sub(r"\d\d:\d\d:\d\d", r"\\d\\d:\\d\\d:\\d\\d", pattern)
        assert re.search(rf"(?m)^ *[\d.]+ s  {name} +{pattern}", demo), line


def test_it_says_what_to_look_at_and_ends_well(demo: str) -> None:
    assert "kubectl -n fluxnetes-demo get fluxjobs" in demo
    assert demo.endswith("stopping\n")


def test_what_it_tells_us_to_look_at_is_there_after_the_next_start(demo: str, up: Up) -> None:
    kubectl = Kubectl(up.kubeconfig, Path())
    lines = re.findall(r"(?m)^  kubectl (-n fluxnetes-demo .*)$", demo)
    shown = {line: kubectl(line) for line in lines if not line.endswith("events")}
    assert len(shown) == 4
    table = shown["-n fluxnetes-demo get fluxjobs"]
    assert len(re.findall(r"(?m)^\S+-(?:job|group) +completed ", table)) == 9
    assert re.search(r"(?m)^colossus-job +pending ", table)


def _when(demo: str, name: str, what: str) -> float:
    """The second at which it was first said of an entry."""
    found = re.search(rf"(?m)^ *([\d.]+) s  {name} +{re.escape(what)}", demo)
    assert found, f"the demo does not say {what} of {name}: {demo}"
    return float(found[1])
