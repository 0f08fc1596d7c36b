"""The account that the embedded server runs as.

Postgres refuses to run as root. For other users it runs as that user. For root it runs as the
account `fluxnetes`, a system account without a home or a shell, which is created if it is missing.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from typing import TypedDict

from fluxnetes.store.errors import EmbeddedServerFailed

NAME = "fluxnetes"
"""The account for root's server."""


class RunAs(TypedDict, total=False):
    """Arguments of `subprocess` that change the account of a process."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Account:
    """A user of this machine."""

    name: str
    uid: int
    gid: int

    @property
    def is_current(self) -> bool:
        """Whether it is the account of this process."""
        return self.uid == os.geteuid()

    @property
    def run_as(self) -> RunAs:
        if self.is_current:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def current_account() -> Account:
    """The account of this process."""
    try:
        return _account(pwd.getpwuid(os.geteuid()))
    except KeyError:
        raise EmbeddedServerFailed(
            f"the user id {os.geteuid()} has no name on this machine, which Postgres needs; add "
            "it to /etc/passwd, or use a Postgres of your own (a DSN)"
        ) from None


def server_account() -> Account:
    """The account that the server runs as."""
    return _account_for_root() if os.geteuid() == 0 else current_account()


def _account_for_root() -> Account:
    try:
        return _account(pwd.getpwnam(NAME))
    except KeyError:
        _create_account()
        return _account(pwd.getpwnam(NAME))


def _create_account() -> None:
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", NAME]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - fixed
    except (OSError, subprocess.CalledProcessError) as error:
        output = getattr(error, "stderr", None) or str(error)
        raise EmbeddedServerFailed(
            f"Postgres does not run as root, and the account {NAME!r} for it cannot be created "
            f"({output.strip()}); create it, or run Fluxnetes as another user, or use a Postgres "
            "of your own (a DSN)"
        ) from None


def _account(entry: pwd.struct_passwd) -> Account:
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
