"""Messages are read after authentication, a few at a time, and within their method's limits."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from fluxnetes.rpc import receiving
from fluxnetes.rpc.guard import TokenGuard
from fluxnetes.rpc.receiving import SMALL, SlotPool
from fluxnetes.rpc.server import ServerSettings
from fluxnetes.v1 import jobs_pb2, resources_pb2
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.http2 import DATA, END_STREAM, Connection, Stream, frame, headers
from tests.unit.rpc.serving import STATUS, served, status

TOKEN = "0123456789abcdef-ada"  # noqa: S105 - of these tests
MATCH = "/fluxnetes.v1.JobService/Match"
LOAD = "/fluxnetes.v1.ResourceService/Load"
HEALTH = "/grpc.health.v1.Health/"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
UNLIMITED = [("grpc.max_send_message_length", -1)]


@pytest.fixture
def guard(tmp_path: Path) -> TokenGuard:
    file = tmp_path / "tokens"
    file.write_text(f"ada {TOKEN}\n")
    file.chmod(0o600)
    return TokenGuard(file)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the calls of which a server begins to read a message."""
    begun: list[str] = []
    read = receiving._MethodReceiver._read

    async def noted(
        receiver: receiving._MethodReceiver, context: receiving.Context, caller: str
    ) -> object:
        begun.append(receiver._path)
        return await read(receiver, context, caller)

    monkeypatch.setattr(receiving._MethodReceiver, "_read", noted)
    return begun


async def code_of(call: grpc.aio.UnaryUnaryCall[Any, bytes]) -> grpc.StatusCode:
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


# -- authentication ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", [MATCH, LOAD, REFLECTION, "/fluxion.FluxionService/Init"])
async def test_without_a_token_no_message_is_read(
    guard: TokenGuard, reads: list[str], path: str
) -> None:
    settings = ServerSettings("127.0.0.1:0", guard=guard)
    async with (
        served(settings) as up,
        grpc.aio.insecure_channel(up.address, options=UNLIMITED) as channel,
    ):
        call = channel.unary_unary(path, bytes, bytes)(bytes(1 << 20), timeout=20)
        assert await code_of(call) is grpc.StatusCode.UNAUTHENTICATED
        assert not reads
        await status(channel, f"Bearer {TOKEN}")
        assert reads == [STATUS]


async def test_health_without_a_token_is_that_of_the_server_whatever_the_message_holds(
    guard: TokenGuard, reads: list[str]
) -> None:
    settings = ServerSettings("127.0.0.1:0", guard=guard)
    async with (
        served(settings) as up,
        grpc.aio.insecure_channel(up.address, options=UNLIMITED) as channel,
    ):
        read = health_pb2.HealthCheckResponse.FromString
        check = channel.unary_unary(f"{HEALTH}Check", bytes, read)
        watch = channel.unary_stream(f"{HEALTH}Watch", bytes, read)
        for body in (b"", b"\xff", bytes(1 << 20)):
            answer = await check(body, timeout=20)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
            stream = watch(body, timeout=20)
            async for change in stream:
                assert change.status == health_pb2.HealthCheckResponse.SERVING
                break
            stream.cancel()
        assert not reads


# -- limits ------------------------------------------------------------------------------------


async def test_a_message_above_the_limit_of_its_method_is_invalid() -> None:
    async with (
        served(graph=a_cluster(1, 1)) as up,
        grpc.aio.insecure_channel(up.address, options=UNLIMITED) as channel,
    ):
        match = channel.unary_unary(MATCH, jobs_pb2.MatchRequest.SerializeToString, bytes)
        for size, expected in (
            (SMALL - 100, "characters"),
            (SMALL + 1, f"at most {SMALL} for Match"),
        ):
            asked = jobs_pb2.MatchRequest(ask=jobs_pb2.Ask(jobspec="[" * size))
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await match(asked, timeout=60)
            assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert expected in (refused.value.details() or "")


async def test_a_graph_may_be_as_large_as_the_server_takes() -> None:
    async with (
        served() as up,
        grpc.aio.insecure_channel(up.address, options=UNLIMITED) as channel,
    ):
        load = channel.unary_unary(LOAD, resources_pb2.LoadRequest.SerializeToString, bytes)
        padded = a_cluster(1, 2) + " " * (2 * SMALL)
        await load(resources_pb2.LoadRequest(graph=padded), timeout=60)
        assert (await status(channel)).nodes == 1


async def test_a_call_without_a_message_and_bytes_that_are_none_are_invalid() -> None:
    async with served() as up, grpc.aio.insecure_channel(up.address) as channel:

        async def nothing() -> AsyncIterator[bytes]:
            return
            yield b""

        for path in (MATCH, f"{HEALTH}Check"):
            empty = channel.stream_unary(path, bytes, bytes)(nothing(), timeout=20)
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await empty
            assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        call = channel.unary_unary(f"{HEALTH}Check", bytes, bytes)(b"\xff", timeout=20)
        assert await code_of(call) is grpc.StatusCode.INVALID_ARGUMENT


