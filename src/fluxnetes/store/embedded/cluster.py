"""One Postgres cluster on disk: its creation, its access rules, and the launch of its server.

The caller of every method here must hold the server's lock (see `server`); launched processes
inherit it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from fluxnetes.common.file_lock import FileLock
from fluxnetes.store.embedded.account import Account, current_account
from fluxnetes.store.embedded.binaries import PostgresBinaries, find_binaries, within_reach
from fluxnetes.store.embedded.paths import EmbeddedPaths
from fluxnetes.store.errors import EmbeddedServerFailed

ROLE = "fluxnetes"
"""The role of Fluxnetes in the database."""

_MAX_LOG = 10 * 2**20
"""Bytes of the server's log beyond which the next start begins a new file."""

SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    "cluster_name": "fluxnetes",
    "log_checkpoints": "off",
    "jit": "off",
}

INITDB_OPTIONS = [
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

    def __init__(self, paths: EmbeddedPaths, account: Account) -> None:
        self._paths = paths
        self._account = account

    @property
    def pid(self) -> int:
        """The process id in the server's pid file; meaningful only while the server runs."""
        return int(self._pid_file.read_text().split("\n", 1)[0])

    def launch(self, lock: FileLock) -> subprocess.Popen[bytes]:
        """Start the server; the cluster is created if there is none yet."""
        binaries = find_binaries(self._paths.cluster)
        binaries = within_reach(binaries, self._account, self._paths.top)
        if not self._paths.cluster.exists():
            self._create(binaries, lock)
        self._remove_stale_files()
        self._write_access_rules()
        return self._start(binaries, lock)

    def is_ready(self, pid: int) -> bool:
        """Whether the pid file, which may still be an earlier server's, shows this one as ready."""
        try:
            lines = self._pid_file.read_text().split("\n")
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() in ("ready", "standby")

    def log_tail(self) -> str:
        """The end of the server's log, for error messages."""
        log = self._paths.log
        lines = log.read_text(errors="replace").splitlines()[-5:] if log.exists() else []
        return "".join(f"\n  {line}" for line in (f"see {log}:", *lines))

    @property
    def _pid_file(self) -> Path:
        return self._paths.cluster / "postmaster.pid"

    def _create(self, binaries: PostgresBinaries, lock: FileLock) -> None:
        """Create it under another name, so that a half-made one is not taken for a cluster."""
        shutil.rmtree(self._paths.unfinished, ignore_errors=True)
        result = subprocess.run(  # noqa: S603 - a program of the wheel
            (
                str(binaries.program("initdb")),
                f"--pgdata={self._paths.unfinished}",
                *INITDB_OPTIONS,
            ),
            capture_output=True,
            text=True,
            check=False,
            env=_environment(),
            cwd="/",
            start_new_session=True,
            pass_fds=(lock.fd,),
            **self._account.run_as,
        )
        if result.returncode:
            output = result.stderr.strip()
            raise EmbeddedServerFailed(f"initdb cannot create {self._paths.cluster}: {output}")
        self._paths.unfinished.rename(self._paths.cluster)

    def _remove_stale_files(self) -> None:
        """Remove the pid files of a killed server, unless a server was started by hand.

        Postgres assumes that it is running already when its old process id, which is in the cluster
        and beside the socket, belongs to any process of the same account. In a container, where
        process ids begin at 1 each time, that is the usual case; an unreaped zombie counts, too.
        The caller holds the server's lock, so no server launched here runs; one started by hand has
        the cluster's folder as its working directory.
        """
        try:
            working_directory = Path(f"/proc/{self.pid}/cwd").readlink()
        except (OSError, ValueError):
            working_directory = None
        if working_directory != self._paths.cluster:
            self._pid_file.unlink(missing_ok=True)
            self._paths.socket_lock.unlink(missing_ok=True)

    def _write_access_rules(self) -> None:
        """Allow this process's account and the server's, as one role, through the socket only."""
        names = {current_account().name, self._account.name}
        maps = "".join(f'ours "{name}" {ROLE}\n' for name in sorted(names))
        (self._paths.cluster / "pg_ident.conf").write_text(maps)
        (self._paths.cluster / "pg_hba.conf").write_text("local all all peer map=ours\n")

    def _start(self, binaries: PostgresBinaries, lock: FileLock) -> subprocess.Popen[bytes]:
        settings = SETTINGS | {"unix_socket_directories": str(self._paths.sockets)}
        options = [f"--{name}={value}" for name, value in settings.items()]
        self._rotate_log()
        with self._paths.log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - a program of the wheel
                [binaries.program("postgres"), "-D", self._paths.cluster, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_environment(),
                cwd="/",
                # Ctrl-C must not reach the server, which is stopped by `stop`.
                start_new_session=True,
                pass_fds=(lock.fd,),
                **self._account.run_as,
            )

    def _rotate_log(self) -> None:
        log = self._paths.log
        if log.exists() and log.stat().st_size > _MAX_LOG:
            log.rename(log.with_name("server.log.old"))


def _environment() -> dict[str, str]:
    """A clean environment: PGDATA, PGPORT and the like would change the server's behaviour."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
