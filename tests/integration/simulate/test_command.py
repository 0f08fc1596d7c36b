"""`fluxnetes simulate` as people and machines use it."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fluxnetes.cli.entry import main
from fluxnetes.graph.writers.jgf import write_jgf
from fluxnetes.match.matcher import Matcher
from fluxnetes.simulate.cluster import uniform_cluster
from tests.integration.simulate.command import FLUXNETES, run_simulate, simulated
from tests.unit.simulate.traces import swf_line

GENERATED = ("--generate", "lublin", "--jobs", 60, "--nodes", 16)


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    """Four nodes; the third job can pass the second, the fourth is too large, the last unknown."""
    lines = [
        "; MaxProcs: 4\n",
        swf_line(1, 0, 10, 3, time=10),
        swf_line(2, 1, 10, 4),
        swf_line(3, 2, 5, 1),
        swf_line(4, 3, 5, 9),
        swf_line(5, 4, -1, 1),
    ]
    path = tmp_path / "small.swf"
    path.write_text("".join(lines))
    return path


def test_a_trace_is_run_on_the_machine_of_its_header(trace_file: Path) -> None:
    done = run_simulate(trace_file)
    assert done.returncode == 0
    assert done.stderr == ""
    heading, *rest = done.stdout.splitlines()
    assert heading == "small.swf: 3 jobs on 4 nodes, 4 processors"
    assert rest[:2] == [
        "skipped: 1 job (larger than the cluster)",
        "skipped: 1 job (no run time)",
    ]
    assert any(line.split() == ["Backfilled", "33.3%"] for line in rest)


def test_policies_are_compared_side_by_side(trace_file: Path) -> None:
    done = run_simulate(trace_file, "--policy", "fcfs", "--policy", "easy", "--policy", "fcfs")
    assert [line.split() for line in done.stdout.splitlines()[3:5]] == [
        ["fcfs", "easy"],
        ["Jobs", "3", "3"],
    ]


def test_json_on_the_output_is_all_that_is_on_it(trace_file: Path) -> None:
    easy = simulated(trace_file)["policies"]["easy"]
    assert (easy["jobs"], easy["skipped"], easy["longest_queue"]) == (3, 2, 1)
    assert [job["start"] for job in easy["schedule"]] == [0, 10, 2]


def test_files_are_written_besides_the_table(trace_file: Path, tmp_path: Path) -> None:
    files = (tmp_path / "out.json", tmp_path / "out.html")
    done = run_simulate(trace_file, "--json", files[0], "--html", files[1])
    assert "Mean wait" in done.stdout
    assert json.loads(files[0].read_bytes())["policies"]["easy"]["jobs"] == 3
    assert files[1].read_text().startswith("<!doctype html>")


def test_a_compressed_trace_is_the_same_trace(trace_file: Path, tmp_path: Path) -> None:
    packed = tmp_path / "small.swf.gz"
    packed.write_bytes(gzip.compress(trace_file.read_bytes()))
    plain, other = (simulated(file)["policies"]["easy"] for file in (trace_file, packed))
    assert plain["schedule"] == other["schedule"]


def test_walltimes_can_be_overestimated(trace_file: Path) -> None:
    # The third job would then be in the way of the second, as far as the queue knows.
    easy = simulated(trace_file, "--overestimate", 2)["policies"]["easy"]
    assert [job["start"] for job in easy["schedule"]] == [0, 10, 20]


def test_the_cluster_may_be_a_graph(trace_file: Path, tmp_path: Path) -> None:
    matcher = Matcher(uniform_cluster(2, 2).graph)
    (tmp_path / "g.jgf").write_text(write_jgf(matcher.graph, matcher.find("status=up")))
    found = simulated(trace_file, "--graph", tmp_path / "g.jgf")
    assert found["cluster"] == {"nodes": 2, "processors": 4}
    jobs = found["policies"]["easy"]["schedule"]
    assert [(job["start"], job["nodes"]) for job in jobs] == [(0, 2), (10, 2), (2, 1)]


def test_a_generated_workload_is_the_same_for_the_same_seed() -> None:
    one, same, other = (
        simulated(*GENERATED, "--seed", seed)["policies"]["easy"]["schedule"] for seed in (7, 7, 8)
    )
    assert one == same
    assert one != other


def test_cores_make_processors() -> None:
    found = simulated("--generate", "lublin", "--jobs", 30, "--nodes", 4, "--cores", 8)
    assert found["cluster"] == {"nodes": 4, "processors": 32}
    for job in found["policies"]["easy"]["schedule"]:
        assert -(-job["size"] // 8) <= job["nodes"] <= min(4, job["size"])


def test_every_policy_has_its_name() -> None:
    names = ["fcfs", "easy", "hybrid", "hybrid:2", "conservative"]
    found = simulated(*GENERATED, *(word for name in names for word in ("--policy", name)))
    assert list(found["policies"]) == names


def test_figures_are_never_cut_however_narrow_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    names = ["fcfs", "easy", *(f"hybrid:{k}" for k in range(1, 9)), "conservative"]
    options = [word for name in names for word in ("--policy", name)]
    assert main(["simulate", *map(str, GENERATED), *options]) == 0
    printed = capsys.readouterr().out
    assert "…" not in printed
    heads, makespan = printed.splitlines()[1], printed.splitlines()[4]
    assert heads.split() == names
    assert len(re.findall(r"\d\d:\d\d:\d\d", makespan)) == len(names)


@pytest.mark.parametrize(
    ("arguments", "complaint", "status"),
    [
        ([], "no workload: give a trace", 2),
        (["nowhere.swf"], "can't read the trace nowhere.swf: No such file or directory", 1),
        (["nowhere.swf", "--nodes", 4], "can't read the trace nowhere.swf", 1),
        (["t.swf", "--generate", "lublin"], "two workloads", 2),
        (["--generate", "poisson"], "unknown model 'poisson'; expected lublin", 2),
        (["t.swf", "--seed", 4], "is for generated workloads", 2),
        (["--generate", "lublin"], "the size of the cluster is not known", 2),
        ([*GENERATED, "--policy", "sjf"], "unknown policy 'sjf'; expected fcfs, easy", 2),
        ([*GENERATED, "--overestimate", 0.5], "greater than or equal to 1", 2),
        ([*GENERATED, "--overestimate", "1e300"], "less than or equal to 1000000", 2),
        ([*GENERATED, "--policy", "hybrid:0"], "expected a number of jobs, such as 8", 2),
        ([*GENERATED, "--json", "-", "--html", "-"], "both write to standard output", 2),
        ([*GENERATED, "--json", "x", "--html", "x"], "both write to x; name two files", 2),
        ([*GENERATED, "--graph", "g.jgf"], "leave --nodes and --cores out", 2),
        ([*GENERATED, "--html", "no/such/place.html"], "there is no directory no/such", 1),
        ([*GENERATED, "--json", "/"], "can't write to /: it is a directory", 1),
        (["--generate", "lublin", "--graph", "g.jgf"], "can't read the graph g.jgf", 1),
        (["--generate", "lublin", "--nodes", 0], "--nodes", 2),
        (["--colour"], "--colour", 2),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    arguments: list[object], complaint: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *map(str, arguments)]) == status
    printed = capsys.readouterr()
    assert complaint in " ".join(printed.err.split())
    assert printed.out == ""


def test_a_closed_output_is_no_traceback(tmp_path: Path) -> None:
    command = f"{FLUXNETES} simulate --generate lublin --jobs 2000 --nodes 999 --json - | head -c 9"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ('{"workloa', "")


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.swf").write_text(swf_line() + "1 2 three\n")
    done = run_simulate(tmp_path / "bad.swf", "--nodes", 4)
    assert done.returncode == 1
    assert "bad.swf, line 2: found 3 fields" in done.stderr


def test_a_trace_that_does_not_say_how_large_its_machine_was_needs_nodes(tmp_path: Path) -> None:
    (tmp_path / "t.swf").write_text(swf_line())
    done = run_simulate(tmp_path / "t.swf")
    assert done.returncode == 1
    assert "give the size of the cluster with --nodes" in done.stderr


def test_help_shows_examples_and_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from fluxnetes.cli.entry import main\n"
        "main(['simulate', '--help'])\n"
        "print('loaded:', [m for m in ('numpy', 'yaml', 'msgspec') if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "fluxnetes simulate --generate lublin" in done.stdout
    assert done.stdout.splitlines()[-1] == "loaded: []"


def test_a_terminal_sees_how_far_it_is() -> None:
    ours, theirs = pty.openpty()
    command = [str(word) for word in (FLUXNETES, "simulate", *GENERATED)]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, "TERM": "xterm"}
    ) as process:
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 4096):
                seen += chunk
        except OSError:
            pass  # Linux says so when the other end of a terminal is gone.
        os.close(ours)
    assert process.returncode == 0
    assert b"easy" in seen
    assert b"60/60" in seen
