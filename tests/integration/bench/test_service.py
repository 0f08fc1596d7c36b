"""`bench/service`, very small: what it measures is what it says."""

from __future__ import annotations

import re

import pytest

from bench.service_dialects import DIALECTS
from bench.service_table import main

SMALL = ("--nodes", "4", "--seconds", "0.1", "--rounds", "1", "--callers", "2")


def test_every_dialect_is_measured_beside_an_empty_server(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(SMALL) == 0
    output = capsys.readouterr().out
    for dialect in DIALECTS:
        [row] = [line for line in output.splitlines() if line.startswith(f"{dialect.name:28}")]
        *_, calls, ratio = row.split()
        assert float(calls) > 0
        assert float(ratio) > 0
    assert "jobspec, --store" in output
    assert re.search(r"Init of 40 nodes: \d", output)


def test_a_limit_that_is_not_kept_is_an_error_if_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench.service_table.show_limits", lambda found: False)
    assert main((*SMALL, "podspec")) == 0
    assert main((*SMALL, "podspec", "--check")) == 1
    assert "Init" not in capsys.readouterr().out
