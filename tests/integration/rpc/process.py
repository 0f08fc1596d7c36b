"""The command `fluxnetes serve`, started, stopped and killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Timer

_PATIENCE = 60.0


class Serve:
    """One server. After a restart it is found at the same port again."""

    def __init__(self, folder: Path, *options: str | Path, files: int | None = None) -> None:
        self.address = "127.0.0.1:0"
        self._files = files
        """How many files it may have open, sockets included."""
        self.log = folder / "serve.log"
        self._options = [str(option) for option in options]
        # Nothing of this machine's may be found or touched.
        settings = {k: v for k, v in os.environ.items() if not k.startswith("FLUXNETES_")}
        self._settings = settings | {"FLUXNETES_DATA": str(folder)}
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Serve:
        return self.start()

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self.kill()

    @property
    def pid(self) -> int:
        return self._running().pid

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> Serve:
        """Start it, and wait until it can be called."""
        line = self._launch()
        assert line.startswith("serving "), self.log.read_text()
        self.address = line.split()[1]
        return self

    def fail(self) -> str:
        """Start it where it cannot be; what it says before it ends with status 1."""
        if self._launch():
            self.kill()
            raise AssertionError("it started")
        assert self._end() == 1
        return self.log.read_text().splitlines()[-1]

    def stop(self) -> int:
        """Ask it to stop; its status."""
        self._running().terminate()
        return self._end()

    def kill(self) -> None:
        """Kill -9."""
        self._running().kill()
        self._end()

    def _launch(self) -> str:
        """Start it; the first line that it says, or nothing if it ends without a word."""
        stdout = self.begin().stdout
        assert stdout is not None
        watchdog = Timer(_PATIENCE, self._running().kill)
        watchdog.start()
        try:
            return stdout.readline()
        finally:
            watchdog.cancel()

    def begin(self) -> subprocess.Popen[str]:
        """Start it, and wait for nothing."""
        port = self.address.rpartition(":")[2]
        line = [sys.executable, "-m", "fluxnetes", "serve", "--port", port, *self._options]
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                self._limited(line),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._settings,
            )
        return self._process

    def _limited(self, line: list[str]) -> list[str]:
        return line if self._files is None else ["prlimit", f"--nofile={self._files}", *line]

    def _running(self) -> subprocess.Popen[str]:
        assert self._process is not None
        return self._process

    def _end(self) -> int:
        process, self._process = self._running(), None
        with process:
            return process.wait(30)
