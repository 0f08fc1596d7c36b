"""The layout of the embedded server's data folder, accessible to its owner only.

    postgres/        the cluster (what Postgres calls its data directory)
    run/             its socket; elsewhere if the path would be too long for a socket
    server.log       the server's log
    start.lock       held while a process starts or stops the server
    users.lock       shared by all processes that use the server
    server.lock      held by the server and all of its processes, as long as one of them runs

The folder is FLUXNETES_DATA, or fluxnetes below XDG_DATA_HOME or ~/.local/share. Root's server runs
as another user, which must reach the folder without access to root's home: root's folder is
/var/lib/fluxnetes.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from fluxnetes.store.embedded.account import Account
from fluxnetes.store.errors import EmbeddedServerFailed

FOR_ROOT = Path("/var/lib/fluxnetes")
SOCKET = ".s.PGSQL.5432"
MAX_SOCKET_PATH = 107
"""Maximum bytes of a socket's path on Linux."""


@dataclass(frozen=True, slots=True)
class EmbeddedPaths:
    """The folder of one embedded server."""

    top: Path
    sockets: Path

    @property
    def cluster(self) -> Path:
        return self.top / "postgres"

    @property
    def unfinished(self) -> Path:
        """A cluster that is being created; it is renamed when it is complete."""
        return self.top / "postgres.unfinished"

    @property
    def socket(self) -> Path:
        return self.sockets / SOCKET

    @property
    def socket_lock(self) -> Path:
        """The server's lock file of its socket."""
        return self.sockets / f"{SOCKET}.lock"

    @property
    def log(self) -> Path:
        return self.top / "server.log"

    @property
    def start_lock(self) -> Path:
        return self.top / "start.lock"

    @property
    def users_lock(self) -> Path:
        return self.top / "users.lock"

    @property
    def server_lock(self) -> Path:
        return self.top / "server.lock"


def default_folder() -> Path:
    """The default data folder."""
    if configured := os.environ.get("FLUXNETES_DATA"):
        return Path(configured)
    if os.geteuid() == 0:
        return FOR_ROOT
    shared = os.environ.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "fluxnetes"


def make_paths(folder: Path, account: Account) -> EmbeddedPaths:
    """Create the folders, accessible to the server's account only."""
    top = folder.expanduser().resolve()
    if account.is_current:
        top.mkdir(parents=True, exist_ok=True)
    else:
        _check_reachable(top, account)
        top.mkdir(parents=True, exist_ok=True)
        _check_reachable(top, account)  # again, for parents that were created just now
    _restrict(top, account)
    sockets = _socket_folder(top, account)
    sockets.mkdir(exist_ok=True, mode=0o700)
    _restrict(sockets, account)
    return EmbeddedPaths(top, sockets)


def _socket_folder(top: Path, account: Account) -> Path:
    default = top / "run"
    if len(os.fsencode(default / SOCKET)) <= MAX_SOCKET_PATH:
        return default
    digest = hashlib.sha256(os.fsencode(top)).hexdigest()[:16]
    # A fixed folder, not TMPDIR: every process must find the same one.
    return Path("/tmp") / f"fluxnetes-{account.uid}-{digest}"  # noqa: S108 - owner checked below


def _restrict(folder: Path, account: Account) -> None:
    """Restrict a folder to the account. A folder of another user is an error."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (account.uid, os.geteuid()):
        raise EmbeddedServerFailed(
            f"{folder}: expected a folder of {account.name!r}, found something of user id "
            f"{found.st_uid}; remove it, or set FLUXNETES_DATA to another folder"
        )
    if found.st_uid != account.uid:
        os.chown(folder, account.uid, account.gid)
    if stat.S_IMODE(found.st_mode) != 0o700:
        folder.chmod(0o700)


def _check_reachable(top: Path, account: Account) -> None:
    """Refuse a folder that the server could reach only with changed permissions above it."""
    if top.is_relative_to(Path("~root").expanduser().resolve()):
        raise EmbeddedServerFailed(
            f"{top} is below root's home, closed to the server's account {account.name!r}; "
            f"set FLUXNETES_DATA to another folder (default: {FOR_ROOT})"
        )
    for parent in top.parents:
        if parent.exists() and not _may_pass(parent, account):
            raise EmbeddedServerFailed(
                f"{parent} is closed to the server's account {account.name!r}; set FLUXNETES_DATA "
                f"to a folder that it can reach (default: {FOR_ROOT})"
            )


def _may_pass(folder: Path, account: Account) -> bool:
    found = folder.stat()
    if found.st_uid == account.uid:
        return bool(found.st_mode & stat.S_IXUSR)
    if found.st_gid == account.gid:
        return bool(found.st_mode & stat.S_IXGRP)
    return bool(found.st_mode & stat.S_IXOTH)
