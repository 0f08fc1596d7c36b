"""Callers, and which jobs are theirs to see and change.

A caller sees and changes the jobs that it matched or submitted, and administrators all jobs. On a
server without tokens callers are unknown, and every caller is an administrator.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.service.errors import Denied


@dataclass(frozen=True, slots=True)
class Caller:
    """One caller, as its token identifies it."""

    name: str = ""
    """Empty: unknown."""
    is_admin: bool = False

    def may_use(self, owner: str) -> bool:
        """Whether jobs of this user may be seen and changed."""
        return self.is_admin or (bool(owner) and owner == self.name)

    def check(self, job: int, owner: str) -> None:
        """Raise Denied if a job of this user may not be changed."""
        if not self.may_use(owner):
            raise Denied(f"job {job} is not a job of {self.name}; use an administrator's token")


ADMIN = Caller(is_admin=True)
"""May use everything: a caller of a server without tokens, or the process itself."""
