"""`fluxnetes webhook` that cannot start says why."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from fluxnetes.plane.plane import ControlPlane
from fluxnetes.webhook.run import listen


def run(*options: str) -> tuple[int, str]:
    line = [sys.executable, "-m", "fluxnetes", "webhook", *options]
    done = subprocess.run(line, capture_output=True, text=True, timeout=30, check=False)
    assert not done.stdout
    return done.returncode, done.stderr


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    status, said = run("--kubeconfig", str(tmp_path / "none"))
    assert status == 1
    assert str(tmp_path / "none") in said
    assert len(said.splitlines()) == 1


def test_a_port_that_is_taken_is_named(plane: ControlPlane) -> None:
    with listen("127.0.0.1") as taken:
        port = taken.getsockname()[1]
        status, said = run("--kubeconfig", str(plane.kubeconfig), "--port", str(port))
    assert status == 1
    assert f"cannot listen at 127.0.0.1, port {port}" in said
    assert "--port" in said
