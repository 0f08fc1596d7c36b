"""docs/policies.md tells the truth: its examples are read from the page and run.

An example is a table of jobs, a policy (the last heading that names one), and a chart with the
starts and the promises below it. Every chart runs the table before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fluxnetes.queue.config import BackfillPolicy
from tests.oracle import textbook
from tests.property.queue.notary import Notary
from tests.property.queue.workloads import Workload, bare_nodes, one_queue, script_of
from tests.property.queue.world import World

PAGE = Path(__file__).parents[3] / "docs" / "policies.md"
NODES = 4
RESERVATIONS = 2
"""Under hybrid, as the page says."""

Promise = tuple[str, int, int]
"""Which job is promised which start, and when."""


@dataclass(frozen=True)
class Example:
    """What the page says of one run."""

    policy: BackfillPolicy
    jobs: dict[str, textbook.Job]
    chart: list[str]
    """The row of each node."""
    starts: dict[str, int]
    promised: list[Promise]
    wait: int | None
    """How long all jobs wait together, where the page says so."""


def read_page() -> Iterator[Example]:
    jobs: dict[str, textbook.Job] = {}
    policy = BackfillPolicy.CONSERVATIVE
    blocks = re.split(r"(?m)^```(?:text)?$", PAGE.read_text())
    for number, block in enumerate(blocks):
        if block.startswith("\njob "):
            jobs = read_jobs(block)
        elif "starts " in block and number % 2:
            wait = re.match(r"(?s)[^#]*?jobs wait (\d+) seconds", blocks[number + 1])
            yield read_chart(block, policy, jobs, int(wait[1]) if wait else None)
        elif named := re.findall(r"(?m)^### (\w+):", block):
            policy = BackfillPolicy(named[-1])


def read_jobs(block: str) -> dict[str, textbook.Job]:
    jobs = {}
    for line in block.split("\n")[2:-1]:
        name, comes, nodes, walltime, *runs = line.split()
        runtime = int(runs[0]) if runs else int(walltime)
        jobs[name] = (int(comes), runtime, int(walltime), int(nodes))
    return jobs


def read_chart(
    block: str, policy: BackfillPolicy, jobs: dict[str, textbook.Job], wait: int | None
) -> Example:
    starts = re.findall(r"(\w) (\d+)", re.findall(r"(?m)^starts +(.+)$", block)[0])
    promised = re.findall(r"(\w) (\d+) at (\d+)", re.findall(r"(?m)^promised +(.+)$", block)[0])
    return Example(
        policy,
        jobs,
        re.findall(r"(?m)^node \d  (.+)$", block),
        {job: int(start) for job, start in starts},
        [(job, int(start), int(at)) for job, start, at in promised],
        wait,
    )


EXAMPLES = list(read_page())
each = pytest.mark.parametrize(
    "example", EXAMPLES, ids=[f"{n} {e.policy.value}" for n, e in enumerate(EXAMPLES, 1)]
)


def test_the_page_has_an_example_of_every_policy() -> None:
    assert {example.policy for example in EXAMPLES} == set(BackfillPolicy)
    assert len(EXAMPLES) == 6


def play(example: Example) -> tuple[dict[str, int | None], list[Promise]]:
    """When each job starts, and what is promised before that."""
    world = World(
        lambda: bare_nodes(NODES),
        one_queue(example.policy, RESERVATIONS),
        script_of(list(example.jobs.values())),
    )
    names, notary, promised = dict(zip(world.ids, example.jobs, strict=True)), Notary(world), []
    for step in world.steps():
        notary.check(step)
        for event in (event for changes in step.changes for event in changes.events):
            if event.kind == "planned" and event.start is not None:
                promised.append((names[event.job], event.start, event.at))
    return {names[id]: world.job(id).start for id in world.ids}, promised


@each
def test_jobs_start_and_are_promised_a_start_as_the_page_says(example: Example) -> None:
    starts, promised = play(example)
    assert starts == example.starts
    assert promised == example.promised


@each
def test_the_chart_shows_each_job_on_its_nodes_while_it_runs(example: Example) -> None:
    assert len(example.chart) == NODES
    for name, (_, runtime, _, nodes) in example.jobs.items():
        rows = [row for row in example.chart if name in row]
        begin = example.starts[name]
        assert len(rows) == nodes
        for row in rows:
            assert [at for at, letter in enumerate(row) if letter == name] == list(
                range(begin, begin + runtime)
            )


@each
def test_the_jobs_wait_as_long_as_the_page_says(example: Example) -> None:
    if example.wait is not None:
        comes = {name: job[0] for name, job in example.jobs.items()}
        assert sum(example.starts[name] - comes[name] for name in comes) == example.wait


@pytest.mark.parametrize(
    "policy", [BackfillPolicy.FCFS, BackfillPolicy.EASY, BackfillPolicy.CONSERVATIVE]
)
def test_the_textbook_says_the_same(policy: BackfillPolicy) -> None:
    for example in EXAMPLES:
        if example.policy is policy:
            jobs: Workload = list(example.jobs.values())
            assert textbook.simulate(jobs, NODES, policy.value) == list(example.starts.values())
