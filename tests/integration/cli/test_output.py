"""Where resource-query writes what: results, remarks, complaints, drawings."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree  # a file that we wrote ourselves
from pathlib import Path

import pytest

FLUXNETES = Path(sys.executable).with_name("fluxnetes")
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
ONE_CORE = "match allocate jobs/one-core.yaml\n"
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def resource_query(*options: str | Path, commands: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FLUXNETES, "resource-query", "-L", "cluster.graphml", "-P", "low", *options],
        input=commands,
        capture_output=True,
        text=True,
        cwd=EXAMPLES,
        check=True,
    )


def test_results_go_to_the_file_and_remarks_to_standard_output(tmp_path: Path) -> None:
    out = tmp_path / "results"
    done = resource_query("-t", out, commands=ONE_CORE + "list\nmatch allocate nowhere\n")
    assert "RESOURCES=ALLOCATED" in out.read_text()
    assert "RESOURCES" not in done.stdout
    assert "1, ALLOCATED, 0, jobs/one-core.yaml, " in done.stdout
    assert "can't open nowhere" in done.stderr


def test_an_answer_can_be_read_before_the_next_command_is_sent() -> None:
    process = subprocess.Popen(
        [FLUXNETES, "resource-query", "-L", "cluster.graphml"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=EXAMPLES,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("help quit\n")
    process.stdin.flush()
    assert "End the session" in process.stdout.readline()
    process.communicate("quit\n")
    assert process.returncode == 0


def test_elapsed_times_stand_on_standard_output_only(tmp_path: Path) -> None:
    out = tmp_path / "results"
    done = resource_query("-e", "-t", out, commands=ONE_CORE)
    assert "INFO: Vertex Count: 203" in done.stdout
    assert "INFO: ELAPSE=" in done.stdout
    assert "ELAPSE" not in out.read_text()


def test_commands_may_be_abbreviated() -> None:
    short = resource_query(
        commands="m allocate jobs/one-core.yaml\nf sched-now=allocated\nc 1\nq\n"
    )
    full = resource_query(commands=f"{ONE_CORE}find sched-now=allocated\ncancel 1\nquit\n")
    assert short.stdout == full.stdout


def test_nothing_after_quit_is_carried_out() -> None:
    assert resource_query(commands=f"quit\n{ONE_CORE}").stdout == ""


def test_the_graph_is_drawn_as_dot(tmp_path: Path) -> None:
    resource_query("-o", tmp_path / "drawing", commands="remove /demo0/rack1 true\n")
    lines = (tmp_path / "drawing.dot").read_text().splitlines()
    assert lines[0] == "digraph G {"
    assert sum("->" in line for line in lines) == 101
    assert '0[label="demo0"];' in lines


@pytest.mark.parametrize("subsystems", ["CA", "ca"])
def test_the_graph_is_drawn_as_graphml(tmp_path: Path, subsystems: str) -> None:
    commands = "set-property /demo0/rack0/node3 <a>=&b\nset-status /demo0/rack0/node3 down\n"
    drawing = tmp_path / "drawing"
    resource_query("-S", subsystems, "-g", "graphml", "-o", drawing, commands=commands)
    root = ElementTree.parse(tmp_path / "drawing.graphml").getroot()  # noqa: S314 - our own file
    vertices = root.findall(f"{GRAPHML}graph/{GRAPHML}node")
    assert len(vertices) == 203
    assert len(root.findall(f"{GRAPHML}graph/{GRAPHML}edge")) == 202
    (node3,) = (
        facts
        for facts in ({d.get("key"): d.text for d in vertex} for vertex in vertices)
        if facts["paths"] == "containment=/demo0/rack0/node3"
    )
    assert (node3["properties"], node3["status"]) == ("<a>=&b", "down")
