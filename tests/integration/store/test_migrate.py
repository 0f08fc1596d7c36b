"""Tables become those of this version, once, and what was in them stays."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import asyncpg
import msgspec
import pytest

from fluxnetes.graph.writers.whole import write_graph
from fluxnetes.store.database import Connection, Database
from fluxnetes.store.errors import NewerDatabase, StoreRefused
from fluxnetes.store.migrate import Migration, migrate, migrations
from fluxnetes.store.store import open_store
from fluxnetes.store.system import StoredSystem
from tests.integration.store.servers import fetch
from tests.unit.store.plain import plain

OLD_DATA = Path(__file__).parent / "old_data"
"""For each migration, what a database at that version held: rows, and what they must become."""

CREATE = Migration(1, "create", "CREATE TABLE things (name text); INSERT INTO things VALUES ('a')")
RENAME = Migration(2, "rename", "ALTER TABLE things RENAME name TO title")
BROKEN = Migration(2, "broken", "INSERT INTO things VALUES ('b'); SELECT 1 / 0")


async def apply(dsn: str, *steps: Migration) -> None:
    database = Database(dsn)
    try:
        await database.attempt(partial(migrate, steps=steps))
    finally:
        await database.close()


async def applied(dsn: str) -> list[tuple[int, str]]:
    rows = await fetch(dsn, "SELECT number, name FROM migrations ORDER BY number")
    return [(row["number"], row["name"]) for row in rows]


async def test_each_step_is_done_once_and_recorded(dsn: str) -> None:
    await apply(dsn, CREATE)
    await apply(dsn, CREATE)
    await apply(dsn, CREATE, RENAME)
    assert await applied(dsn) == [(1, "create"), (2, "rename")]
    assert [row["title"] for row in await fetch(dsn, "SELECT title FROM things")] == ["a"]


async def test_a_step_that_fails_leaves_nothing_behind(dsn: str) -> None:
    with pytest.raises(asyncpg.DivisionByZeroError):
        await apply(dsn, CREATE, BROKEN)
    assert await applied(dsn) == [(1, "create")]
    assert len(await fetch(dsn, "SELECT * FROM things")) == 1


async def test_many_that_start_together_migrate_once(dsn: str) -> None:
    await asyncio.gather(*(apply(dsn, CREATE, RENAME) for _ in range(5)))
    assert await applied(dsn) == [(1, "create"), (2, "rename")]
    assert len(await fetch(dsn, "SELECT * FROM things")) == 1


async def test_a_database_of_a_newer_version_is_refused(dsn: str) -> None:
    await apply(dsn, CREATE, RENAME)
    with pytest.raises(NewerDatabase, match=r"at migration 2, and this version .* knows 1"):
        await apply(dsn, CREATE)


async def _modestly(connection: Connection) -> None:
    """Migrate as a user with no rights but those that it was given."""
    await connection.execute("SET ROLE modest")
    await migrate(connection, migrations())


async def test_a_schema_that_an_administrator_made_will_do(dsn: str) -> None:
    """Our user need not be allowed to make one."""
    await fetch(dsn, "DROP ROLE IF EXISTS modest")
    await fetch(dsn, "CREATE ROLE modest")
    await fetch(dsn, "CREATE SCHEMA fluxnetes AUTHORIZATION modest")
    database = Database(dsn)
    await database.attempt(_modestly)
    await database.close()
    assert len(await applied(dsn)) == len(migrations())


async def test_a_role_that_may_not_make_the_schema_is_refused_with_what_to_do(dsn: str) -> None:
    await fetch(dsn, "DROP ROLE IF EXISTS modest")
    await fetch(dsn, "CREATE ROLE modest")
    database = Database(dsn)
    with pytest.raises(StoreRefused, match="may not create the schema fluxnetes"):
        await database.attempt(_modestly)
    await database.close()


@pytest.mark.parametrize("number", range(1, len(migrations()) + 1))
async def test_old_data_survive_every_migration_since(dsn: str, number: int) -> None:
    """Rows as version `number` wrote them, brought to today's tables one step at a time."""
    await apply(dsn, *migrations()[:number])
    await _run(dsn, (OLD_DATA / f"{number:04}.sql").read_text())
    for until in range(number + 1, len(migrations()) + 1):
        await apply(dsn, *migrations()[:until])
    async with open_store(dsn) as store:
        snapshot = await store.load()
        stories = [await store.events(job) for job in range(1, 10)]
        system = await store.system()
    expected = (OLD_DATA / f"{number:04}.txt").read_text()
    assert _shown(snapshot, *filter(None, stories), *_parts(system)) == expected


