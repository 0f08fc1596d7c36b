"""resource-query at a terminal, as a test sees it: type, and wait for what is shown."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

FLUXNETES = Path(sys.executable).with_name("fluxnetes")
PROMPT = "resource-query> "
PATIENCE = 30.0
WIDE = struct.pack("HHHH", 50, 1000, 0, 0)
"""Rows and columns: no line that is typed is ever wrapped."""


class Terminal:
    """A process whose standard streams are a terminal."""

    def __init__(self, *options: str | Path, cwd: Path, state: Path) -> None:
        self.fd, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, WIDE)
        self.process = subprocess.Popen(
            [FLUXNETES, "resource-query", *options],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "XDG_STATE_HOME": str(state), "TERM": "dumb"},
            cwd=cwd,
            start_new_session=True,
        )
        os.close(theirs)
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C until something happens: one that comes while Python is busy is lost."""
        for _ in range(100):
            os.killpg(self.process.pid, signal.SIGINT)
            if select.select([self.fd], [], [], 0.2)[0]:
                return

    def wait_for(self, text: str) -> str:
        """All that was shown before `text`; what comes after it stays for the next call."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.seen:
            self.seen += self._read(deadline - time.monotonic(), text)
        shown, _, self.seen = self.seen.partition(text)
        return shown

    def wait_for_end(self) -> str:
        """All that was shown until the process ended."""
        assert self.process.wait(PATIENCE) == 0
        while select.select([self.fd], [], [], 0)[0]:
            try:
                self.seen += self._read(0, "")
            except OSError:  # the other side is closed
                break
        return self.seen

    def _read(self, patience: float, awaited: str) -> str:
        ready, _, _ = select.select([self.fd], [], [], max(patience, 0))
        assert ready, f"waited for {awaited!r}, saw {self.seen!r}"
        return os.read(self.fd, 4096).decode().replace("\r\n", "\n")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.fd)
