"""Crashes at any moment, of us and of Postgres: what was answered is there, once."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.message import Message

from fluxnetes.store.embedded.server import EmbeddedServer
from fluxnetes.v1 import jobs_pb2 as v1
from tests.integration.folders import reachable_folder
from tests.integration.rpc.conftest import Speak, crash
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.jobspecs import slots
from tests.integration.rpc.ours import Ours
from tests.integration.rpc.process import Serve
from tests.integration.rpc.streams import CORES, MEMORY, NODES, Direct, Requests
from tests.integration.rpc.test_equal_answers import Wired, same

Look = Callable[[Serve], Ours]

KILLS = 4
AWAY = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED}


class Insistent:
    """A client that asks again, under the same key, until it is answered."""

    def __init__(self, channel: grpc.aio.Channel, seed: int) -> None:
        self._draw = random.Random(seed)
        self._match = channel.unary_unary(
            "/fluxnetes.v1.JobService/Match",
            v1.MatchRequest.SerializeToString,
            v1.MatchResponse.FromString,
        )
        self._cancel = channel.unary_unary(
            "/fluxnetes.v1.JobService/Cancel",
            v1.CancelRequest.SerializeToString,
            v1.CancelResponse.FromString,
        )
        self.given: list[int] = []
        self.has: set[int] = set()

    async def work(self, name: str, stop: asyncio.Event) -> None:
        while not stop.is_set():
            key = f"{name}-{len(self.given)}"
            ask = v1.MatchRequest(ask=v1.Ask(jobspec=slots(1, 1)), request_id=key)
            job = (await self._until_answered(self._match, ask)).job.id
            self.given.append(job)
            self.has.add(job)
            while self.has and (self._draw.random() < 0.6 or len(self.has) > 10):
                job = self._draw.choice(sorted(self.has))
                await self._until_answered(self._cancel, v1.CancelRequest(job=job, missing_ok=True))
                self.has.discard(job)

    async def _until_answered(self, call: Any, request: Message) -> Any:
        while True:
            try:
                return await call(request, timeout=20, wait_for_ready=True)
            except grpc.aio.AioRpcError as error:
                assert error.code() in AWAY, error
                await asyncio.sleep(0.01)


async def test_killed_at_any_moment_nothing_that_was_answered_is_lost_or_given_twice(
    kept: Serve, look: Look
) -> None:
    ours = look(kept)
    ours.load(a_cluster(8, 16))
    draw, stop = random.Random(7), asyncio.Event()
    options = [("grpc.max_reconnect_backoff_ms", 100), ("grpc.initial_reconnect_backoff_ms", 50)]
    async with grpc.aio.insecure_channel(kept.address, options) as channel:
        clients = [Insistent(channel, seed) for seed in range(6)]
        working = [
            asyncio.create_task(client.work(f"client{n}", stop)) for n, client in enumerate(clients)
        ]
        for _ in range(KILLS):
            await asyncio.sleep(0.1 + draw.random() * 0.4)
            await asyncio.to_thread(crash, kept)
        await asyncio.sleep(0.2)
        stop.set()
        await asyncio.gather(*working)
    given = [job for client in clients for job in client.given]
    assert len(given) == len(set(given)), "a number was given twice"
    assert len(given) > 20
    held = set(await asyncio.to_thread(ours.holders))
    assert held == {job for client in clients for job in client.has}
    await asyncio.to_thread(crash, kept)
    assert set(await asyncio.to_thread(ours.holders)) == held
    await asyncio.to_thread(ours.empty)


def test_requests_with_crashes_between_are_answered_as_if_there_were_none(
    kept: Serve, look: Look, speak: Speak
) -> None:
    graph, ours = a_cluster(NODES, CORES, MEMORY), look(kept)
    ours.load(graph, "lonode")
    wired = Wired(speak("jobspec", kept), speak("fluxcli", kept), ours)
    direct, stream = Direct(graph, "lonode"), Requests(3)
    since = 0
    for number in range(240):
        ask = stream.next(direct.live())
        over_the_wire, simply = wired(ask), direct(ask)
        assert same(over_the_wire, simply), (number, ask, over_the_wire, simply)
        since += 1
        # Numbers that failed matches used up are forgotten; those that were granted are not.
        if since >= 60 and simply.outcome in ("allocated", "reserved"):
            since = 0
            crash(kept)
            assert ours.holders() == direct.holders()


def test_killed_right_after_an_answer_it_is_there(kept: Serve, look: Look) -> None:
    ours = look(kept)
    ours.load(a_cluster(1, 16))
    job = ours.match(slots(1, 1)).id
    crash(kept)
    assert set(ours.holders()) == {job}
    ours(v1.CancelRequest(job=job))
    crash(kept)
    assert ours.is_idle()


def test_a_postgres_of_its_own_may_be_killed_too_and_goes_when_it_goes(tmp_path: Path) -> None:
    made = reachable_folder()
    postgres = EmbeddedServer(made / "data")
    try:
        with (
            Serve(tmp_path, "--store", "--store-folder", made / "data") as server,
            Ours(server.address) as ours,
        ):
            ours.load(a_cluster(1, 4))
            ours.match(slots(1, 1))
            os.kill(postgres.pid, signal.SIGKILL)
            ours.match(slots(1, 1))
            crash(server)
            assert set(ours.holders()) == {1, 2}
            assert server.stop() == 0
        assert not postgres.is_running()
    finally:
        postgres.start()
        postgres.stop()
        shutil.rmtree(made)
