"""The processes of the plane: started, waited for until ready, stopped, and never left running.

Lifetimes:

- A program ends with the process that started it, however that one ends: the kernel sends the
  signal (PR_SET_PDEATHSIG). It is bound to the *thread* that started it, so start a plane from a
  thread that lives as long as the plane; the main thread is best.
- All programs inherit `programs.lock`. If one is left nevertheless, the next start finds the lock
  taken, finds the processes that have it open, and ends exactly these. No list of process ids is
  kept, which could name an unrelated process.
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
from datetime import UTC, datetime
from pathlib import Path

from fluxnetes.plane.errors import PlaneFailed

READY_TIMEOUT = 120.0
"""Maximum seconds until a program is ready; generous, because loaded machines are slow."""
_GRACE = 10.0
"""Seconds between SIGTERM and SIGKILL."""
_MAX_LOG = 64 * 2**20
"""Bytes of a log from which on the next start begins a new one; one old log is kept."""
_POLL_INTERVAL = 0.02
_LAST_LINES = 12
"""Lines of the log in an error message."""

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Program:
    """A command, and its readiness check."""

    name: str
    command: tuple[str, ...]
    is_ready: Callable[[], bool] | str
    """A check, or the line that it writes when it is ready."""
    environment: Mapping[str, str] = field(default_factory=dict)


class ProgramRun:
    """One run of a program."""

    def __init__(self, program: Program, log: Path, folder: Path, lock: int) -> None:
        self.program = program
        self.log = log
        if log.exists() and log.stat().st_size > _MAX_LOG:
            log.replace(log.with_name(f"{log.name}.old"))
        parent = os.getpid()
        with log.open("ab") as output:
            output.write(f"--- {program.name} starts at {_now()} ---\n".encode())
            output.flush()
            self._from = output.tell()
            self._popen = subprocess.Popen(  # noqa: S603 - a program of the plane
                program.command,
                cwd=folder,
                env={**os.environ, **program.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(lock,),
                start_new_session=True,
                preexec_fn=lambda: _end_with(parent),
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def status(self) -> int | None:
        """None while it runs."""
        return self._popen.poll()

    def is_ready(self) -> bool:
        check = self.program.is_ready
        return check in self._output().splitlines() if isinstance(check, str) else check()

    def wait_until_ready(self, timeout: float = READY_TIMEOUT) -> None:
        deadline = time.monotonic() + timeout
        while not self.is_ready():
            if self.status is not None:
                raise PlaneFailed(
                    f"{self.program.name} ended (status {self.status}){self._log_tail()}"
                )
            if time.monotonic() > deadline:
                raise PlaneFailed(
                    f"{self.program.name} is not ready after {timeout:.0f} s{self._log_tail()}"
                )
            time.sleep(_POLL_INTERVAL)

    def kill(self) -> None:
        """Send SIGKILL, and wait."""
        self._popen.kill()
        self._popen.wait()

    def stop(self) -> None:
        """Send SIGTERM, and SIGKILL if it does not end in time."""
        self._popen.terminate()
        try:
            self._popen.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.kill()

    def _output(self) -> str:
        """What this run wrote to the log."""
        with self.log.open("rb") as log:
            log.seek(self._from)
            return log.read().decode(errors="replace")

    def _log_tail(self) -> str:
        lines = self._output().splitlines()[-_LAST_LINES:]
        return f"; {self.log} ends with\n  " + "\n  ".join(line[:400] for line in lines)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _end_with(parent: int) -> None:
    """Runs in the child, before the program."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before prctl
        os._exit(1)


class FolderLock:
    """The lock of a plane's folder: one owner, and the programs that it started."""

    def __init__(self, owner: Path, programs: Path) -> None:
        self._owner = os.open(owner, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._path = programs
        self.programs = -1
        """Inherited by each program."""

    def take(self) -> None:
        """Become the owner; end programs that a killed owner left running."""
        if not _try_lock(self._owner):
            os.close(self._owner)
            raise PlaneFailed(
                f"another process uses {self._path.parent}; stop that one, or use another folder"
            )
        self.programs = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + _GRACE
        while not _try_lock(self.programs):
            for pid in _holders(self._path):
                os.kill(pid, signal.SIGKILL)
            if time.monotonic() > deadline:
                self.release()
                raise PlaneFailed(
                    f"programs of an earlier start still run, see `fuser {self._path}`; stop them"
                )
            time.sleep(_POLL_INTERVAL)

    def release(self) -> None:
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
    except OSError:  # it ended, or belongs to another user
        return False
