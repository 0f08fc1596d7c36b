"""A Postgres of our own, for whoever has none: no password, no port, no set-up.

It listens on a socket in a folder that only its account can enter, takes in nobody but that account
and us (peer authentication), and is on no network.

Who lives how long is told by three file locks, which the kernel frees however a process ends:

    start.lock    whoever starts or stops the server holds it; all others wait
    users.lock    shared by all who use the server; who leaves and is alone stops it
    server.lock   inherited by the server and its children; while it is taken, one of them lives

So nothing depends on a list of process ids that somebody forgot to clean up. After kill -9 of us
the server runs on, and whoever comes next uses it. After kill -9 of the server its orphans leave
within moments, the lock is free, and `start` starts it again; Postgres recovers what was committed.

`start` and `stop` block for up to seconds. They may be called at any time, as often as one likes.
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
from fluxnetes.store.embedded.paths import default_folder, make_places
from fluxnetes.store.errors import EmbeddedServerFailed

_PATIENCE = 60.0
_PAUSE = 0.02


class EmbeddedServer:
    """The server of one data folder."""

    def __init__(self, folder: Path | None = None) -> None:
        account = server_account()
        self.places = make_places(folder or default_folder(), account)
        self._cluster = PostgresCluster(self.places, account)
        self._using: FileLock | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def dsn(self) -> str:
        """What psql, pg_dump and we need to get in."""
        return f"postgresql://{ROLE}@/postgres?host={quote(str(self.places.sockets))}&port=5432"

    @property
    def pid(self) -> int:
        """The process to signal; only of meaning while the server runs."""
        return self._cluster.pid

    def start(self) -> None:
        """See to it that the server runs, and keep it from being stopped by others."""
        with locked(self.places.start_lock):
            if self._using is None:
                self._using = FileLock(self.places.users_lock)
                self._using.share()
                atexit.register(self.stop)
            if not self.is_running():
                self._start()

    def stop(self) -> None:
        """Leave, and stop the server if nobody else uses it."""
        if self._using is None:
            return
        with locked(self.places.start_lock):
            alone = self._using.try_alone()
            if alone and self.is_running():
                self._shut_down()
            self._using.close()
            self._using = None
        atexit.unregister(self.stop)

    def is_running(self) -> bool:
        """Whether somebody listens. It may still be recovering, and ask us to come back later."""
        with socket.socket(socket.AF_UNIX) as knock:
            try:
                knock.connect(str(self.places.socket))
            except OSError:
                return False
        return True

    def _start(self) -> None:
        lock = FileLock(self.places.server_lock)
        try:
            if not self._get_hold_of_data(lock):
                return
            process = self._process = self._cluster.launch(lock)
        finally:
            lock.close()
        self._wait_until_ready(process)

    def _get_hold_of_data(self, lock: FileLock) -> bool:
        """Wait until orphans of a killed server are gone; false if there is a server after all.

        There is one when whoever launched it was killed before it listened.
        """

        def is_settled() -> bool:
            return lock.try_alone() or self.is_running()

        self._wait(is_settled, "an earlier server did not leave its data")
        return lock.try_alone()

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        """Wait, but not for a long recovery: whoever connects then is told to come back later."""
        deadline = time.monotonic() + _PATIENCE
        while not self._cluster.is_ready(process.pid) and time.monotonic() < deadline:
            status = process.poll()
            if status is not None:
                words = self._cluster.last_words()
                raise EmbeddedServerFailed(f"the server ended at once (status {status}){words}")
            time.sleep(_PAUSE)

    def _shut_down(self) -> None:
        """Ask it to finish, then to drop everything: what is committed is safe either way."""
        lock = FileLock(self.places.server_lock)
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
        deadline = time.monotonic() + _PATIENCE
        while not happened():
            if time.monotonic() > deadline:
                words = self._cluster.last_words()
                raise EmbeddedServerFailed(f"{otherwise} after {_PATIENCE:.0f} s{words}")
            time.sleep(_PAUSE)
