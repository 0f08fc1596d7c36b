"""One Postgres cluster on disk: how it is made, who may enter it, how its server is launched.

Everything here must be called by whoever holds the server's lock (see `embedded`); what is launched
inherits it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from fluxnetes.common.file_lock import FileLock
from fluxnetes.store.embedded.account import Account, our_account
from fluxnetes.store.embedded.binaries import PostgresBinaries, find_binaries, within_reach
from fluxnetes.store.embedded.paths import EmbeddedPaths
from fluxnetes.store.errors import EmbeddedServerFailed

ROLE = "fluxnetes"
"""Who we are to the server."""

_LARGEST_LOG = 10 * 2**20

SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    "cluster_name": "fluxnetes",
    "log_checkpoints": "off",
    "jit": "off",
}

MADE_WITH = [
    f"--username={ROLE}",
    "--auth-local=peer",
    "--auth-host=reject",
    "--encoding=UTF8",
    "--locale=C",
    "--data-checksums",
    "--no-instructions",
]


class PostgresCluster:
    """The cluster of one data folder."""

    def __init__(self, places: EmbeddedPaths, account: Account) -> None:
        self._places = places
        self._account = account

    @property
    def pid(self) -> int:
        """The server's number as it wrote it down; only of meaning while the server runs."""
        return int(self._pid_file.read_text().split("\n", 1)[0])

    def launch(self, lock: FileLock) -> subprocess.Popen[bytes]:
        """Start the server; the cluster is made if there is none yet."""
        binaries = find_binaries(self._places.cluster)
        binaries = within_reach(binaries, self._account, self._places.top)
        if not self._places.cluster.exists():
            self._make(binaries, lock)
        self._remove_stale_files()
        self._write_access_rules()
        return self._start(binaries, lock)

    def is_ready(self, pid: int) -> bool:
        """Whether this server says so in the pid file, which may still be an earlier one's."""
        try:
            lines = self._pid_file.read_text().split("\n")
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() in ("ready", "standby")

    def last_words(self) -> str:
        """The end of the server's log."""
        log = self._places.log
        lines = log.read_text(errors="replace").splitlines()[-5:] if log.exists() else []
        return "".join(f"\n  {line}" for line in (f"see {log}:", *lines))

    @property
    def _pid_file(self) -> Path:
        return self._places.cluster / "postmaster.pid"

    def _make(self, binaries: PostgresBinaries, lock: FileLock) -> None:
        """Make it under another name: a cluster that was only half made must not look like one."""
        shutil.rmtree(self._places.unfinished, ignore_errors=True)
        made = subprocess.run(  # noqa: S603 - a program of the wheel
            (str(binaries.program("initdb")), f"--pgdata={self._places.unfinished}", *MADE_WITH),
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
            said = made.stderr.strip()
            raise EmbeddedServerFailed(f"initdb could not make {self._places.cluster}: {said}")
        self._places.unfinished.rename(self._places.cluster)

    def _remove_stale_files(self) -> None:
        """Remove what a killed server left, unless somebody started one by hand.

        Postgres would believe that it is running already when its old number, which is in the
        cluster and beside the socket, belongs to any process of the same account. In a container,
        where numbers begin at 1 each time, that is the usual case; and a killed child that nobody
        buried counts as one. We hold the server's lock, so no server of ours lives; one that was
        started by hand stands in the cluster's folder.
        """
        try:
            standing = Path(f"/proc/{self.pid}/cwd").readlink()
        except (OSError, ValueError):
            standing = None
        if standing != self._places.cluster:
            self._pid_file.unlink(missing_ok=True)
            self._places.socket_lock.unlink(missing_ok=True)

    def _write_access_rules(self) -> None:
        """Let in our account and the server's, as one role, through the socket, and nobody else."""
        names = {our_account().name, self._account.name}
        maps = "".join(f'ours "{name}" {ROLE}\n' for name in sorted(names))
        (self._places.cluster / "pg_ident.conf").write_text(maps)
        (self._places.cluster / "pg_hba.conf").write_text("local all all peer map=ours\n")

    def _start(self, binaries: PostgresBinaries, lock: FileLock) -> subprocess.Popen[bytes]:
        settings = SETTINGS | {"unix_socket_directories": str(self._places.sockets)}
        options = [f"--{name}={value}" for name, value in settings.items()]
        self._keep_log_small()
        with self._places.log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - a program of the wheel
                [binaries.program("postgres"), "-D", self._places.cluster, *options],
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
        log = self._places.log
        if log.exists() and log.stat().st_size > _LARGEST_LOG:
            log.rename(log.with_name("server.log.old"))


def _environment() -> dict[str, str]:
    """Nothing of ours: PGDATA, PGPORT and the like would change what the server does."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
