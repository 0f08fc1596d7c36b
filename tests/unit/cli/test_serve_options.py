"""Options that need one another say so, before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from fluxnetes.cli.controller import main as controller
from fluxnetes.cli.serve import main as serve


def test_what_is_about_a_queue_needs_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "queues.yaml"
    config.write_text("queues: [{name: default}]\n")
    assert serve(["--port", "0", "--config", str(config)]) == 2
    assert "add --queue" in capsys.readouterr().err


def test_callers_of_a_cluster_need_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    assert controller(["--serve", "127.0.0.1:0"]) == 2
    assert "--serve-tokens" in capsys.readouterr().err


def test_tokens_need_a_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("ada 0123456789abcdef\n")
    assert controller(["--serve-tokens", str(tokens)]) == 2
    assert "add --serve HOST:PORT" in capsys.readouterr().err


@pytest.mark.parametrize("where", ["4242", "localhost", "localhost:x", ":4242", "a:99999"])
def test_an_address_is_a_host_and_a_port(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert controller(["--serve", where]) == 2
    assert "expected HOST:PORT" in capsys.readouterr().err