async def test_old_reasons_keep_their_text_and_only_withdrawn_jobs_get_a_code(dsn: str) -> None:
    await apply(dsn, *migrations()[:4])
    await _run(dsn, (OLD_DATA / "0003.sql").read_text())
    await _run(dsn, "UPDATE jobs SET reason = 'withdrawn: deleted by its user' WHERE id = 1")
    await _run(
        dsn,
        """INSERT INTO events (job, at, kind, reason) VALUES
        (1, 5, 'altered', 'withdrawn: a word in a story'), (1, 6, 'altered', '')""",
    )
    await apply(dsn, *migrations())
    jobs = await fetch(dsn, "SELECT reason, reason_code FROM jobs WHERE id = 1")
    assert list(map(tuple, jobs)) == [("withdrawn: deleted by its user", "Withdrawn")]
    events = await fetch(dsn, "SELECT reason_code FROM events WHERE kind = 'altered' ORDER BY id")
    assert [row["reason_code"] for row in events] == ["Unknown", None]


@pytest.mark.parametrize(
    ("before", "origin", "after"),
    [
        ("", "direct", ""),
        ("Job/lab/sweep/0d8f", "cluster", "Job/lab/sweep/0d8f"),
        ("call:match:", "call-match", ""),
        ("call:submit:my key", "call-submit", "my key"),
        ("match:call:match:x", "matcher", "call:match:x"),
    ],
)
async def test_where_a_job_came_from_is_read_from_its_old_workload(
    dsn: str, before: str, origin: str, after: str
) -> None:
    await apply(dsn, *migrations()[:4])
    await _run(dsn, (OLD_DATA / "0003.sql").read_text())
    await fetch(dsn, "UPDATE fluxnetes.submissions SET workload = $1 WHERE id = 1", before)
    await apply(dsn, *migrations())
    [row] = await fetch(dsn, "SELECT origin, workload FROM submissions WHERE id = 1")
    assert tuple(row) == (origin, after)


def _parts(system: StoredSystem | None) -> Iterator[object]:
    """What there is to show of a system."""
    if system is not None:
        yield {"rows": system.rows, "config": system.config}
        yield {"graph": msgspec.json.decode(write_graph(system.graph))}


async def _run(dsn: str, script: str) -> None:
    connection = await asyncpg.connect(dsn, server_settings={"search_path": "fluxnetes"})
    await connection.execute(script)
    await connection.close()


def _shown(*values: object) -> str:
    """Values as text, one field a line, so that a difference can be seen."""
    lines: list[str] = []
    for value in values:
        _show(plain(value), "", lines)
    return "\n".join(lines) + "\n"


def _show(value: object, path: str, lines: list[str]) -> None:
    match value:
        case (_, dict() as content):
            for key, each in content.items():
                _show(each, f"{path}.{key if isinstance(key, str) else key[1]}", lines)
        case (_, tuple() as content):
            for number, each in enumerate(content):
                _show(each, f"{path}[{number}]", lines)
        case (_, None | False | ""):
            pass
        case (_, frozenset() as content):
            lines.append(f"{path.removeprefix('.')} = {sorted(content)!r}")
        case (*_, content):
            lines.append(f"{path.removeprefix('.')} = {content!r}")


def test_every_migration_has_its_old_data() -> None:
    wanted = {f"{step.number:04}{end}" for step in migrations() for end in (".sql", ".txt")}
    assert {path.name for path in OLD_DATA.iterdir()} == wanted
