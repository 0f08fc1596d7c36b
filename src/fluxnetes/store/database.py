"""Connections to a Postgres server, with retries while it is unavailable.

`Database.attempt(work)` calls the work with a connection. If the server is not available, or the
connection breaks halfway, it waits (longer each time, up to some seconds), reports that now and
then, and runs the work again from the start. So work must be safe to repeat; `commit` and `lease`
are written that way.

A permanent refusal (bad password, no such database, Postgres too old) raises `StoreRefused` at
once, because a retry cannot succeed.
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
"""Minimum major version of Postgres."""

_MAX_CONNECTIONS = 4
"""Maximum concurrent connections to the server."""

_SESSION = {
    "application_name": "fluxnetes",
    "search_path": "fluxnetes",
    "timezone": "UTC",
    # Statements over arrays look expensive to the planner; compiling them costs more than running.
    "jit": "off",
    # A writer that is paused in the middle of a transaction must not block the next one.
    "idle_in_transaction_session_timeout": "10s",
}

_UNAVAILABLE = (
    OSError,
    # The server closed an idle connection, which asyncpg reports as an internal error.
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
"""Errors of a server that stops, restarts, or fails over to its standby: retry."""

_REFUSED: dict[type[Exception], str] = {
    pg.InvalidPasswordError: "correct the user or the password in the DSN",
    pg.InvalidAuthorizationSpecificationError: "correct the DSN, or the server's pg_hba.conf",
    pg.InvalidCatalogNameError: "create the database, or correct its name in the DSN",
    pg.InsufficientPrivilegeError: "allow the user to connect, or name another in the DSN",
}
"""Errors that no retry can cure, and the next step for each."""

_RETRY_TIMING = RetryTiming(max_delay=5.0, jitter=0.0)
_RETRY_MESSAGES = RetryMessages(
    failing="waiting for {operation}: {cause}",
    recovered="{operation} is available after {seconds:.1f} s",
)

_log = logging.getLogger("fluxnetes.store")

T = TypeVar("T")


class Database:
    """Connections to one server: the one that a DSN names, or the embedded one."""

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
        self._slots = asyncio.Semaphore(_MAX_CONNECTIONS)
        self._backoff = Backoff(
            "Postgres",
            _RETRY_TIMING,
            messages=_RETRY_MESSAGES,
            report=lambda _level, text: say(text),
        )

    async def open(self) -> None:
        """Wait until the server is available."""
        await self.attempt(_nothing)

    async def close(self) -> None:
        """Close all connections; an embedded server stops unless other processes use it."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*map(_close, idle))
        if self.server is not None:
            await asyncio.to_thread(self.server.stop)

    async def attempt(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run the work, and repeat it as long as the server is unavailable."""
        while True:
            try:
                async with self._slots:
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
        except _UNAVAILABLE as error:
            connection.terminate()
            raise _unavailable(error) from error
        except asyncpg.InterfaceError as error:
            # asyncpg raises this for broken connections and for wrong use alike.
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
        except _UNAVAILABLE as error:
            raise _unavailable(error) from error
        except tuple(_REFUSED) as error:
            raise StoreRefused(
                f"the server refuses the connection: {error}; {_REFUSED[type(error)]}"
            ) from error
        except ValueError as error:
            raise StoreRefused(f"the DSN is not valid: {error}; correct the DSN") from None
        return _checked(connection)

    def _drop_idle(self) -> None:
        """Close the idle connections: when one breaks, the others are broken too."""
        for connection in self._idle:
            connection.terminate()
        self._idle.clear()


def _unavailable(error: Exception) -> StoreUnavailable:
    return StoreUnavailable(str(error) or type(error).__name__)


def _checked(connection: Connection) -> Connection:
    """The connection, if its server is usable."""
    major = connection.get_server_version().major
    is_standby = getattr(connection.get_settings(), "in_hot_standby", "off") == "on"
    if major >= OLDEST and not is_standby:
        return connection
    connection.terminate()
    if is_standby:
        raise StoreUnavailable("the server is a standby, which accepts no writes")
    raise StoreRefused(f"the server is Postgres {major}; Fluxnetes needs {OLDEST} or newer")


async def _close(connection: Connection) -> None:
    """Close a connection, with a short timeout: the server may be gone."""
    try:
        await connection.close(timeout=5)
    except (*_UNAVAILABLE, asyncpg.InterfaceError):
        connection.terminate()


async def _nothing(connection: Connection) -> None:
    pass
