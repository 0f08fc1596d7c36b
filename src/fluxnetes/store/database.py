"""A server that may come and go, and work that gets done all the same.

`Database.attempt(work)` gives the work a connection. If the server is not there, or goes away in
the middle, it waits (longer each time, up to some seconds), says so now and then, and does the work
again from the start. So work must be safe to do twice; `commit` and `lease` are written that way.

Whoever is refused for good (bad password, no such database, Postgres too old) gets `StoreRefused`
at once, because waiting would help nobody.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

import asyncpg
from asyncpg import exceptions as pg

from fluxnetes.common.backoff import Backoff, RetryMessages, RetryTiming
from fluxnetes.store.embedded.server import EmbeddedServer
from fluxnetes.store.errors import StoreRefused, StoreUnavailable

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

Say: TypeAlias = Callable[[str], None]
"""Receives a message about the connection: that it is being waited for, that it is back."""

OLDEST = 14
"""The oldest major version of Postgres that will do."""

_MOST_CONNECTIONS = 4

_SESSION = {
    "application_name": "fluxnetes",
    "search_path": "fluxnetes",
    "timezone": "UTC",
    # Statements over arrays look expensive to the planner; compiling them costs more than running.
    "jit": "off",
    # A writer that is paused in the middle of a transaction must not keep the next one out.
    "idle_in_transaction_session_timeout": "10s",
}

_AWAY = (
    OSError,
    # The server said goodbye while we were silent, and asyncpg is confused.
    asyncpg.InternalClientError,
    pg.PostgresConnectionError,
    pg.CannotConnectNowError,
    pg.AdminShutdownError,
    pg.CrashShutdownError,
    pg.TooManyConnectionsError,
    pg.IdleInTransactionSessionTimeoutError,
    pg.ReadOnlySQLTransactionError,
    pg.DeadlockDetectedError,
)
"""What a server that goes away, or changes places with its standby, does to us."""

_REFUSED: dict[type[Exception], str] = {
    pg.InvalidPasswordError: "correct the user or the password in the DSN",
    pg.InvalidAuthorizationSpecificationError: "correct the DSN, or the server's pg_hba.conf",
    pg.InvalidCatalogNameError: "create the database, or correct its name in the DSN",
    pg.InsufficientPrivilegeError: "let our user connect, or name another in the DSN",
}
"""What no waiting will cure, and what will."""

_RETRY_TIMING = RetryTiming(max_delay=5.0, jitter=0.0)
_RETRY_MESSAGES = RetryMessages(
    failing="waiting for {operation}: {cause}",
    recovered="{operation} is there, after {seconds:.1f} s",
)

_log = logging.getLogger("fluxnetes.store")

T = TypeVar("T")


class Database:
    """Connections to one server: the one a DSN names, or one of our own."""

    def __init__(
        self,
        dsn: str | None = None,
        *,
        server: EmbeddedServer | None = None,
        say: Say = _log.warning,
    ) -> None:
        if dsn is None:
            server = server or EmbeddedServer()
            dsn = server.dsn
        self.server = server
        self._dsn = dsn
        self._idle: list[Connection] = []
        self._turns = asyncio.Semaphore(_MOST_CONNECTIONS)
        self._backoff = Backoff(
            "Postgres",
            _RETRY_TIMING,
            messages=_RETRY_MESSAGES,
            report=lambda _level, text: say(text),
        )

    async def open(self) -> None:
        """Wait until the server is there."""
        await self.attempt(_nothing)

    async def close(self) -> None:
        """Leave; a server of our own stops unless others use it."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*map(_say_goodbye, idle))
        if self.server is not None:
            await asyncio.to_thread(self.server.stop)

    async def attempt(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Do the work, however often the server goes away meanwhile."""
        while True:
            try:
                async with self._turns:
                    done = await self._try(work)
            except StoreUnavailable as away:
                self._drop_idle()
                await self._backoff.pause(str(away))
            else:
                self._backoff.over()
                return done

    async def _try(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        connection = self._idle.pop() if self._idle else await self._connect()
        try:
            done = await work(connection)
        except _AWAY as error:
            connection.terminate()
            raise _unavailable(error) from error
        except asyncpg.InterfaceError as error:
            # One error for connections that broke and for those that were used wrongly.
            if not connection.is_closed():
                connection.terminate()
                raise
            raise _unavailable(error) from error
        except BaseException:
            connection.terminate()
            raise
        self._idle.append(connection)
        return done

    async def _connect(self) -> Connection:
        if self.server is not None:
            await asyncio.to_thread(self.server.start)
        try:
            connection = await asyncpg.connect(
                self._dsn, server_settings=_SESSION, timeout=10, command_timeout=120
            )
        except _AWAY as error:
            raise _unavailable(error) from error
        except tuple(_REFUSED) as error:
            raise StoreRefused(
                f"the server refuses us: {error}; {_REFUSED[type(error)]}"
            ) from error
        except ValueError as error:
            raise StoreRefused(f"the DSN makes no sense: {error}; correct the DSN") from None
        return _checked(connection)

    def _drop_idle(self) -> None:
        """When one connection broke, the others are of no use either."""
        for connection in self._idle:
            connection.terminate()
        self._idle.clear()


def _unavailable(error: Exception) -> StoreUnavailable:
    return StoreUnavailable(str(error) or type(error).__name__)


def _checked(connection: Connection) -> Connection:
    """The connection, if its server will do."""
    major = connection.get_server_version().major
    is_standby = getattr(connection.get_settings(), "in_hot_standby", "off") == "on"
    if major >= OLDEST and not is_standby:
        return connection
    connection.terminate()
    if is_standby:
        raise StoreUnavailable("the server is a standby, which takes no changes")
    raise StoreRefused(f"the server is Postgres {major}; Fluxnetes needs {OLDEST} or newer")


async def _say_goodbye(connection: Connection) -> None:
    """End a connection, but do not wait long: the server may be gone."""
    try:
        await connection.close(timeout=5)
    except (*_AWAY, asyncpg.InterfaceError):
        connection.terminate()


async def _nothing(connection: Connection) -> None:
    pass
