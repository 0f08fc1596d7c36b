"""Whatever resource-query is given, it answers in words: never a traceback."""

from __future__ import annotations

import contextlib
import io
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cli.entry import main
from fluxnetes.cli.resource_query.options import ResourceQueryOptions
from fluxnetes.cli.resource_query.session import CommandError, QuerySession
from fluxnetes.cli.resource_query.shell import carry_out, run_line
from fluxnetes.cli.resource_query.start import build_matcher
from fluxnetes.graph.columns import GraphError
from fluxnetes.match.errors import MatchError
from fluxnetes.match.find.query import QueryError
from fluxnetes.notation.hostlist import HostlistError
from fluxnetes.notation.idset import IdsetError
from tests.property.profile import examples

FLUXNETES = Path(sys.executable).with_name("fluxnetes")
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
CLUSTER = EXAMPLES / "cluster.graphml"
GARBAGE = random.Random(7).randbytes(4096)


def resource_query(
    *options: str | Path, commands: bytes = b"", cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        [FLUXNETES, "resource-query", *options],
        input=commands,
        capture_output=True,
        cwd=cwd,
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
    return done


def test_a_graph_that_is_not_there_ends_it_with_status_1() -> None:
    done = resource_query("-L", "no-such-graph.json", "-f", "jgf")
    assert done.returncode == 1
    assert b"no-such-graph.json: No such file or directory" in done.stderr


def test_a_folder_is_not_a_graph(tmp_path: Path) -> None:
    done = resource_query("-L", tmp_path)
    assert done.returncode == 1
    assert b"Is a directory" in done.stderr


@pytest.mark.parametrize("format", ["grug", "jgf", "jgf_shorthand", "rv1exec", "hwloc"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b'"text"',
        b"<graphml/>",
        b"<topology/>",
        b"null",
        b'{"graph": 3}',
        b'{"graph": {"nodes": [], "edges": []}}',
        b'{"graph": {"nodes": [{"id": 3}], "edges": [{}]}}',
        b'{"version": 1, "execution": {"R_lite": [{}]}}',
        GARBAGE,
        bytes(range(32)),
    ],
)
def test_a_bad_graph_ends_it_with_a_message_and_status_1(
    format: str, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = tmp_path / "graph"
    graph.write_bytes(content)
    assert main(["resource-query", "-L", str(graph), "-f", format]) == 1
    assert "Runtime error: " in capsys.readouterr().err


@pytest.mark.parametrize("policy", ["worst", "", "node_centric=true", "policy=middle", "=", "a=b"])
def test_a_bad_policy_ends_it_with_a_message_and_status_1(
    policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["resource-query", "-L", str(CLUSTER), "-P", policy]) == 1
    assert "policy" in capsys.readouterr().err


@pytest.mark.parametrize("filters", ["core", "ALL", ":", "ALL:core,,", "x:y:z"])
def test_bad_prune_filters_are_refused_or_read_but_never_crash(filters: str) -> None:
    resource_query("-L", CLUSTER, "-p", filters, commands=b"quit\n")


def test_a_subsystem_that_the_graph_has_not_ends_it_with_status_1() -> None:
    done = resource_query("-L", CLUSTER, "-S", "IBA")
    assert done.returncode == 1
    assert b"ibnet" in done.stderr


def test_results_that_cannot_be_written_end_it_with_status_1(tmp_path: Path) -> None:
    done = resource_query("-L", CLUSTER, "-t", tmp_path / "no" / "such" / "folder")
    assert done.returncode == 1
    assert b"can't write to" in done.stderr


BAD_COMMANDS = [
    "frobnicate",
    "match",
    "match allocate",
    "match conquer {jobs}/one-core.yaml",
    "match allocate no-such-file.yaml",
    "match allocate {tmp}",
    "match allocate {tmp}/garbage",
    "match allocate " + "x" * 5000,
    "multi-match allocate {jobs}/one-core.yaml",
    "update allocate jgf {tmp}/garbage 1 0 10",
    "update allocate jgf {jobs}/one-core.yaml 1 0 10",
    "update allocate rv1exec {jobs}/one-core.yaml 1 0 10",
    "update allocate rv1exec {tmp}/empty.json 1 0 10",
    "update allocate jgf {tmp}/empty.json one 0 10",
    "update allocate jgf {tmp}/empty.json 1 zero 10",
    "update allocate jgf {tmp}/empty.json 1 -5 10",
    "update allocate jgf {tmp}/empty.json 99999999999999999999999 0 10",
    "attach {tmp}/garbage",
    "attach {tmp}/empty.json",
    "attach {jobs}/one-core.yaml",
    "remove /demo0/rack9 true",
    "remove nine false",
    "remove 0-99999999999 false",
    "remove /demo0 perhaps",
    "find",
    "find status",
    "find status=sideways",
    "find ((((",
    "find )",
    "find jobid-alloc=one",
    "find names=[",
    "find and and and",
    "cancel",
    "cancel one",
    "cancel 99",
    "cancel -1",
    "partial-cancel 1 jgf",
    "partial-cancel 99 jgf {tmp}/empty.json",
    "partial-cancel 1 jgf {tmp}/empty.json",
    "partial-cancel 1 rv1exec {tmp}/garbage",
    "set-property /demo0 novalue",
    "set-property /nowhere key=value",
    "get-property /nowhere",
    "set-status /demo0 sideways",
    "get-status /nowhere",
    "info one",
    "info 99",
    "stat now",
    "cat",
    "cat no-such-file",
    "cat {tmp}/garbage",
    "help me",
]


def written_out(command: str, folder: Path) -> str:
    """A bad command with the names of files that are there."""
    (folder / "garbage").write_bytes(GARBAGE)
    (folder / "empty.json").write_text("{}")
    return command.format(jobs=EXAMPLES / "jobs", tmp=folder)


def held(session: QuerySession) -> dict[int, tuple[str, int]]:
    """What each job holds: its state, and on how many vertices."""
    jobs = session.matcher.jobs.values()
    found = {job.jobid: session.matcher.find(f"jobid-alloc={job.jobid}") for job in jobs}
    return {job.jobid: (job.state, len(found[job.jobid])) for job in jobs}


@pytest.mark.parametrize("command", BAD_COMMANDS)
def test_a_bad_command_is_answered_and_changes_nothing(command: str, tmp_path: Path) -> None:
    out = io.StringIO()
    session = QuerySession(build_matcher(ResourceQueryOptions(str(CLUSTER))), out, out, out)
    run_line(session, f"match allocate {EXAMPLES}/jobs/one-core.yaml")
    before, said = held(session), out.getvalue()
    run_line(session, written_out(command, tmp_path))
    assert out.getvalue() != said
    assert held(session) == before
    assert not session.ended


def test_the_script_survives_all_bad_commands_one_after_the_other(tmp_path: Path) -> None:
    lines = [written_out(command, tmp_path) for command in BAD_COMMANDS]
    commands = "\n".join([*lines, "help quit", ""])
    done = resource_query("-L", CLUSTER, commands=commands.encode())
    assert done.returncode == 0
    assert b"End the session" in done.stdout.splitlines()[-1]


GOOD_COMMANDS = """
match allocate {examples}/jobs/one-core.yaml
match allocate_orelse_reserve {examples}/jobs/eight-nodes.yaml
match without_allocating_future {examples}/jobs/nodes-of-one-rack.yaml
match satisfiability {examples}/jobs/fast-node.yaml
update allocate jgf {examples}/resources/two-cores-of-node1.json 5 0 100
update reserve jgf {examples}/resources/two-cores-of-node1.json 6 200 100
partial-cancel 5 jgf {examples}/resources/core1-of-node1.json stats
cancel 1 stats
cancel 5
attach {examples}/resources/node8.json
remove /demo0/rack1/node8 true
remove /demo0/rack0/node1 true
remove /demo0 true
remove 0-2 false
set-property /demo0/rack0/node2 fast=yes
set-status /demo0/rack0/node1 down
set-status /demo0/rack0 down
get-status /demo0/rack0/node1
find sched-now=allocated and (status=up or sched-future=reserved)
find jobid-tag=1 agfilter=t
list
"""
GOOD = st.sampled_from(GOOD_COMMANDS.format(examples=EXAMPLES).strip().splitlines())
WORDS = st.sampled_from(GOOD_COMMANDS.format(examples=EXAMPLES).split()) | st.text(max_size=6)
DELIBERATE = (CommandError, GraphError, HostlistError, IdsetError, MatchError, QueryError)
"""Errors that we raise about what we are given; any other is a bug of ours."""


def split(line: str) -> tuple[str, list[str]]:
    first, *rest = line.split() or [""]
    return first, rest


LINES = st.lists(GOOD | st.lists(WORDS, max_size=7).map(" ".join), max_size=12)


@examples(150)
@given(LINES)
def test_no_mixture_of_good_and_bad_commands_raises_by_accident(lines: list[str]) -> None:
    out = io.StringIO()
    session = QuerySession(build_matcher(ResourceQueryOptions(str(CLUSTER))), out, out, out)
    for line in lines:
        with contextlib.suppress(*DELIBERATE):
            carry_out(session, *split(line))


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    done = resource_query("-L", CLUSTER, commands=b"fnd status=up\ncancel\n")
    assert b"did you mean 'find'?" in done.stderr
    assert b"usage: cancel JOBID [stats]" in done.stderr


def test_binary_garbage_on_standard_input_is_answered() -> None:
    done = resource_query("-L", CLUSTER, commands=GARBAGE + b"\nhelp quit\n")
    assert done.returncode == 0
    assert b"End the session" in done.stdout


def test_a_failed_match_gives_its_reason() -> None:
    commands = f"match allocate_orelse_reserve {EXAMPLES}/jobs/four-gpus.yaml\n"
    done = resource_query("-L", CLUSTER, commands=commands.encode())
    assert b"job 1 is unsatisfiable: " in done.stderr
    assert len(done.stderr) > len("job 1 is unsatisfiable: \n")


def test_an_unreadable_jobspec_names_the_place() -> None:
    commands = f"match allocate {EXAMPLES}/jobs/unreadable.yaml\n"
    done = resource_query("-L", CLUSTER, commands=commands.encode())
    assert b"count" in done.stderr
    assert b"INFO: No matching resources found\nINFO: JOBID=1\n" in done.stdout


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [FLUXNETES, "resource-query", "-L", CLUSTER],
        stdin=subprocess.PIPE,
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    os.close(reading)
    _, errors = process.communicate(b"help\n" * 10, timeout=60)
    assert process.returncode == 1
    assert errors == b""


@pytest.mark.parametrize("error", [ValueError, KeyError, AssertionError])
def test_an_error_of_our_own_is_not_told_as_the_users_mistake(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.StringIO()
    session = QuerySession(build_matcher(ResourceQueryOptions(str(CLUSTER))), out, out, out)

    def fail(*_: object, **__: object) -> None:
        raise error("need at least one array to concatenate")

    monkeypatch.setattr(session.matcher, "match", fail)
    with pytest.raises(error, match="array"):
        run_line(session, f"match allocate {EXAMPLES}/jobs/one-core.yaml")
