"""Where the embedded server keeps what: everything below one folder, for its owner alone.

    postgres/        the cluster (what Postgres calls its data directory)
    run/             its socket; elsewhere if the path would be too long for one
    server.log       what the server says
    start.lock       held while somebody starts or stops the server
    users.lock       shared by all processes that use the server
    server.lock      held by the server and all of its processes, as long as one of them lives

The folder is FLUXNETES_DATA, or fluxnetes below XDG_DATA_HOME or ~/.local/share. Root's server runs
as another user who must get there, and nobody should open root's home for that: root's is
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
LONGEST_SOCKET = 107
"""Bytes of a socket's path that Linux can take."""


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
        """A cluster that is being made; it gets its name when it is complete."""
        return self.top / "postgres.unfinished"

    @property
    def socket(self) -> Path:
        return self.sockets / SOCKET

    @property
    def socket_lock(self) -> Path:
        """Where the server notes whose socket it is."""
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
    """Where the data go if nobody says otherwise."""
    if told := os.environ.get("FLUXNETES_DATA"):
        return Path(told)
    if os.geteuid() == 0:
        return FOR_ROOT
    shared = os.environ.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "fluxnetes"


def make_places(folder: Path, account: Account) -> EmbeddedPaths:
    """Make the folders, closed to everybody but the server's account."""
    top = folder.expanduser().resolve()
    if account.is_ours:
        top.mkdir(parents=True, exist_ok=True)
    else:
        _check_reachable(top, account)
        top.mkdir(parents=True, exist_ok=True)
        _check_reachable(top, account)  # again, for those that were made just now
    _close(top, account)
    sockets = _socket_folder(top, account)
    sockets.mkdir(exist_ok=True, mode=0o700)
    _close(sockets, account)
    return EmbeddedPaths(top, sockets)


def _socket_folder(top: Path, account: Account) -> Path:
    beside = top / "run"
    if len(os.fsencode(beside / SOCKET)) <= LONGEST_SOCKET:
        return beside
    digest = hashlib.sha256(os.fsencode(top)).hexdigest()[:16]
    # A fixed place, not TMPDIR: every process must find the same one.
    return Path("/tmp") / f"fluxnetes-{account.uid}-{digest}"  # noqa: S108 - owner checked below


def _close(folder: Path, account: Account) -> None:
    """Let only the account in. What belongs to a stranger is not touched."""
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
    """Refuse a folder that the server could reach only if we opened the way to it."""
    if top.is_relative_to(Path("~root").expanduser().resolve()):
        raise EmbeddedServerFailed(
            f"{top} is below root's home, where the server's account {account.name!r} must not go; "
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
