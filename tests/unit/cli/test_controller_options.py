"""`fluxnetes controller` with options that make no sense: it says so, and ends at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fluxnetes.cli.controller import main

NOWHERE = {
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    "users": [{"name": "c", "user": {}}],
    "current-context": "c",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kubeconfig").write_text(json.dumps(NOWHERE))
    Path("queues.yaml").write_text("queues: [{policy: lucky}]")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--config=queues.yaml", "queues.yaml: queues[0].policy: expected one of fcfs, easy"),
        ("--config=missing.yaml", "No such file or directory: 'missing.yaml'"),
        ("--kubeconfig=missing", "the kubeconfig missing cannot be read: "),
        ("--dsn=postgresql://x@/x?port=x", "the DSN makes no sense: "),
        ("--log-level=loud", "--log-level loud: expected one of debug, info"),
        ("--patience=luck=1", "--patience luck=1: expected one of keep-seat, stall"),
        ("--patience=stall=soon", "--patience stall=soon: expected seconds"),
        ("--patience=stall=-1", "--patience stall=-1: expected seconds"),
        ("--patience=stall", "--patience stall: expected seconds"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(
    option: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--kubeconfig=kubeconfig", "--dsn=postgresql://x@/x", option]) == 1
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith("fluxnetes controller: ")
    assert words in said


@pytest.mark.parametrize("option", ["--lease=1", "--lease=soon", "--colour=red"])
def test_an_option_that_there_is_not_is_told_by_its_name(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([option]) == 2
    assert option.partition("=")[0] in capsys.readouterr().err
