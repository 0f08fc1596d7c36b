"""The lease of the store: one writer at a time, enforced by a fencing number.

The lease is a row. Taking it adds one to its *fence*, a number that only grows. A writer passes its
fence in every transaction, and the first statement compares it (`claim`). So a writer that was
paused for an hour, and lost the lease meanwhile, can change nothing when it resumes: it gets
`LeaseLost`. Only the database's clock counts.

A holder's name must be unique among running processes. A process that restarts under its old name
gets its own lease back at once, with a new fence that shuts out its earlier run.
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
"""Default duration of a lease. Renew it three times in that time."""

_SQL = statements("lease")


@dataclass(frozen=True, slots=True)
class StoreLease:
    """The right to write, until another holder takes it."""

    holder: str
    fence: int
    seconds: float
    sure_until: float
    """By the local monotonic clock: before this time no other holder can have taken it."""


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """The current holder of the lease."""

    name: str
    fence: int
    seconds: float
    """Seconds until it expires if it is not renewed; 0: it can be taken."""


async def take(connection: Connection, holder: str, seconds: float = SECONDS) -> StoreLease | None:
    """The lease, if it is free or has this holder; else None."""
    if not holder:
        raise ValueError("a lease needs a holder with a name")
    sent_at = time.monotonic()
    fence = await connection.fetchval(_SQL["take"], holder, timedelta(seconds=seconds))
    return None if fence is None else StoreLease(holder, fence, seconds, sent_at + seconds)


async def renew(connection: Connection, lease: StoreLease) -> StoreLease:
    """Extend the lease. Every commit renews it too."""
    sent_at = time.monotonic()
    if await connection.fetchval(_SQL["renew"], lease.fence) is None:
        raise await _lost(connection, lease.fence)
    return replace(lease, sure_until=sent_at + lease.seconds)


async def release(connection: Connection, lease: StoreLease) -> None:
    """Release the lease, so that the next holder need not wait for its expiry."""
    await connection.execute(_SQL["release"], lease.fence)


async def holder(connection: Connection) -> LeaseHolder:
    """The current holder."""
    row = await connection.fetchrow(_SQL["holder"])
    assert row is not None  # noqa: S101 - the migration inserts the row
    return LeaseHolder(row["holder"], row["fence"], max(row["seconds"], 0.0))


async def claim(connection: Connection, fence: int, commit: UUID) -> bool:
    """Check the fence at the begin of a transaction; false if this commit was done already."""
    before = await connection.fetchrow(_SQL["claim"], fence, commit)
    if before is None:
        raise await _lost(connection, fence)
    return bool(before["last_commit"] != commit)


async def _lost(connection: Connection, fence: int) -> LeaseLost:
    now = await holder(connection)
    owner = f"held by {now.name!r}" if now.name else "not held"
    return LeaseLost(
        f"the lease with fence {fence} is lost: the current fence is {now.fence}, {owner}; nothing "
        "was written. Take the lease again and reload, or stop"
    )
