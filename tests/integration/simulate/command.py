"""The `fluxnetes simulate` command as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

FLUXNETES = Path(sys.executable).with_name("fluxnetes")


def run_simulate(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(FLUXNETES), "simulate", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def simulated(*arguments: object) -> dict[str, Any]:
    """The JSON that a simulation writes."""
    done = run_simulate(*arguments, "--json", "-")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
