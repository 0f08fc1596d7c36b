"""The command `fluxnetes controller --serve`, started, stopped and killed."""

from __future__ import annotations

import subprocess
import sys
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Self

import yaml

from tests.integration.controller.stage import TIMEOUTS, Stage

ADA, BOB = "0123456789abcdef-ada", "0123456789abcdef-bob"
WITHIN = 2
"""Seconds after which a lease that is neither renewed nor used expires."""
GRACE = 1
LEASE = 3
PATIENCE = 40.0
QUEUES = {"queues": [{"name": "default", "grace": GRACE}]}


class Leading:
    """One controller. After a restart it is found at the same port again."""

    def __init__(self, stage: Stage, identity: str, *options: str) -> None:
        self.log = stage.folder / f"{identity}.log"
        self.address = "127.0.0.1:0"
        self._identity = identity
        self._options = [*_setup(stage, identity), *options]
        self._process: subprocess.Popen[str] | None = None
        self._said: SimpleQueue[str] = SimpleQueue()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self.stop()

    def start(self) -> None:
        """Start it, and wait until it can be called; it may or may not lead in a while."""
        line = [sys.executable, "-m", "fluxnetes", "controller", *self._options]
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [*line, "--serve", self.address], stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self._process.stdout is not None
        self._said = SimpleQueue()
        Thread(target=_read_lines, args=(self._process.stdout, self._said), daemon=True).start()
        said = self._next_line()
        assert said.startswith("serving "), self.log.read_text()[-3000:]
        self.address = said.split()[1]

    def until_it_leads(self) -> None:
        assert self._next_line() == "leading", self.log.read_text()[-3000:]

    def _next_line(self) -> str:
        try:
            return self._said.get(timeout=PATIENCE)
        except Empty:
            raise AssertionError(f"it says nothing\n{self.log.read_text()[-3000:]}") from None

    def stop(self) -> int:
        """Ask it to stop; its status."""
        process, self._process = self._process, None
        assert process is not None
        with process:
            process.terminate()
            return process.wait(20)

    def kill(self) -> None:
        """Kill -9."""
        process, self._process = self._process, None
        assert process is not None
        with process:
            process.kill()

    def fail(self) -> str:
        """Start it where it cannot serve; what it says before it ends with status 1."""
        line = [sys.executable, "-m", "fluxnetes", "controller", *self._options]
        ended = subprocess.run(
            [*line, "--serve", self.address], capture_output=True, text=True, timeout=PATIENCE
        )
        assert ended.returncode == 1, ended.stderr
        assert "Traceback" not in ended.stderr, ended.stderr
        return ended.stderr.splitlines()[-1]


def _read_lines(pipe: IO[str], said: SimpleQueue[str]) -> None:
    for line in pipe:
        said.put(line.strip())


def _setup(stage: Stage, identity: str) -> list[str]:
    queues, tokens = stage.folder / "queues.yaml", stage.folder / "tokens"
    queues.write_text(yaml.safe_dump(QUEUES))
    tokens.write_text(f"ada {ADA} admin\nbob {BOB}\n")
    tokens.chmod(0o600)
    named: dict[str, object] = {
        "--kubeconfig": stage.kubeconfig,
        "--store-folder": stage.folder / "store",
        "--config": queues,
        "--identity": identity,
        "--leader-elect-lease-duration": LEASE,
        "--serve-tokens": tokens,
        "--renew-within": WITHIN,
    }
    line = [str(part) for pair in named.items() for part in pair]
    for name, seconds in TIMEOUTS.items():
        line += ["--timeout", f"{name}={seconds}"]
    return line
