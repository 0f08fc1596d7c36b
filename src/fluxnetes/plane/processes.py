"""One program of the plane: started, waited for until it answers, stopped, never left behind.

Who lives how long:

- A program dies with the process that started it, however that one ends: the kernel sends the
  signal (PR_SET_PDEATHSIG). It is bound to the *thread* that started it, so start a plane from a
  thread that lives as long as the plane; the main thread is best.
- All programs inherit `programs.lock`. Should one be left all the same, the next start sees that
  the lock is taken, finds who has it open, and ends just those. No list of process ids is kept
  that could name a stranger.
- Ctrl-C does not reach them: each has a session of its own, and is stopped in order.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fluxnetes.plane.errors import PlaneFailed

PATIENCE = 120.0
"""Seconds until a program that neither answers nor ends is given up: loaded machines are slow."""
_GRACE = 10.0
_PAUSE = 0.02
_LAST_LINES = 12

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Program:
    """What to run, and how to see that it works."""

    name: str
    command: tuple[str, ...]
    is_ready: Callable[[], bool]
    environment: Mapping[str, str] = field(default_factory=dict)


class ProgramRun:
    """One run of a program."""

    def __init__(self, program: Program, log: Path, folder: Path, lock: int) -> None:
        self.program = program
        self.log = log
        if log.exists():
            log.replace(log.with_name(f"{log.name}.old"))
        parent = os.getpid()
        with log.open("wb") as output:
            self._popen = subprocess.Popen(  # noqa: S603 - a program of the plane
                program.command,
                cwd=folder,
                env={**os.environ, **program.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(lock,),
                start_new_session=True,
                preexec_fn=lambda: _die_with(parent),
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def status(self) -> int | None:
        """None while it runs."""
        return self._popen.poll()

    def wait_until_ready(self, patience: float = PATIENCE) -> None:
        deadline = time.monotonic() + patience
        while not self.program.is_ready():
            if self.status is not None:
                raise PlaneFailed(
                    f"{self.program.name} ended (status {self.status}){self._words()}"
                )
            if time.monotonic() > deadline:
                raise PlaneFailed(
                    f"{self.program.name} does not answer after {patience:.0f} s{self._words()}"
                )
            time.sleep(_PAUSE)

    def kill(self) -> None:
        """Kill -9."""
        self._popen.kill()
        self._popen.wait()

    def stop(self) -> None:
        """Ask it to end, and kill it if it does not."""
        self._popen.terminate()
        try:
            self._popen.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.kill()

    def _words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
        return f"; {self.log} ends with\n  " + "\n  ".join(line[:400] for line in lines)


def _die_with(parent: int) -> None:
    """Runs in the child, before the program."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we could ask
        os._exit(1)


class FolderLock:
    """Whose folder this is: one owner, and the programs that it started."""

    def __init__(self, owner: Path, programs: Path) -> None:
        self._owner = os.open(owner, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._path = programs
        self.programs = -1
        """Inherited by each program."""

    def take(self) -> None:
        """Become the owner; end what an owner that was killed has left."""
        if not _try_lock(self._owner):
            os.close(self._owner)
            raise PlaneFailed(
                f"another process runs what is in {self._path.parent}; stop that one, or use "
                "another folder"
            )
        self.programs = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + _GRACE
        while not _try_lock(self.programs):
            for pid in _holders(self._path):
                os.kill(pid, signal.SIGKILL)
            if time.monotonic() > deadline:
                self.leave()
                raise PlaneFailed(
                    f"programs of an earlier start still run, see `fuser {self._path}`; end them"
                )
            time.sleep(_PAUSE)

    def leave(self) -> None:
        os.close(self.programs)
        os.close(self._owner)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holders(path: Path) -> Sequence[int]:
    """Other processes that have this file open."""
    wanted = path.stat()
    found = []
    for folder in Path("/proc").glob("[0-9]*/fd"):
        pid = int(folder.parent.name)
        if pid != os.getpid() and _has_open(folder, wanted):
            found.append(pid)
    return found


def _has_open(folder: Path, wanted: os.stat_result) -> bool:
    try:
        return any(os.path.samestat(each.stat(), wanted) for each in folder.iterdir())
    except OSError:  # it ended, or is not ours to look at
        return False
