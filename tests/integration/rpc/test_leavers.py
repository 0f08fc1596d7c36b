"""Clients that go away: before their turn, during it, and while the answer is on its way.

A client that got no answer must not hold anything; one that got an answer must.
"""

from __future__ import annotations

import asyncio
import random
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import grpc
import pytest
from grpc_health.v1 import health_pb2

from fluxnetes.v1 import jobs_pb2 as v1
from fluxnetes.v1 import resources_pb2 as resources
from tests.integration.rpc.conftest import Speak
from tests.integration.rpc.dialects import PATIENCE, OldClient
from tests.integration.rpc.graphs import a_cluster, recipe
from tests.integration.rpc.http2 import Connection, reset
from tests.integration.rpc.jobspecs import slots
from tests.integration.rpc.ours import Ours
from tests.integration.rpc.process import Serve
from tests.integration.rpc.test_crowds import slam
from tests.integration.rpc.waiting import soon, until

MATCH = "/fluxion.FluxionService/Match"


@pytest.fixture
def ours(jobspec_server: Serve, look: Callable[[Serve], Ours]) -> Ours:
    ours = look(jobspec_server)
    ours.load(a_cluster(60, 16))
    return ours


@contextmanager
def long_work(ours: Ours) -> Iterator[grpc.Future[resources.LoadResponse]]:
    """The engine has something to do for about a second; the end of it."""
    load = ours.channel.unary_unary(
        "/fluxnetes.v1.ResourceService/Load",
        resources.LoadRequest.SerializeToString,
        resources.LoadResponse.FromString,
    )
    large = resources.LoadRequest(format="grug", graph=recipe(60_000, 16))
    begun = load.future(large, timeout=PATIENCE)
    is_healthy(ours)  # is answered after it was taken in
    yield begun
    begun.result()


