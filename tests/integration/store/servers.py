"""What the tests do to servers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import asyncpg

from fluxnetes.common.file_lock import FileLock
from fluxnetes.store.embedded.paths import EmbeddedPaths
from fluxnetes.store.embedded.server import EmbeddedServer

HERE = Path(__file__).parent


async def create_database(dsn: str, name: str) -> str:
    """A new database on the same server, and its DSN."""
    connection = await asyncpg.connect(dsn)
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    return dsn.replace("@/postgres?", f"@/{name}?")


async def wipe(dsn: str) -> None:
    """Remove all that is ours."""
    await fetch(dsn, "DROP SCHEMA IF EXISTS fluxnetes CASCADE")


async def fetch(dsn: str, query: str, *values: object) -> list[asyncpg.Record]:
    """Rows, as a connection outside the store sees them."""
    connection = await asyncpg.connect(dsn, server_settings={"search_path": "fluxnetes"})
    try:
        return list(await connection.fetch(query, *values))
    finally:
        await connection.close()


def is_empty(paths: EmbeddedPaths) -> bool:
    """Whether no process of the server lives."""
    lock = FileLock(paths.server_lock)
    try:
        return lock.try_alone()
    finally:
        lock.close()


def kill_server(server: EmbeddedServer) -> None:
    """Kill -9 the server, and see the last of its processes off."""
    os.kill(server.pid, signal.SIGKILL)
    while not is_empty(server.paths):
        time.sleep(0.001)


class Child:
    """A process of ours that can be talked to, stopped and killed: a script beside the tests."""

    def __init__(self, script: str, *arguments: str | Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, HERE / script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(HERE.parents[2]), *sys.path))},
        )

    def read_line(self) -> str:
        """The next line that it says; empty: it is gone."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
