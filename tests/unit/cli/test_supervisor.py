"""A program that ends is started again after a pause that grows: real processes, our own clock."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluxnetes.cli.up.supervisor import RestartTiming, Supervisor
from fluxnetes.plane.processes import Program, ProgramRun

TIMING = RestartTiming(first=1.0, longest=8.0, settled=60.0)
RUNS = "import time; print('up', flush=True); time.sleep(60)"


class Supervised:
    """A program under supervision, and what was said of it."""

    def __init__(self, folder: Path, code: str) -> None:
        self.now = 0.0
        self.said: list[str] = []
        self.starts: list[float] = []
        self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT)
        program = Program("it", (sys.executable, "-c", code), "up")

        def start() -> ProgramRun:
            self.starts.append(self.now)
            return ProgramRun(program, folder / "it.log", folder, self._lock)

        self.it = Supervisor(start, self.said.append, TIMING, lambda: self.now)

    def wait_for_end(self) -> None:
        """Until the process has ended, and that was noticed."""
        self.it.process._popen.wait()
        self.it.tend()

    def close(self) -> None:
        self.it.process.kill()
        os.close(self._lock)


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Supervised]:
    found = Supervised(tmp_path, RUNS)
    yield found
    found.close()


def test_a_program_that_is_killed_is_started_again_after_a_pause(
    runs: Supervised, tmp_path: Path
) -> None:
    runs.it.process.wait_until_ready()
    runs.it.process.kill()
    runs.it.tend()
    log = tmp_path / "it.log"
    assert runs.said == [f"it ended (status -9); it is started again in 1 s; see {log}"]
    runs.now = 0.9
    runs.it.tend()
    assert runs.starts == [0.0]
    runs.now = 1.0
    runs.it.tend()
    assert runs.starts == [0.0, 1.0]
    runs.it.process.wait_until_ready()
    runs.it.tend()
    assert runs.said[1:] == ["it is ready again"]
    assert log.read_text().count("--- it starts at ") == log.read_text().count("up\n") == 2


def test_the_output_of_an_earlier_start_does_not_make_a_later_one_ready(tmp_path: Path) -> None:
    (tmp_path / "it.log").write_text("up\n")
    silent = Supervised(tmp_path, "import time; time.sleep(60)")
    assert not silent.it.process.is_ready()
    silent.close()


def test_the_pause_doubles_and_has_a_longest(tmp_path: Path) -> None:
    fails = Supervised(tmp_path, "raise SystemExit(1)")
    for _ in range(6):
        fails.wait_for_end()
        fails.now += float(fails.said[-1].partition(" again in ")[2].partition(" s;")[0])
        fails.it.tend()
    fails.wait_for_end()
    pauses = [after - before for before, after in zip(fails.starts, fails.starts[1:], strict=False)]
    assert pauses == [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    fails.now += 8
    fails.close()


def test_a_program_that_ran_for_long_begins_with_the_first_pause(runs: Supervised) -> None:
    for wait in (1.0, 2.0):
        runs.it.process.kill()
        runs.it.tend()
        runs.now += wait
        runs.it.tend()
    runs.now += TIMING.settled
    runs.it.process.kill()
    runs.it.tend()
    assert "started again in 1 s" in runs.said[-1]


def test_a_program_that_its_options_keep_from_running_is_given_up(tmp_path: Path) -> None:
    refused = Supervised(tmp_path, "raise SystemExit(2)")
    refused.wait_for_end()
    refused.now = 100.0
    refused.it.tend()
    assert refused.it.has_given_up
    assert refused.starts == [0.0]
    assert refused.said == []
    refused.close()
