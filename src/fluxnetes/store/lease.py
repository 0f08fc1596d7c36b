"""One writer at a time, and no other way to write.

The lease is a row. Taking it adds one to its *fence*, a number that only grows. A writer shows its
fence in every transaction, and the first statement compares it (`claim`). So a writer that was
paused for an hour, and lost the lease meanwhile, can change nothing when it wakes: it gets
`LeaseLost`, whatever it still believes. Only the database's clock is asked.

A holder's name must be unlike that of any other process that lives. A process that starts again
under its old name gets its own lease back at once, with a new fence that shuts out its old self.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from fluxnetes.store.database import Connection
from fluxnetes.store.errors import LeaseLost
from fluxnetes.store.statements import statements

SECONDS = 15.0
"""How long a lease lasts if nobody says otherwise. Renew it three times in that time."""

_SQL = statements("lease")


@dataclass(frozen=True, slots=True)
class StoreLease:
    """The right to write, until somebody else takes it."""

    holder: str
    fence: int
    seconds: float
    sure_until: float
    """By our own monotonic clock: before this time nobody else can have taken it."""


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """Who has the lease, as others see it."""

    name: str
    fence: int
    seconds: float
    """How long it lasts if it is not renewed; 0: it can be taken."""


async def take(connection: Connection, holder: str, seconds: float = SECONDS) -> StoreLease | None:
    """The lease, if it is free or was ours; else None."""
    if not holder:
        raise ValueError("a lease needs a holder with a name")
    asked = time.monotonic()
    fence = await connection.fetchval(_SQL["take"], holder, timedelta(seconds=seconds))
    return None if fence is None else StoreLease(holder, fence, seconds, asked + seconds)


async def renew(connection: Connection, lease: StoreLease) -> StoreLease:
    """The same lease for another while. Every commit renews it too."""
    asked = time.monotonic()
    if await connection.fetchval(_SQL["renew"], lease.fence) is None:
        raise await _lost(connection, lease.fence)
    return replace(lease, sure_until=asked + lease.seconds)


async def release(connection: Connection, lease: StoreLease) -> None:
    """Give it back, so that the next need not wait."""
    await connection.execute(_SQL["release"], lease.fence)


async def holder(connection: Connection) -> LeaseHolder:
    """Who has it now."""
    row = await connection.fetchrow(_SQL["holder"])
    assert row is not None  # noqa: S101 - the row is made with the table
    return LeaseHolder(row["holder"], row["fence"], max(row["seconds"], 0.0))


async def claim(connection: Connection, fence: int, commit: UUID) -> bool:
    """Begin a transaction that changes things; false if this commit was done already."""
    before = await connection.fetchrow(_SQL["claim"], fence, commit)
    if before is None:
        raise await _lost(connection, fence)
    return bool(before["last_commit"] != commit)


async def _lost(connection: Connection, fence: int) -> LeaseLost:
    now = await holder(connection)
    by = f"{now.name!r}" if now.name else "nobody any more"
    return LeaseLost(
        f"our lease had fence {fence}, and the current one is {now.fence}, held by {by}; nothing "
        "was written. Take the lease again and load anew, or leave it to the other"
    )