async def test_streams_of_requests_are_read_message_by_message() -> None:
    """Reflection is the one service with such a stream."""
    async with served() as up, grpc.aio.insecure_channel(up.address) as channel:
        call = channel.stream_stream(
            REFLECTION,
            reflection_pb2.ServerReflectionRequest.SerializeToString,
            reflection_pb2.ServerReflectionResponse.FromString,
        )(timeout=20)
        for _ in range(3):
            await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
            answer: Any = await call.read()
            names = {each.name for each in answer.list_services_response.service}
            assert "fluxnetes.v1.JobService" in names
        await call.done_writing()
        assert await call.read() is grpc.aio.EOF


# -- callers that send slowly --------------------------------------------------------------------


@asynccontextmanager
async def slow_callers(address: str, calls: int) -> AsyncIterator[Connection]:
    """A connection with calls of which only the first half of the message is sent."""
    connection = await Connection.open(address.replace("localhost", "127.0.0.1"))
    reading = asyncio.create_task(connection.read())
    half = struct.pack(">BI", 0, 1000) + bytes(500)
    for stream in range(1, 2 * calls, 2):
        connection.streams[stream] = Stream()
        connection.writer.write(headers(stream, MATCH) + frame(DATA, 0, stream, half))
    await connection.round_trip()
    try:
        yield connection
    finally:
        connection.writer.close()
        reading.cancel()


async def test_a_caller_that_sends_slowly_does_not_keep_others_from_being_read() -> None:
    async with (
        served() as up,
        slow_callers(up.address, 20),
        grpc.aio.insecure_channel(up.address) as channel,
    ):
        for _ in range(20):
            assert (await asyncio.wait_for(status(channel), 5)).source == "none"


async def test_callers_that_stop_in_the_middle_lose_their_slots_when_others_wait() -> None:
    """More of them than there are slots, each on a connection of its own."""
    async with AsyncExitStack() as stack:
        up = await stack.enter_async_context(served())
        for _ in range(20):
            await stack.enter_async_context(slow_callers(up.address, 2))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(up.address))
        for _ in range(3):
            assert (await asyncio.wait_for(status(channel), 20)).source == "none"


async def test_a_caller_that_stops_in_the_middle_is_answered_when_it_calls_again() -> None:
    async with served() as up, slow_callers(up.address, 5) as connection:
        stream = 2 * 5 + 1
        connection.streams[stream] = Stream()
        body = frame(DATA, END_STREAM, stream, struct.pack(">BI", 0, 0))
        connection.writer.write(headers(stream, STATUS) + body)
        async with asyncio.timeout(5):
            while not connection.streams[stream].data:
                await asyncio.sleep(0.01)


async def test_a_slow_message_is_read_while_no_other_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "_PATIENCE", 0.05)
    async with served() as up, slow_callers(up.address, 2) as connection:
        await asyncio.sleep(0.3)
        for stream, found in connection.streams.items():
            assert not found.complete
            connection.writer.write(frame(DATA, END_STREAM, stream, bytes(500)))
        async with asyncio.timeout(5):
            while not all(found.complete for found in connection.streams.values()):
                await asyncio.sleep(0.01)


async def test_a_message_that_does_not_arrive_in_time_fails_its_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(receiving, "_TIMEOUT", 0.2)
    async with (
        served() as up,
        slow_callers(up.address, 3) as first,
        slow_callers(up.address, 3),
        grpc.aio.insecure_channel(up.address) as channel,
    ):
        assert (await asyncio.wait_for(status(channel), 20)).source == "none"
        async with asyncio.timeout(20):
            while not all(stream.complete for stream in first.streams.values()):
                await asyncio.sleep(0.01)


async def test_a_caller_holds_at_most_half_of_the_slots() -> None:
    pool = SlotPool(4, 0.5)
    held = {"ada": 0, "bob": 0}
    most = {"ada": 0, "bob": 0}
    go = asyncio.Event()

    async def hold(caller: str) -> None:
        await pool.take(caller)
        held[caller] += 1
        most[caller] = max(most[caller], held[caller])
        await go.wait()
        held[caller] -= 1
        pool.release(caller)

    tasks = [asyncio.create_task(hold("ada")) for _ in range(10)]
    await asyncio.sleep(0)
    tasks += [asyncio.create_task(hold("bob")) for _ in range(10)]
    for _ in range(10):
        await asyncio.sleep(0)
    assert held == {"ada": 2, "bob": 2}
    tasks[2].cancel()
    go.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert held == {"ada": 0, "bob": 0} and most == {"ada": 2, "bob": 2}
    assert not pool._callers
