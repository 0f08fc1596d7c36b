"""What the page on `fluxnetes simulate` shows is what happens."""

from __future__ import annotations

import re

from tests.integration.simulate.command import run_simulate
from tests.integration.simulate.conftest import POLICIES, Run
from tests.integration.simulate.pages import PAGE, commands, played, without_times
from tests.unit.simulate.traces import LUBLIN


def test_every_command_and_table_of_the_page_shows_what_happens(lublin_run: Run) -> None:
    page = PAGE.read_text()
    (slow,) = [command for command in commands(page) if LUBLIN in command]
    wanted = " ".join(f"--policy {name}" for name in POLICIES)
    assert slow == f"fluxnetes simulate {LUBLIN} --nodes 256 {wanted}"
    assert without_times(played(page, {slow: lublin_run.printed})) == without_times(page)


def test_backfill_cuts_the_slowdown_of_the_trace_at_better_utilisation(lublin_run: Run) -> None:
    fcfs = lublin_run.policies["fcfs"]
    for name in ("easy", "conservative"):
        other = lublin_run.policies[name]
        assert other["mean_bounded_slowdown"] < fcfs["mean_bounded_slowdown"] / 100
        assert other["utilisation"] > 1.4 * fcfs["utilisation"]


def test_the_page_names_every_option() -> None:
    page, help = PAGE.read_text(), run_simulate("--help").stdout
    options = set(re.findall(r"(?m)^ +(--[a-z-]+)", help))
    assert len(options) > 10
    assert {option for option in options if f"`{option}" not in page} == set()
