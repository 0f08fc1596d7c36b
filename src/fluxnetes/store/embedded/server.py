"""The embedded Postgres server: started on demand, shared by processes, stopped by the last one.

It listens on a socket in a folder that only its account can enter, accepts only that account and
the one of this process (peer authentication), and listens on no network.

Lifetimes are decided by three file locks, which the kernel releases however a process ends:

    start.lock    held by a process that starts or stops the server; all others wait
    users.lock    shared by all processes that use the server; the last one to stop stops it
    server.lock   inherited by the server and its children; while it is held, one of them runs

So nothing depends on a list of process ids that may be stale. After kill -9 of a user the server
keeps running, and the next user connects to it. After kill -9 of the server its orphans end within
moments, the lock is free, and `start` starts it again; Postgres recovers what was committed.

`start` and `stop` block for up to seconds. They may be called at any time and repeatedly.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from fluxnetes.common.file_lock import FileLock, locked
from fluxnetes.store.embedded.account import server_account
from fluxnetes.store.embedded.cluster import ROLE, PostgresCluster
from fluxnetes.store.embedded.paths import default_folder, make_paths
from fluxnetes.store.errors import EmbeddedServerFailed

_TIMEOUT = 60.0
"""Maximum seconds to wait for the server to start or stop."""
_POLL_INTERVAL = 0.02


class EmbeddedServer:
    """The server of one data folder."""

    def __init__(self, folder: Path | None = None) -> None:
        account = server_account()
        self.paths = make_paths(folder or default_folder(), account)
        self._cluster = PostgresCluster(self.paths, account)
        self._users_lock: FileLock | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def dsn(self) -> str:
        """The DSN for psql, pg_dump and `Database`."""
        return f"postgresql://{ROLE}@/postgres?host={quote(str(self.paths.sockets))}&port=5432"

    @property
    def pid(self) -> int:
        """The process to signal; meaningful only while the server runs."""
        return self._cluster.pid

    def start(self) -> None:
        """Make sure that the server runs, and that other processes do not stop it."""
        with locked(self.paths.start_lock):
            if self._users_lock is None:
                self._users_lock = FileLock(self.paths.users_lock)
                self._users_lock.share()
                atexit.register(self.stop)
            if not self.is_running():
                self._start()

    def stop(self) -> None:
        """Stop using the server, and stop it if no other process uses it."""
        if self._users_lock is None:
            return
        with locked(self.paths.start_lock):
            alone = self._users_lock.try_alone()
            if alone and self.is_running():
                self._shut_down()
            self._users_lock.close()
            self._users_lock = None
        atexit.unregister(self.stop)

    def is_running(self) -> bool:
        """Whether a server listens. It may still be recovering, and refuse connections."""
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(self.paths.socket))
            except OSError:
                return False
        return True

    def _start(self) -> None:
        lock = FileLock(self.paths.server_lock)
        try:
            if not self._acquire_data(lock):
                return
            process = self._process = self._cluster.launch(lock)
        finally:
            lock.close()
        self._wait_until_ready(process)

    def _acquire_data(self, lock: FileLock) -> bool:
        """Wait until the orphans of a killed server have ended; false if a server runs after all.

        One runs when the process that launched it was killed before the server listened.
        """

        def is_settled() -> bool:
            return lock.try_alone() or self.is_running()

        self._wait(is_settled, "an earlier server still holds its data")
        return lock.try_alone()

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        """Wait, but not for a long recovery: `Database` retries while the server recovers."""
        deadline = time.monotonic() + _TIMEOUT
        while not self._cluster.is_ready(process.pid) and time.monotonic() < deadline:
            status = process.poll()
            if status is not None:
                tail = self._cluster.log_tail()
                raise EmbeddedServerFailed(f"the server ended (status {status}){tail}")
            time.sleep(_POLL_INTERVAL)

    def _shut_down(self) -> None:
        """Request a fast shutdown, then an immediate one: committed data are safe either way."""
        lock = FileLock(self.paths.server_lock)
        try:
            os.kill(self.pid, signal.SIGINT)
            try:
                self._wait(lock.try_alone, "the server does not stop")
            except EmbeddedServerFailed:
                os.kill(self.pid, signal.SIGQUIT)
                self._wait(lock.try_alone, "the server does not stop")
        finally:
            lock.close()
        if self._process is not None:
            self._process.wait()

    def _wait(self, happened: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + _TIMEOUT
        while not happened():
            if time.monotonic() > deadline:
                tail = self._cluster.log_tail()
                raise EmbeddedServerFailed(f"{otherwise} after {_TIMEOUT:.0f} s{tail}")
            time.sleep(_POLL_INTERVAL)
