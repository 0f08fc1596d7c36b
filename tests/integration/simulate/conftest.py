"""One run of the recorded trace under three policies, which several tests look at."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.simulate.command import run_simulate
from tests.unit.simulate.traces import LUBLIN, trace

POLICIES = ("fcfs", "easy", "conservative")


@dataclass(frozen=True)
class Run:
    """What a simulation printed and wrote."""

    printed: str
    policies: dict[str, Any]


@pytest.fixture(scope="session")
def lublin_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Ten thousand jobs on 256 nodes: half a minute."""
    file: Path = tmp_path_factory.mktemp("lublin") / "out.json"
    policies = [word for name in POLICIES for word in ("--policy", name)]
    done = run_simulate(trace(LUBLIN), "--nodes", 256, *policies, "--json", file)
    assert done.returncode == 0, done.stderr
    return Run(done.stdout, json.loads(file.read_bytes())["policies"])
