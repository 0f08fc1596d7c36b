"""`fluxnetes controller` with options that make no sense: it says so, and ends at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fluxnetes.cli.controller import main
from fluxnetes.cli.controller.timeouts import read_timeouts

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
        ("--dsn=postgresql://x@/x?port=x", "the DSN is not valid: "),
        ("--log-level=loud", "--log-level loud: expected one of debug, info"),
        ("--timeout=luck=1", "--timeout luck=1: expected one of replacement-pod, stalled"),
        ("--timeout=orphan-pod=soon", "--timeout orphan-pod=soon: expected seconds"),
        ("--timeout=orphan-pod=-1", "--timeout orphan-pod=-1: expected seconds"),
        ("--timeout=orphan-pod", "--timeout orphan-pod: expected seconds"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    option: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--kubeconfig=kubeconfig", "--dsn=postgresql://x@/x", option]) == 1
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith("fluxnetes controller: ")
    assert words in said


@pytest.mark.parametrize(
    "option", ["--leader-elect-lease-duration=1", "--lease=1", "--lease=soon", "--colour=red"]
)
def test_an_option_that_there_is_not_is_reported_by_its_name(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([option]) == 2
    assert option.partition("=")[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "notes"),
    [
        (["--lease=5"], ["--lease is deprecated; use --leader-elect-lease-duration"]),
        (["--control-plane"], ["--control-plane is deprecated; use --include-control-plane"]),
        (
            ["--patience=homeless=10"],
            [
                "--patience is deprecated; use --timeout",
                "the timeout homeless is deprecated; use orphan-pod",
            ],
        ),
    ],
)
def test_old_names_of_options_work_with_a_note_and_are_not_in_the_help(
    options: list[str], notes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*options, "--kubeconfig=missing", "--dsn=postgresql://x@/x"]) == 1
    *said, _error = capsys.readouterr().err.splitlines()
    assert said == [f"fluxnetes controller: {note}" for note in notes]
    assert main(["--help"]) == 0
    help = capsys.readouterr().out.split()
    assert not {option.partition("=")[0] for option in options} & set(help)


def test_timeouts_by_new_and_old_names_set_the_same() -> None:
    names = ("replacement-pod", "stalled-group", "retry-delay", "orphan-pod", "forced-delete")
    old = ("keep-seat", "stall", "again", "homeless", "grace")
    assert read_timeouts(tuple(f"{name}=7" for name in names)) == read_timeouts(
        tuple(f"{name}=7" for name in old)
    )
    assert read_timeouts(("node-conflict=2.5",)).node_conflict == 2.5
