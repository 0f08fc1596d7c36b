"""Applies numbered migrations, which bring the schema to this version.

`migrations/0001_queue.sql` is run once, then recorded in the table `migrations`. Each runs in a
transaction of its own, under a lock, so that two processes that start together apply it once, and
one that is killed halfway leaves no trace. A released migration never changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import asyncpg

from fluxnetes.store.database import Connection
from fluxnetes.store.errors import NewerDatabase, StoreRefused
from fluxnetes.store.statements import statements

_SQL = statements("migrations")


@dataclass(frozen=True, slots=True)
class Migration:
    """One migration."""

    number: int
    name: str
    script: str


def migrations() -> tuple[Migration, ...]:
    """All migrations of this version, in order."""
    folder = files("fluxnetes.store") / "migrations"
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    steps = []
    for expected, file in enumerate(found, 1):
        number, _, name = file.name.removesuffix(".sql").partition("_")
        if int(number) != expected:
            raise ValueError(f"migrations/{file.name}: expected number {expected:04}")
        steps.append(Migration(expected, name, file.read_text()))
    return tuple(steps)


async def migrate(connection: Connection, steps: Sequence[Migration]) -> None:
    """Apply the missing migrations, each in a transaction."""
    await _prepare(connection)
    while await _apply_next(connection, steps):
        pass


async def _prepare(connection: Connection) -> None:
    try:
        async with connection.transaction():
            await connection.execute(_SQL["lock"])
            await connection.execute(_SQL["prepare"])
    except asyncpg.InsufficientPrivilegeError as error:
        raise StoreRefused(
            f"the user may not create the schema fluxnetes: {error}; allow it to create schemas "
            "in this database, or create this one with that user as its owner"
        ) from error


async def _apply_next(connection: Connection, steps: Sequence[Migration]) -> bool:
    async with connection.transaction():
        await connection.execute(_SQL["lock"])
        applied: int = await connection.fetchval(_SQL["applied"])
        if applied > len(steps):
            raise NewerDatabase(
                f"the database is at migration {applied}, and this version of Fluxnetes knows "
                f"{len(steps)}; run the newer version, or restore a backup made before it"
            )
        if applied == len(steps):
            return False
        step = steps[applied]
        await connection.execute(step.script)
        await connection.execute(_SQL["record"], step.number, step.name)
    return True