def is_healthy(ours: Ours) -> bool:
    """Asked of the event loop alone."""
    check = ours.channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        health_pb2.HealthCheckRequest.SerializeToString,
        health_pb2.HealthCheckResponse.FromString,
    )
    answer = check(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def a_match(server: Serve) -> bytes:
    client = OldClient("jobspec", server.address)
    body: bytes = client.message("Match", jobspec=slots(1, 1)).SerializeToString()
    client.close()
    return body


def test_long_work_does_not_keep_the_loop_from_answering(ours: Ours) -> None:
    with long_work(ours) as end:
        assert is_healthy(ours)
        assert not end.done()


def test_a_deadline_is_kept_while_the_engine_works_and_nothing_is_left(
    jobspec_server: Serve, ours: Ours, speak: Speak
) -> None:
    client = speak("jobspec", jobspec_server)
    with long_work(ours) as end:
        for _ in range(3):
            with pytest.raises(grpc.RpcError) as late:
                client.send("Match", client.message("Match", jobspec=slots(1, 1)), timeout=0.05)
            assert late.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert not end.done()
    assert ours.is_idle()
    assert client("Match", jobspec=slots(1, 1)).jobid == 1


def test_what_is_cancelled_before_its_turn_is_never_done(
    jobspec_server: Serve, ours: Ours, speak: Speak
) -> None:
    client = speak("jobspec", jobspec_server)
    with long_work(ours) as end:
        waiting = [client.later("Match", jobspec=slots(1, 1)) for _ in range(50)]
        kept = client.later("Match", jobspec=slots(1, 1))
        for call in waiting:
            assert call.cancel()
        assert not end.done()
    assert kept.result().jobid == 1
    assert set(ours.holders()) == {1}


def test_clients_that_are_killed_while_they_wait_leave_nothing_behind(
    jobspec_server: Serve, ours: Ours
) -> None:
    script = (
        "import sys, grpc; channel = grpc.insecure_channel(sys.argv[1])\n"
        "body = bytes.fromhex(sys.argv[2])\n"
        "grpc.channel_ready_future(channel).result()\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "calls = [channel.unary_unary(sys.argv[3]).future(body) for _ in range(20)]\n"
        "print('called', flush=True); [call.result() for call in calls]\n"
        "print('answered', flush=True)\n"
    )
    line = [sys.executable, "-c", script, jobspec_server.address]
    line += [a_match(jobspec_server).hex(), MATCH]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    clients = [subprocess.Popen(line, **pipes) for _ in range(3)]  # type: ignore[call-overload]
    for client in clients:
        assert client.stdout.readline() == "ready\n"
    with long_work(ours) as end:
        for client in clients:
            client.stdin.write("go\n")
            client.stdin.flush()
        for client in clients:
            assert client.stdout.readline() == "called\n"
            client.kill()
            said, _ = client.communicate()
            assert said == ""
        assert not end.done()
    until(ours.is_idle)
    ours.empty()


@pytest.mark.parametrize("how", ["close", "slam", "half close"])
def test_whole_calls_of_callers_that_hang_up_leave_nothing_behind(
    jobspec_server: Serve, ours: Ours, how: str
) -> None:
    """To half close is to hang up: gRPC takes it for the end."""

    async def call_and_hang_up() -> None:
        connection = await Connection.open(jobspec_server.address)
        connection.call(MATCH, body)
        await connection.writer.drain()
        plain = connection.writer.get_extra_info("socket")
        if how == "half close":
            plain.shutdown(socket.SHUT_WR)
            await connection.read()
        elif how == "slam":
            slam(plain.dup())
            connection.writer.transport.abort()
        connection.writer.close()

    body = a_match(jobspec_server)
    with long_work(ours):
        for _ in range(10):
            asyncio.run(call_and_hang_up())
    until(ours.is_idle)
    ours.empty()


# -- at every moment -------------------------------------------------------------------------------


async def turn_back(server: Serve, seed: int, calls: int) -> Connection:
    """Make calls, and cancel each of them at some moment.

    Moments are drawn from a time in which about half of the calls are answered, however busy the
    machine is.
    """
    draw = random.Random(seed)
    longest = 0.06
    connection = await Connection.open(server.address)
    reading = asyncio.create_task(connection.read())
    body = a_match(server)

    async def one() -> bool:
        stream = connection.call(MATCH, body)
        await asyncio.sleep(draw.random() * longest)
        connection.writer.write(reset(stream))
        return connection.streams[stream].complete

    for _ in range(calls // 6):
        answered = sum(await asyncio.gather(*(one() for _ in range(6))))
        longest *= 2.0 if answered == 0 else 0.5 if answered == 6 else 1.0
    await connection.round_trip()
    connection.writer.close()
    await reading
    return connection


async def test_a_client_that_leaves_at_any_moment_has_an_answer_or_holds_nothing(
    jobspec_server: Serve, ours: Ours
) -> None:
    """Counted on the wire, where no answer can be missed.

    A client that leaves between the message and its end may have either.
    """
    client = OldClient("jobspec", jobspec_server.address)
    job_of = type(client("Match", jobspec=slots(1, 1))).FromString
    connections = await asyncio.gather(*(turn_back(jobspec_server, n, 60) for n in range(8)))
    answered, torn = {1}, set[int]()
    streams = [each for connection in connections for each in connection.streams.values()]
    for stream in streams:
        if stream.data:
            (answered if stream.complete else torn).add(job_of(stream.answer).jobid)
    assert 20 < len(answered) < len(streams) - 20, "all moments but the interesting ones"
    await soon(
        lambda: answered <= set(ours.holders()) <= answered | torn,
        "a client holds too much or too little",
    )
    await asyncio.to_thread(ours.empty)
    client.close()


async def test_under_a_key_who_asks_until_answered_has_it_once(
    jobspec_server: Serve, ours: Ours
) -> None:
    """Whatever came of the calls before."""
    async with grpc.aio.insecure_channel(jobspec_server.address) as channel:
        match = channel.unary_unary(
            "/fluxnetes.v1.JobService/Match",
            v1.MatchRequest.SerializeToString,
            v1.MatchResponse.FromString,
        )

        async def insist(number: int) -> tuple[int, int]:
            draw, tries = random.Random(number), 0
            asked = v1.MatchRequest(ask=v1.Ask(jobspec=slots(1, 1)), request_id=f"key-{number}")
            while True:
                tries += 1
                try:
                    answer = await match(asked, timeout=draw.random() * 0.05 * tries)
                except grpc.RpcError as error:
                    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
                else:
                    return answer.job.id, tries

        found = await asyncio.gather(*(insist(number) for number in range(200)))
    assert max(tries for _, tries in found) > 2, "no call was ever given up"
    jobs = {job for job, _ in found}
    assert len(jobs) == 200
    assert set(await asyncio.to_thread(ours.holders)) == jobs
    await asyncio.to_thread(ours.empty)
