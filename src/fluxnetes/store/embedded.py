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
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote

from fluxnetes.store.account import our_account, server_account
from fluxnetes.store.binaries import Binaries, find_binaries, within_reach
from fluxnetes.store.errors import ServerFailed
from fluxnetes.store.locks import Lock, locked
from fluxnetes.store.places import default_folder, make_places

ROLE = "fluxnetes"
"""Who we are to the server."""

_PATIENCE = 60.0
_PAUSE = 0.02
_LARGEST_LOG = 10 * 2**20

_SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    "cluster_name": "fluxnetes",
    "log_checkpoints": "off",
    "jit": "off",
}


class EmbeddedServer:
    """The server of one data folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._account = server_account()
        self.places = make_places(folder or default_folder(), self._account)
        self._using: Lock | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def dsn(self) -> str:
        """What psql, pg_dump and we need to get in."""
        return f"postgresql://{ROLE}@/postgres?host={quote(str(self.places.sockets))}&port=5432"

    def start(self) -> None:
        """See to it that the server runs, and keep it from being stopped by others."""
        with locked(self.places.start_lock):
            if self._using is None:
                self._using = Lock(self.places.users_lock)
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

    @property
    def pid(self) -> int:
        """The process to signal; only of meaning while the server runs."""
        return int(self._pid_file.read_text().split("\n", 1)[0])

    @property
    def _pid_file(self) -> Path:
        return self.places.cluster / "postmaster.pid"

    def _start(self) -> None:
        lock = Lock(self.places.server_lock)
        try:
            if not self._get_hold_of_data(lock):
                return
            binaries = find_binaries(self.places.cluster)
            binaries = within_reach(binaries, self._account, self.places.top)
            if not self.places.cluster.exists():
                self._make_cluster(binaries, lock)
            self._remove_stale_pid_file()
            self._write_access_rules()
            self._launch(binaries, lock)
        finally:
            lock.close()
        self._wait_until_ready()

    def _get_hold_of_data(self, lock: Lock) -> bool:
        """Wait until orphans of a killed server are gone; false if there is a server after all.

        There is one when whoever launched it was killed before it listened.
        """

        def settled() -> bool:
            return lock.try_alone() or self.is_running()

        self._wait(settled, "an earlier server did not leave its data")
        return lock.try_alone()

    def _make_cluster(self, binaries: Binaries, lock: Lock) -> None:
        """Make it under another name: a cluster that was only half made must not look like one."""
        shutil.rmtree(self.places.unfinished, ignore_errors=True)
        command: Sequence[str | Path] = (
            binaries.program("initdb"),
            f"--pgdata={self.places.unfinished}",
            f"--username={ROLE}",
            "--auth-local=peer",
            "--auth-host=reject",
            "--encoding=UTF8",
            "--locale=C",
            "--data-checksums",
            "--no-instructions",
        )
        made = subprocess.run(  # noqa: S603 - a program of the wheel
            command,
            capture_output=True,
            text=True,
            check=False,
            env=_environment(),
            cwd="/",
            start_new_session=True,
            pass_fds=(lock.fd,),
            **self._account.run_as,
        )
        if made.returncode:
            raise ServerFailed(
                f"initdb could not make {self.places.cluster}: {made.stderr.strip()}"
            )
        self.places.unfinished.rename(self.places.cluster)

    def _remove_stale_pid_file(self) -> None:
        """Remove what a killed server left, unless somebody started one by hand.

        Postgres would believe that it is running already when its old number belongs to any process
        of the same account. In a container, where numbers begin at 1 each time, that is the usual
        case; and a killed child that nobody buried counts as one. We hold the server's lock, so no
        server of ours lives; one that was started by hand stands in the cluster's folder.
        """
        try:
            standing = Path(f"/proc/{self.pid}/cwd").readlink()
        except (OSError, ValueError):
            standing = None
        if standing != self.places.cluster:
            self._pid_file.unlink(missing_ok=True)

    def _write_access_rules(self) -> None:
        """Let in our account and the server's, as one role, through the socket, and nobody else."""
        names = {our_account().name, self._account.name}
        maps = "".join(f'ours "{name}" {ROLE}\n' for name in sorted(names))
        (self.places.cluster / "pg_ident.conf").write_text(maps)
        (self.places.cluster / "pg_hba.conf").write_text("local all all peer map=ours\n")

    def _launch(self, binaries: Binaries, lock: Lock) -> None:
        settings = _SETTINGS | {"unix_socket_directories": str(self.places.sockets)}
        options = [f"--{name}={value}" for name, value in settings.items()]
        self._keep_log_small()
        with self.places.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - a program of the wheel
                [binaries.program("postgres"), "-D", self.places.cluster, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_environment(),
                cwd="/",
                # Ctrl-C is meant for us; the server goes when we say so.
                start_new_session=True,
                pass_fds=(lock.fd,),
                **self._account.run_as,
            )

    def _keep_log_small(self) -> None:
        log = self.places.log
        if log.exists() and log.stat().st_size > _LARGEST_LOG:
            log.rename(log.with_suffix(".log.old"))

    def _wait_until_ready(self) -> None:
        """Wait, but not for a long recovery: whoever connects then is told to come back later."""
        assert self._process is not None  # noqa: S101 - for mypy
        deadline = time.monotonic() + _PATIENCE
        while not self._is_ready() and time.monotonic() < deadline:
            status = self._process.poll()
            if status is not None:
                words = self._last_words()
                raise ServerFailed(f"the server ended at once (status {status}){words}")
            time.sleep(_PAUSE)

    def _is_ready(self) -> bool:
        """Whether the server says so in its pid file, which may still be that of an earlier one."""
        assert self._process is not None  # noqa: S101 - for mypy
        try:
            lines = self._pid_file.read_text().split("\n")
        except FileNotFoundError:
            return False
        is_ours = lines[0] == str(self._process.pid)
        return is_ours and len(lines) > 7 and lines[7].strip() in ("ready", "standby")

    def _last_words(self) -> str:
        lines = self.places.log.read_text(errors="replace").splitlines()[-5:]
        return "".join(f"\n  {line}" for line in (f"see {self.places.log}:", *lines))

    def _shut_down(self) -> None:
        """Ask it to finish, then to drop everything: what is committed is safe either way."""
        lock = Lock(self.places.server_lock)
        try:
            os.kill(self.pid, signal.SIGINT)
            try:
                self._wait(lock.try_alone, "the server does not stop")
            except ServerFailed:
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
                raise ServerFailed(f"{otherwise} after {_PATIENCE:.0f} s{self._last_words()}")
            time.sleep(_PAUSE)


def _environment() -> dict[str, str]:
    """Nothing of ours: PGDATA, PGPORT and the like would change what the server does."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
