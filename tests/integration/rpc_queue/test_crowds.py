"""Many callers at once, and callers that leave."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from fluxnetes.client import Busy, Client
from fluxnetes.v1 import jobs_pb2 as v1
from tests.integration.rpc.conftest import Speak
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.process import Serve
from tests.integration.rpc.test_leavers import turn_back
from tests.integration.rpc.waiting import soon
from tests.integration.rpc_queue.jobs import ALL, cores, free, holders


def test_many_callers_at_once_share_what_there_is_and_no_more(
    server: Serve, client: Client
) -> None:
    def call(number: int) -> tuple[int, int]:
        size = 1 + number % 3
        with Client(server.address) as mine:
            try:
                return mine.match(cores(size), walltime=100).id, size
            except Busy:
                return 0, 0

    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(call, range(60)))
    given = {job: size for job, size in answers if job}
    assert len(given) == sum(bool(job) for job, _ in answers), "a number was given twice"
    assert holders(client) == given
    assert sum(given.values()) + free(client) == ALL
    assert free(client) < 3, "a match was refused that would have fit"


@pytest.fixture
def large(tmp_path: Path) -> Iterator[Serve]:
    """One with capacity for all."""
    (tmp_path / "graph.json").write_text(a_cluster(60, 16))
    with Serve(tmp_path, "--queue", "--graph", tmp_path / "graph.json") as server:
        yield server


async def test_a_client_that_leaves_at_any_moment_has_an_answer_or_holds_nothing(
    large: Serve, speak: Speak
) -> None:
    """Counted on the wire, where no answer can be missed.

    A client that leaves between the message and its end may have either.
    """
    old = speak("jobspec", large)
    read = type(old("Match", jobspec=cores(1))).FromString
    connections = await asyncio.gather(*(turn_back(large, seed, 60) for seed in range(6)))
    streams = [each for connection in connections for each in connection.streams.values()]
    answered, torn = {1}, set[int]()
    for stream in streams:
        if stream.data:
            (answered if stream.complete else torn).add(read(stream.answer).jobid)
    assert 20 < len(answered) < len(streams) - 20, "all moments but the interesting ones"
    with Client(large.address) as client:
        await soon(
            lambda: answered <= set(holders(client)) <= answered | torn, "too much or too little"
        )


def test_who_only_looks_may_leave_too(server: Serve, client: Client) -> None:
    async def leave() -> None:
        async with grpc.aio.insecure_channel(server.address) as channel:
            watch = channel.unary_stream(
                "/fluxnetes.v1.JobService/WatchJobs",
                v1.WatchJobsRequest.SerializeToString,
                v1.WatchJobsResponse.FromString,
            )
            streams = [watch(v1.WatchJobsRequest()) for _ in range(50)]
            for stream in streams:
                await stream.read()
                stream.cancel()

    asyncio.run(leave())
    job = client.submit(cores(1), walltime=60)
    client.cancel(job.id)
    assert server.is_running
