"""What processes cost."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from bench.kube_costs import costs

WORK = "sum(range(15_000_000))"
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]]); input()"


@pytest.mark.parametrize(
    "child",
    [
        pytest.param(f"{WORK}; print('done', flush=True); input()", id="that lives"),
        pytest.param(f"{WORK}; print('done', flush=True)", id="that ended"),
    ],
)
def test_the_work_of_a_child_is_counted(child: str) -> None:
    began = time.process_time()
    eval(WORK)  # noqa: S307
    work = time.process_time() - began
    command, pipe = [sys.executable, "-c", PARENT, child], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        time.sleep(0.1)  # until it has ended, if it does
        spent = costs(parent.pid)
        parent.communicate(b"\n\n")
    assert spent.cpu > work / 2
    assert spent.memory > 5
