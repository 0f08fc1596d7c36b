"""One measurement of `bench/service`: a server in a process of its own, callers in this one."""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import numpy as np

from bench.kube_costs import costs
from bench.service_dialects import Dialect
from fluxnetes.rpc.wire import jobspec_pb2

OPTIONS = [("grpc.max_send_message_length", 1 << 30)]


class Wrong(Exception):  # noqa: N818 - reads better where it is raised and caught
    """What was measured is not what was to be."""


@dataclass(frozen=True, slots=True)
class Result:
    """What callers saw of a server."""

    seconds: float
    waits: tuple[float, ...]
    """Of each match, in seconds."""
    cpu: float
    """Seconds that the server's process took."""

    @property
    def rate(self) -> float:
        """Pairs of match and cancel a second."""
        return len(self.waits) / self.seconds

    @property
    def cpu_a_pair(self) -> float:
        """Milliseconds."""
        return 1e3 * self.cpu / len(self.waits)

    def wait(self, percent: float) -> float:
        """Milliseconds that so many of a hundred matches took at most."""
        return 1e3 * float(np.percentile(self.waits, percent))


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs."""

    address: str
    pid: int


@dataclass(frozen=True, slots=True)
class Load:
    """How callers behave."""

    callers: int = 16
    seconds: float = 5.0
    warm_up: float = 1.0


@contextmanager
def started(*command: str) -> Iterator[Server]:
    """A server, for as long as the block lasts."""
    with subprocess.Popen(
        [sys.executable, "-m", *command], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline().split()
            if not said:
                raise Wrong(f"{' '.join(command)} did not start")
            yield Server(said[1], process.pid)
        finally:
            process.terminate()


@contextmanager
def our_server(dialect: Dialect, graph: Path, *, store: bool = False) -> Iterator[Server]:
    """`fluxnetes serve` on a graph; with a store, on an embedded Postgres of its own."""
    folder = Path(tempfile.mkdtemp(prefix="fluxnetes-bench-"))
    folder.chmod(0o711)  # root's Postgres runs as another
    options = ["--store", "--store-folder", str(folder / "data")] if store else []
    try:
        with started(
            "fluxnetes",
            "serve",
            *("--port", "0", "--log-level", "warning", "--graph", str(graph)),
            *("--dialect", dialect.option),
            *options,
        ) as server:
            yield server
    finally:
        shutil.rmtree(folder)


@contextmanager
def empty_server(dialect: Dialect, answers: dict[str, bytes]) -> Iterator[Server]:
    """A server that has these answers and nothing else."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({method: answer.hex() for method, answer in answers.items()}, file)
        file.flush()
        with started("bench.service_empty", dialect.service, file.name) as server:
            yield server


class Callers:
    """Callers in one process, on one connection."""

    def __init__(self, channel: grpc.aio.Channel, dialect: Dialect) -> None:
        self._match: Any = channel.unary_unary(f"/{dialect.service}/Match")
        self._cancel: Any = channel.unary_unary(f"/{dialect.service}/Cancel")
        self._dialect = dialect
        self._asks = itertools.cycle(dialect.asks())

    async def pair(self) -> tuple[float, dict[str, bytes]]:
        """Match and cancel; how long the match took, and what was answered."""
        began = time.perf_counter()
        matched = await self._match(next(self._asks))
        took = time.perf_counter() - began
        job = self._dialect.job(matched)
        if not job:
            raise Wrong("a match of the benchmark was answered with a no")
        return took, {"Match": matched, "Cancel": await self._cancel(self._dialect.cancel(job))}

    async def run(self, count: int, seconds: float) -> list[float]:
        """So many callers, each one pair after the other; how long each match took."""
        until, waits = time.perf_counter() + seconds, []

        async def call() -> None:
            while time.perf_counter() < until:
                waits.append((await self.pair())[0])

        await asyncio.gather(*(call() for _ in range(count)))
        return waits


async def measure(server: Server, dialect: Dialect, load: Load) -> Result:
    """Pairs of match and cancel, as fast as they go."""
    async with grpc.aio.insecure_channel(server.address, OPTIONS) as channel:
        callers = Callers(channel, dialect)
        await callers.run(load.callers, load.warm_up)
        spent, began = costs(server.pid).cpu, time.perf_counter()
        waits = await callers.run(load.callers, load.seconds)
        seconds = time.perf_counter() - began
        return Result(seconds, tuple(waits), costs(server.pid).cpu - spent)


async def answers(server: Server, dialect: Dialect) -> dict[str, bytes]:
    """What a server answers, for an empty one to say after it."""
    async with grpc.aio.insecure_channel(server.address, OPTIONS) as channel:
        return (await Callers(channel, dialect).pair())[1]


async def init(server: Server, jgf: str) -> float:
    """Seconds until a server has another graph."""
    request = jobspec_pb2.InitRequest(policy="lonode", jgf=jgf).SerializeToString()
    async with grpc.aio.insecure_channel(server.address, OPTIONS) as channel:
        call: Any = channel.unary_unary("/fluxion.FluxionService/Init")
        began = time.perf_counter()
        answer = jobspec_pb2.InitResponse.FromString(await call(request))
        took = time.perf_counter() - began
    if answer.status != jobspec_pb2.InitResponse.INIT_SUCCESS:
        raise Wrong("the graph of the benchmark was not taken")
    return took
