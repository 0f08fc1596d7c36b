"""The command `fluxnetes up`: start it, read its output, interrupt it, kill it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

COMMAND = (sys.executable, "-m", "fluxnetes", "up")


def run_up(*options: str, status: int = 0) -> str:
    """Run it until it ends by itself; all that it said."""
    done = subprocess.run(
        [*COMMAND, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == status, done.stdout
    return done.stdout


class Up:
    """One that runs. It is killed if the test does not end it."""

    def __init__(self, *options: str) -> None:
        self._process = subprocess.Popen(
            [*COMMAND, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.said = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            if self._process.poll() is None:
                self._process.kill()

    @property
    def kubeconfig(self) -> Path:
        """The one that its output says to use."""
        found = re.search(r"export KUBECONFIG=(\S+)", self.said)
        assert found, self.said
        return Path(found[1])

    def read_until(self, word: str) -> str:
        """All that it said, as soon as it has said this."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said += line
            if word in line:
                return self.said
        raise AssertionError(f"it ended without {word!r}, and said only: {self.said}")

    def interrupt(self) -> int:
        """As Ctrl-C does; the exit status."""
        self._process.send_signal(signal.SIGINT)
        return self.wait()

    def kill(self) -> None:
        """Kill -9."""
        self._process.kill()
        self._process.wait()

    def wait(self) -> int:
        """Until it ends; the exit status."""
        assert self._process.stdout is not None
        self.said += self._process.stdout.read()
        return self._process.wait()

    def children(self) -> list[Child]:
        """Processes that it started."""
        pid = self._process.pid
        return [Child(int(each)) for each in _read(pid, f"task/{pid}/children").split()]

    def child(self, command: str) -> Child:
        """The one that runs this command of ours."""
        (found,) = [each for each in self.children() if command in each.line]
        return found


class Child:
    """A process, known also by when it started: a number alone may come again."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.line = _read(pid, "cmdline").split("\0")
        self._start = _fields(pid)[19]

    @property
    def is_alive(self) -> bool:
        try:
            fields = _fields(self.pid)
        except FileNotFoundError:
            return False
        return fields[19] == self._start and fields[0] != "Z"

    @property
    def is_postgres(self) -> bool:
        return "postgres" in self.line[0]


def _read(pid: int, file: str) -> str:
    return Path(f"/proc/{pid}/{file}").read_text()


def _fields(pid: int) -> list[str]:
    """Those of /proc/PID/stat from the state on."""
    return _read(pid, "stat").rpartition(")")[2].split()
