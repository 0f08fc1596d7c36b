"""What the demo shows of its jobs."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest
from rich.console import Console

from fluxnetes.cli.up.demo.board import JOB_NAME, DemoRow, rows
from fluxnetes.cli.up.demo.screens import LineScreen, TableScreen, in_words, starts_by
from fluxnetes.cli.up.demo.workload import DemoRequest, group, job, waves
from fluxnetes.cluster.labels.names import GROUP
from fluxnetes.kube.objects.base import Metadata
from fluxnetes.kube.objects.fluxjobs import (
    Columns,
    FluxJob,
    FluxJobSpec,
    FluxJobStatus,
    Wrapped,
)
from fluxnetes.kube.objects.pods import Pod, PodStatus

ASK = DemoRequest(1, "1m", "1s")
NOON = datetime(2027, 1, 31, 12, tzinfo=UTC)


def test_a_job_and_a_group_of_one_name_are_two() -> None:
    entries = [job("a", 2, ASK), group("a", 3, ASK), job("b", 1, ASK)]
    records = [_record("a", Wrapped.JOB, "running", 2), _record("a", Wrapped.GROUP, "pending", 3)]
    pods = [
        _pod(JOB_NAME, "a", "Running"),
        _pod(JOB_NAME, "a", "Pending"),
        _pod(GROUP, "a", "Running"),
    ]
    first, second, third = rows(entries, records, pods)
    assert (first.state, first.pods) == ("running", "1/2")
    assert (second.state, second.pods) == ("pending", "")
    assert not third.is_known


def test_every_job_is_settled_in_the_state_in_which_it_is_to_end() -> None:
    for entry in chain.from_iterable(waves(8)):
        code = "Unsatisfiable" if entry.ends == "pending" else ""
        assert DemoRow(entry.name, entry.ends, code=code).is_settled


def test_a_job_that_waits_for_its_turn_is_not_settled() -> None:
    assert not DemoRow("a", "pending", code="Resources").is_settled


def test_the_gangs_do_not_fit_together_on_any_number_of_nodes() -> None:
    for nodes in range(2, 20):
        (ocean,), (climate,), *_ = waves(nodes)
        assert 0 < ocean.objects[0]["spec"]["parallelism"] < nodes
        assert len(climate.objects) == nodes


def test_a_line_is_said_once_for_each_change(capsys: pytest.CaptureFixture[str]) -> None:
    screen = LineScreen()
    row = DemoRow("a", "pending", eta=NOON, why="busy")
    for each in (
        DemoRow("a"),
        row,
        row,
        replace(row, state="running", eta=None, why="", nodes="n[0-1]"),
    ):
        screen.show([each], 1.0)
    assert capsys.readouterr().out.splitlines() == [
        "  1.0 s  a          pending, starts by 12:00:00: busy",
        "  1.0 s  a          running on n[0-1]",
    ]


def test_a_start_is_shown_in_seconds_from_now_and_never_in_the_past() -> None:
    row = DemoRow("a", "pending", eta=NOON)
    assert starts_by(row, NOON - timedelta(seconds=90)) == "90 s"
    assert starts_by(row, NOON + timedelta(seconds=5)) == "0 s"
    assert in_words(DemoRow("a", "completed")) == "completed"


def test_the_table_has_a_row_for_each_job_however_narrow_the_terminal() -> None:
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=60, height=10)
    with TableScreen(console) as board:
        board.show([DemoRow(f"job-{n}", "pending", why="because " * 20) for n in range(20)], 3.0)
    assert all(f"job-{n} " in output.getvalue() for n in range(20))


def _record(name: str, kind: Wrapped, state: str, size: int) -> FluxJob:
    status = FluxJobStatus(state=state, size=size, columns=Columns(nodes="n0"))
    return FluxJob(spec=FluxJobSpec(type=int(kind), name=name), status=status)


def _pod(label: str, value: str, phase: str) -> Pod:
    return Pod(metadata=Metadata(labels={label: value}), status=PodStatus(phase=phase))
