"""Reflection: tools see every service under its name on the wire, and what it says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha import reflection_pb2

from tests.integration.rpc.dialects import service_of
from tests.unit.rpc.serving import served

OF_EVERY_SERVER = {"grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}
OURS = {"fluxnetes.v1.JobService", "fluxnetes.v1.ResourceService"}


async def ask(channel: grpc.aio.Channel, **what: str) -> reflection_pb2.ServerReflectionResponse:
    call = channel.stream_stream(
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        reflection_pb2.ServerReflectionRequest.SerializeToString,
        reflection_pb2.ServerReflectionResponse.FromString,
    )

    async def asked() -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
        yield reflection_pb2.ServerReflectionRequest(**what)

    async for answer in call(asked(), timeout=20):
        return answer
    raise AssertionError("there was no answer")


async def listed(channel: grpc.aio.Channel) -> set[str]:
    answer = await ask(channel, list_services="")
    return {service.name for service in answer.list_services_response.service}


async def pool_of(channel: grpc.aio.Channel, symbols: Iterable[str]) -> DescriptorPool:
    """All that tools need to know to call these services, put together as they do."""
    pool, seen = DescriptorPool(), set[str]()

    async def add(answer: reflection_pb2.ServerReflectionResponse) -> None:
        for data in answer.file_descriptor_response.file_descriptor_proto:
            file = FileDescriptorProto.FromString(data)
            if file.name in seen:
                continue
            seen.add(file.name)
            for needed in file.dependency:
                await add(await ask(channel, file_by_filename=needed))
            pool.Add(file)

    for symbol in symbols:
        await add(await ask(channel, file_containing_symbol=symbol))
    return pool


@pytest.mark.parametrize(
    ("dialects", "names"),
    [
        ((), set()),
        (("jobspec",), {"fluxion.FluxionService"}),
        (("podspec",), {"fluxion.FluxionService"}),
        (
            ("jobspec", "fluxcli", "external"),
            {
                "fluxion.FluxionService",
                "fluxcli.FluxcliService",
                "service.ExternalPluginService",
            },
        ),
    ],
)
async def test_services_are_listed_under_their_names_on_the_wire(
    dialects: tuple[str, ...], names: set[str]
) -> None:
    async with served(dialects=dialects) as up, grpc.aio.insecure_channel(up.address) as channel:
        assert await listed(channel) == names | OURS | OF_EVERY_SERVER


@pytest.mark.parametrize("dialect", ["jobspec", "podspec", "fluxcli", "external"])
async def test_reflection_of_an_old_dialect_is_what_its_clients_were_made_from(
    dialect: str,
) -> None:
    """Names, numbers and types of all fields of all messages that are sent."""
    old = service_of(dialect)
    async with (
        served(dialects=(dialect,)) as up,
        grpc.aio.insecure_channel(up.address) as channel,
    ):
        pool = await pool_of(channel, [old.full_name])
    reflected = pool.FindServiceByName(old.full_name)
    assert [method.name for method in reflected.methods] == [method.name for method in old.methods]
    for method in old.methods:
        other = reflected.methods_by_name[method.name]
        assert _shape(other.input_type) == _shape(method.input_type)
        assert _shape(other.output_type) == _shape(method.output_type)


def _shape(message: object) -> dict[str, object]:
    """A message without the comments and files around it."""
    fields = message.fields  # type: ignore[attr-defined]
    return {
        each.name: (
            each.number,
            each.type,
            each.is_repeated,
            _shape(each.message_type) if each.message_type else None,
            [(v.name, v.number) for v in each.enum_type.values] if each.enum_type else None,
        )
        for each in fields
    }


async def test_all_services_can_be_called_by_what_reflection_says() -> None:
    """As grpcurl does it."""
    async with served() as up, grpc.aio.insecure_channel(up.address) as channel:
        names = await listed(channel)
        pool = await pool_of(channel, sorted(names))
        for name in names:
            assert pool.FindServiceByName(name).methods
        method = pool.FindMethodByName("fluxnetes.v1.ResourceService.GetStatus")
        asked: Any = GetMessageClass(method.input_type)()
        call = channel.unary_unary("/fluxnetes.v1.ResourceService/GetStatus", bytes, bytes)
        data = await call(asked.SerializeToString(), timeout=20)
        answer: Any = GetMessageClass(method.output_type).FromString(data)
        assert answer.policy == "lonode"


async def test_nothing_of_our_own_naming_leaks_out() -> None:
    async with served() as up, grpc.aio.insecure_channel(up.address) as channel:
        pool = await pool_of(channel, ["fluxion.FluxionService", "fluxcli.FluxcliService"])
        for name in ("fluxion.MatchRequest", "fluxcli.PodSpec"):
            assert pool.FindMessageTypeByName(name)
        answer = await ask(
            channel, file_containing_symbol="fluxnetes.rpc.wire.jobspec.MatchRequest"
        )
        assert answer.WhichOneof("message_response") == "error_response"
