"""The oracle itself is checked against recorded sessions of the reference.

Only sessions that match, cancel and mark vertices up or down are replayed, one in `EVERY`; with
FLUXNETES_EXAMPLES set, all of them. Where the recordings are not at hand, nothing is checked here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluxnetes.graph.readers import read_graph
from fluxnetes.jobspec.errors import JobspecError
from fluxnetes.jobspec.parse import parse_jobspec
from fluxnetes.match.answers import Operation, Outcome
from tests.conformance.test_reference_sessions import (
    CASES,
    FOLDER,
    Case,
    commands_of,
    expected_of,
    listed_differences,
)
from tests.oracle.oracle import Held, Oracle, Verdict
from tests.oracle.tree import Vertex

EVERY = 1 if "FLUXNETES_EXAMPLES" in os.environ else 4
MOST_VERTICES = 20_000
UNDERSTOOD = {"match", "cancel", "set-status", "quit"}
SUBSYSTEMS = {"CA": "containment", "PA": "power"}


def words_of(case: Case) -> list[list[str]]:
    lines = (line.split() for line in commands_of(case).splitlines())
    return [words for words in lines if words and not words[0].startswith("#")]


def is_plain(case: Case) -> bool:
    readable = case["match_format"] == "simple" and case["load_format"] in ("grug", "jgf")
    plain = readable and not case["fails"] and case["name"] not in listed_differences()
    return plain and all(words[0] in UNDERSTOOD for words in words_of(case))


SESSIONS = [case for case in CASES if is_plain(case)][::EVERY]


@pytest.mark.parametrize("case", SESSIONS, ids=[case["name"] for case in SESSIONS])
def test_the_oracle_answers_like_the_reference(case: Case) -> None:
    graph = read_graph((FOLDER / case["graph"]).read_bytes(), case["load_format"])
    if graph.vertex_count > MOST_VERTICES:
        pytest.skip(f"{graph.vertex_count} vertices are too many for the oracle")
    oracle = Oracle(
        graph,
        policy=case["policy"],
        traverser=case["traverser"],
        prune_filters=case["prune_filters"],
        subsystem=SUBSYSTEMS[case["subsystems"]],
    )
    lines = [line for words in words_of(case) for line in answer(oracle, words)]
    assert lines == [line for line in expected_of(case).splitlines() if is_answer(line)]


def is_answer(line: str) -> bool:
    """Is this a line that `answer` writes too?"""
    return bool(line.strip()) and "====" not in line and "ORDER COUNT" not in line


def answer(oracle: Oracle, words: list[str]) -> Iterator[str]:
    match words:
        case ["match", "satisfiability", file]:
            verdict = oracle.match(Operation.SATISFIABILITY, parse_jobspec(Path(file).read_bytes()))
            yield f"INFO: {verdict.outcome.value.capitalize()} request"
        case ["match", operation, file]:
            try:
                jobspec = parse_jobspec(Path(file).read_bytes())
            except (JobspecError, FileNotFoundError):
                return
            yield from tell(oracle, oracle.match(Operation(operation), jobspec))
        case ["cancel", jobid, *_]:
            oracle.calendar.jobs.pop(int(jobid), None)
        case ["set-status", path, status]:
            for vertex in oracle.graph.find_path(path):
                oracle.set_status(vertex, status == "up")


def tell(oracle: Oracle, verdict: Verdict) -> Iterator[str]:
    match verdict.outcome:
        case Outcome.ALLOCATED | Outcome.RESERVED | Outcome.MATCHED:
            rows = {held[0]: held for held in verdict.rows}
            yield from draw(oracle, oracle.tree.root, rows, verdict.edges)
            yield f"INFO: JOBID={verdict.jobid}"
            yield f"INFO: RESOURCES={verdict.outcome.name}"
            yield f"INFO: SCHEDULED AT={verdict.at or 'Now'}"
        case outcome:
            yield "INFO: No matching resources found"
            if outcome is Outcome.UNSATISFIABLE:
                yield "INFO: Unsatisfiable request"
            yield f"INFO: JOBID={verdict.jobid}"


def draw(
    oracle: Oracle,
    vertex: Vertex,
    rows: dict[int, Held],
    edges: frozenset[tuple[int, int]],
    depth: int = 1,
) -> Iterator[str]:
    """The rows as resource-query shows them, children first, by the path of the job."""
    for child in vertex.children:
        if (vertex.row, child.row) in edges:
            yield from draw(oracle, child, rows, edges, depth + 1)
    if vertex.row in rows:
        _, needs, exclusive = rows[vertex.row]
        name = oracle.graph.name(vertex.row)
        yield f"      {'---' * depth}{name}[{needs}:{'x' if exclusive else 's'}]"
