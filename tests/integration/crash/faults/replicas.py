"""Two controllers, each behind a link to the API server: killed, paused and cut off.

A replica that ended by itself is started again, as a kubelet would do it. That it did is noted, for
nothing here gives it a reason to, with one exception: an API server that has just been started has
no roles yet and forbids everything, and a replica that starts just then ends.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fluxnetes.plane.certificates import PlaneCertificate
from fluxnetes.plane.kubeconfig import write_kubeconfig
from fluxnetes.plane.processes import ProgramRun
from tests.integration.crash.faults.link import Link

LEASE = 10.0
"""Seconds after which another replica takes over."""

_FORBIDDEN = "(403)"
_OF_A_BUG = ("was forgotten", "Traceback", " CRITICAL ")
"""In a log: a group that the controller's own sweep had to repair; an error that nothing caught."""

Start = Callable[[str, str, tuple[str, ...]], ProgramRun]
"""Starts a program: its name, what it prints when it is ready, its command."""


@dataclass(slots=True, eq=False)
class Replica:
    """One controller, through all its lives."""

    identity: str
    link: Link
    kubeconfig: Path
    store: Path
    start_program: Start
    ended_alone: list[str] = field(default_factory=list)
    """How it ended without being killed, with its last words."""
    _lives: int = 0
    _process: ProgramRun | None = None

    def start(self) -> None:
        """Start it, unless it runs."""
        if self._process is not None:
            return
        self._lives += 1
        command = (sys.executable, "-m", "fluxnetes", "controller", "--identity", self.identity)
        where = ("--kubeconfig", str(self.kubeconfig), "--store-folder", str(self.store))
        timing = ("--leader-elect-lease-duration", str(LEASE))
        name = f"controller-{self.identity}-{self._lives}"
        self._process = self.start_program(name, "leading", (*command, *where, *timing))

    def wait_until_it_leads(self, seconds: float) -> None:
        assert self._process is not None
        self._process.wait_until_ready(seconds)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    def stop(self) -> None:
        """As an administrator would: it may finish what it is at."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def pause(self) -> None:
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGCONT)

    def mind(self) -> None:
        """Start it again if it ended by itself."""
        process = self._process
        if process is not None and process.status is not None:
            words = process.log.read_text(errors="replace").splitlines()[-3:]
            if not any(_FORBIDDEN in each for each in words):
                self.ended_alone.append(f"{self.identity}, {process.status}: {' / '.join(words)}")
            self._process = None
            self.start()


def complaints_in(logs: Iterable[Path]) -> list[str]:
    """Lines of the controllers' logs that tell of a bug."""
    return [
        f"{log.name}: {line}"
        for log in sorted(logs)
        for line in log.read_text(errors="replace").splitlines()
        if any(word in line for word in _OF_A_BUG)
    ]


def kubeconfig_for(link: Link, path: Path, authority: Path, client: PlaneCertificate) -> Path:
    """A kubeconfig that leads through a link."""
    write_kubeconfig(path, f"https://127.0.0.1:{link.port}", authority, client)
    return path
