"""A server that is not there yet is waited for; one that refuses us is not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import pytest

from fluxnetes.store import database as module
from fluxnetes.store.database import Connection, Database
from fluxnetes.store.embedded.server import EmbeddedServer
from fluxnetes.store.errors import StoreRefused
from tests.integration.store.servers import fetch


class Messages(list[str]):
    """What a database said, and a way to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.something = asyncio.Event()

    def receive(self, line: str) -> None:
        self.append(line)
        self.something.set()


async def one(connection: Connection) -> int:
    found: int = await connection.fetchval("SELECT 1")
    return found


async def test_a_server_that_is_not_there_yet_is_waited_for(folder: Path) -> None:
    server, messages = EmbeddedServer(folder), Messages()
    database = Database(server.dsn, say=messages.receive)
    waiting = asyncio.create_task(database.attempt(one))
    await messages.something.wait()
    assert not waiting.done()
    await asyncio.to_thread(server.start)
    assert await waiting == 1
    await database.close()
    assert server.is_running(), "a server that a DSN names is not ours to stop"
    server.stop()
    first, *_, last = messages
    assert first.startswith("waiting for Postgres: ")
    assert last.startswith("Postgres is available after ")
    assert len(messages) == 2, "said once, however often it was tried"


async def test_work_whose_connection_breaks_is_done_again(dsn: str) -> None:
    database = Database(dsn)
    tries: list[int] = []

    async def work(connection: Connection) -> int:
        tries.append(connection.get_server_pid())
        if len(tries) == 1:
            await fetch(dsn, "SELECT pg_terminate_backend($1)", tries[0])
        return await one(connection)

    assert await database.attempt(work) == 1
    assert len(set(tries)) == 2
    await database.close()


async def test_a_mistake_of_ours_is_not_tried_forever(dsn: str) -> None:
    database = Database(dsn)

    async def work(connection: Connection) -> None:
        await connection.execute("SELECT $1::bigint", "not a number")

    with pytest.raises(asyncpg.DataError):
        await database.attempt(work)
    await database.close()


async def test_a_bad_password_is_refused_at_once(folder: Path) -> None:
    server = EmbeddedServer(folder)
    await asyncio.to_thread(server.start)
    await _require_password(server)
    await fetch(server.dsn, "CREATE ROLE stranger LOGIN PASSWORD 'right'")
    right = Database(server.dsn.replace("fluxnetes@", "stranger:right@"))
    assert await right.attempt(one) == 1
    await right.close()
    wrong = Database(server.dsn.replace("fluxnetes@", "stranger:wrong@"))
    with pytest.raises(StoreRefused, match="correct the user or the password"):
        await wrong.open()
    await wrong.close()
    await asyncio.to_thread(server.stop)


async def _require_password(server: EmbeddedServer) -> None:
    rules = server.paths.cluster / "pg_hba.conf"
    rules.write_text(f"local all stranger scram-sha-256\n{rules.read_text()}")
    length = len(server.paths.log.read_text())
    await fetch(server.dsn, "SELECT pg_reload_conf()")
    while "reloading configuration files" not in server.paths.log.read_text()[length:]:
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("postgresql://fluxnetes@/nowhere?", "create the database, or correct its name"),
        ("postgresql://unknown-user@/postgres?", "pg_hba.conf"),
    ],
)
async def test_a_refused_login_says_what_to_do(
    server: EmbeddedServer, found: str, expected: str
) -> None:
    database = Database(server.dsn.replace("postgresql://fluxnetes@/postgres?", found))
    with pytest.raises(StoreRefused, match=expected):
        await database.open()
    await database.close()


async def test_a_dsn_that_is_none_is_refused() -> None:
    for nonsense in ("mysql://somewhere", "postgresql://host:port/name"):
        database = Database(nonsense)
        with pytest.raises(StoreRefused, match="correct the DSN"):
            await database.open()
        await database.close()


async def test_a_server_that_is_too_old_is_refused(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no old server here, so what is old is moved instead."""
    monkeypatch.setattr(module, "OLDEST", 99)
    database = Database(dsn)
    with pytest.raises(StoreRefused, match=r"is Postgres \d+; Fluxnetes needs 99 or newer"):
        await database.open()
    await database.close()


async def test_a_standby_is_waited_for(folder: Path) -> None:
    """After a failover the old server may be one; it takes no changes."""
    server, messages = EmbeddedServer(folder), Messages()
    await asyncio.to_thread(server.start)
    await asyncio.to_thread(server.stop)
    (server.paths.cluster / "standby.signal").touch()
    await asyncio.to_thread(server.start)
    database = Database(server.dsn, say=messages.receive)
    waiting = asyncio.create_task(database.attempt(one))
    await messages.something.wait()
    assert messages == ["waiting for Postgres: the server is a standby, which accepts no writes"]
    await fetch(server.dsn, "SELECT pg_promote()")
    assert await waiting == 1
    await database.close()
    await asyncio.to_thread(server.stop)


async def test_the_server_ends_a_transaction_that_was_left_open(dsn: str) -> None:
    database = Database(dsn)

    async def setting(connection: Connection) -> str:
        found: str = await connection.fetchval("SHOW idle_in_transaction_session_timeout")
        return found

    assert await database.attempt(setting) == "10s"
    await database.close()
