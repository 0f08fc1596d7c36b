"""Traces of tests: lines of the Standard Workload Format, and the recorded ones where they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TRACES = Path(os.environ.get("FLUXNETES_TRACES", Path(__file__).parents[4] / "shared" / "traces"))
LUBLIN = "lublin_256.swf"
NASA = "NASA-iPSC-1993-3.1-cln.swf"


def trace(name: str) -> Path:
    """A recorded trace; a test that needs one is skipped where it is not."""
    path = TRACES / name
    if not path.exists():
        pytest.skip(f"the trace {name} is not in {TRACES}; FLUXNETES_TRACES names its folder")
    return path


def swf_line(
    number: int = 1,
    submit: object = 0,
    runtime: object = 60,
    allocated: object = 4,
    requested: object = -1,
    time: object = -1,
    status: int = 1,
    user: int = -1,
    group: int = -1,
) -> str:
    """One job; what is not named is not known."""
    return (
        f"{number} {submit} -1 {runtime} {allocated} -1 -1 {requested} {time} -1 {status} "
        f"{user} {group} -1 -1 -1 -1 -1\n"
    )
