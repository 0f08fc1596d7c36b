"""The commands of the store's page do what the page says."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
from pathlib import Path

from fluxnetes.graph.pools import pool_graph
from fluxnetes.graph.readers import read_graph
from fluxnetes.graph.writers.whole import write_graph
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.states import JobState
from fluxnetes.store.embedded.binaries import find_binaries
from fluxnetes.store.embedded.server import EmbeddedServer
from fluxnetes.store.store import open_store
from tests.integration.store.records import a_job, changes
from tests.integration.store.servers import create_database
from tests.unit.store.plain import plain

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "store.md"


def commands() -> list[str]:
    blocks = re.findall(r"(?ms)^```console\n(.*?)^```$", PAGE.read_text())
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]


def test_a_queue_can_be_looked_at_and_moved_as_the_page_says(
    server: EmbeddedServer, dsn: str, tmp_path: Path
) -> None:
    asyncio.run(_fill(dsn))
    other = asyncio.run(create_database(dsn, "moved"))
    unpack, look, *move = commands()
    _run(unpack, server, other, tmp_path)
    assert read_graph((tmp_path / "cluster.jgf").read_bytes(), "jgf").find_path("/cluster0/a")
    assert re.search(r"pending +\| +2", _run(look, server, other, tmp_path))
    for command in move:
        _run(command, server, other, tmp_path)
    assert plain(asyncio.run(_read(other))) == plain(asyncio.run(_read(dsn)))


def _run(command: str, server: EmbeddedServer, dsn: str, folder: Path) -> str:
    programs = find_binaries(server.paths.cluster).program("psql").parent
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "FLUXNETES_DATA": str(server.paths.top), "DSN": dsn}
    done = subprocess.run(
        [shutil.which("bash") or "bash", "-ec", command],
        env=environment,
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


async def _fill(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await store.take("test")
        assert lease is not None
        jobs = (a_job(1), a_job(2), a_job(3, JobState.COMPLETED))
        await store.commit(changes(*jobs), lease.fence)
        await store.keep_system(pool_graph({"a": {"cpu": 1}}), SchedulerConfig(), lease.fence)


async def _read(dsn: str) -> object:
    async with open_store(dsn) as store:
        system = await store.system()
        assert system is not None
        known = write_graph(system.graph), system.rows, system.config
        return known, await store.load(), await store.jobs([3]), await store.events(1)
