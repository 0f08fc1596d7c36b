"""The server around the services: its address, its health, and what it does to errors of ours."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from grpc_health.v1 import health_pb2

from fluxnetes.rpc.server import CannotListen, ServerSettings
from fluxnetes.v1 import jobs_pb2 as v1
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.jobspecs import slots
from tests.unit.rpc.serving import served, status

UP, DOWN = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
SERVICES = ("", "fluxnetes.v1.JobService", "fluxion.FluxionService")


async def check(channel: grpc.aio.Channel, service: str = "") -> int:
    call = channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        health_pb2.HealthCheckRequest.SerializeToString,
        health_pb2.HealthCheckResponse.FromString,
    )
    answer = await call(health_pb2.HealthCheckRequest(service=service), timeout=20)
    number: int = answer.status
    return number


async def test_a_server_and_its_services_are_healthy_or_not_together() -> None:
    async with served() as up, grpc.aio.insecure_channel(up.address) as channel:
        for healthy, expected in ((True, UP), (False, DOWN), (True, UP)):
            await up.server.set_healthy(healthy)
            for service in SERVICES:
                assert await check(channel, service) == expected


async def test_the_health_of_a_service_that_is_not_there_is_not_known() -> None:
    async with served(dialects=()) as up, grpc.aio.insecure_channel(up.address) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as unknown:
            await check(channel, "fluxion.FluxionService")
        assert unknown.value.code() is grpc.StatusCode.NOT_FOUND


async def test_a_watcher_of_health_learns_that_the_server_stops() -> None:
    received: list[int] = []

    async def watch(channel: grpc.aio.Channel) -> None:
        call = channel.unary_stream(
            "/grpc.health.v1.Health/Watch",
            health_pb2.HealthCheckRequest.SerializeToString,
            health_pb2.HealthCheckResponse.FromString,
        )
        stream = call(health_pb2.HealthCheckRequest(), timeout=20)
        async for answer in stream:
            received.append(answer.status)
            if answer.status == DOWN:
                stream.cancel()
                return

    async with served() as up:
        channel = grpc.aio.insecure_channel(up.address)
        watching = asyncio.create_task(watch(channel))
        while not received:
            await asyncio.sleep(0.01)
    await watching
    await channel.close()
    assert received == [UP, DOWN]


async def test_an_address_that_is_taken_is_said_to_be() -> None:
    async with served() as up:
        with pytest.raises(CannotListen, match=f"cannot listen on 127.0.0.1:{up.server.port}"):
            async with served(ServerSettings(f"127.0.0.1:{up.server.port}")):
                pass


async def test_an_internal_error_is_reported_logged_and_fails_one_call(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with served() as up, grpc.aio.insecure_channel(up.address) as channel:

        async def fail() -> None:
            raise ZeroDivisionError("a secret of ours")

        with monkeypatch.context() as patched:
            patched.setattr(up.backend, "status", fail)
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await status(channel)
        assert failed.value.code() is grpc.StatusCode.INTERNAL
        assert "secret" not in (failed.value.details() or "")
        assert "ZeroDivisionError: a secret of ours" in caplog.text
        assert (await status(channel)).source == "none"


async def test_calls_that_are_under_way_when_the_server_stops_are_answered_or_undone() -> None:
    async with served(graph=a_cluster(1, 100)) as up:
        channel = grpc.aio.insecure_channel(up.address)
        match = channel.unary_unary(
            "/fluxnetes.v1.JobService/Match",
            v1.MatchRequest.SerializeToString,
            v1.MatchResponse.FromString,
        )
        asked = v1.MatchRequest(ask=v1.Ask(jobspec=slots(1, 1)))
        await match(asked, timeout=20)
        calls = [asyncio.ensure_future(match(asked, timeout=20)) for _ in range(50)]
        while len(up.backend._operations.notes) < 2:
            await asyncio.sleep(0)
    found = await asyncio.gather(*calls, return_exceptions=True)
    await channel.close()
    answered = {each.job.id for each in found if not isinstance(each, BaseException)}
    assert answered
    assert answered | {1} == set(up.backend._operations.notes)
