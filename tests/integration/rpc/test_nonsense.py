"""Malformed and oversized requests."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

from fluxnetes.v1 import resources_pb2 as resources
from tests.integration.rpc.dialects import PATIENCE, service_of
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.jobspecs import slots
from tests.integration.rpc.nasty import all_methods, nonsense, strange
from tests.integration.rpc.ours import Ours
from tests.integration.rpc.process import Serve

ROUNDS = 12
MIB = 1 << 20

OF_OURS = {"INTERNAL", "UNKNOWN", "UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"}
"""How a call ends when something of ours broke."""


def podspec_methods() -> Iterator[tuple[ServiceDescriptor, MethodDescriptor]]:
    service = service_of("podspec")
    for method in service.methods:
        yield service, method


def _plain(data: bytes) -> bytes:
    return data


def send(ours: Ours, service: ServiceDescriptor, method: MethodDescriptor, data: bytes) -> str:
    """Send bytes to a method as they are; how that ended."""
    path = f"/{service.full_name}/{method.name}"
    try:
        if method.server_streaming:
            stream = ours.channel.unary_stream(path, _plain, _plain)(data, timeout=PATIENCE)
            next(stream)
            stream.cancel()
        else:
            ours.channel.unary_unary(path, _plain, _plain)(data, timeout=PATIENCE)
    except grpc.RpcError as error:
        name: str = error.code().name
        return name
    return "OK"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dialect", ["jobspec", "podspec"])
def test_no_bytes_at_all_are_too_much_for_any_method(
    request: pytest.FixtureRequest,
    look: Callable[[Serve], Ours],
    dialect: str,
    seed: int,
) -> None:
    server: Serve = request.getfixturevalue(f"{dialect}_server")
    methods = list(all_methods() if dialect == "jobspec" else podspec_methods())
    ours = look(server)
    ours.load(a_cluster(4, 4))
    draw = random.Random(seed)
    seen: Counter[str] = Counter()
    for _ in range(ROUNDS):
        for service, method in methods:
            for make in (nonsense, strange):
                data = make(draw, method)
                how = send(ours, service, method, data)
                assert how not in OF_OURS, (method.full_name, how, data)
                seen[how] += 1
    assert seen["OK"] > 1 and seen["INVALID_ARGUMENT"] > 10, seen
    assert "Traceback" not in server.log.read_text()
    # Whatever was granted on the way can be given back, and then nothing is missing.
    ours.empty()
    ours.load(a_cluster(1, 1))
    assert ours.match(slots(1, 1)).id == 1


def test_a_method_or_service_that_is_not_there_is_said_to_be_missing(
    jobspec_server: Serve, look: Callable[[Serve], Ours]
) -> None:
    ours = look(jobspec_server)
    for path in ("/fluxion.FluxionService/Destroy", "/missing.Service/Match", "/", "/x"):
        with pytest.raises(grpc.RpcError) as refused:
            ours.channel.unary_unary(path, _plain, _plain)(b"", timeout=PATIENCE)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


# -- large messages --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """A server that takes one MiB."""
    with Serve(tmp_path_factory.mktemp("small"), "--max-message", "1") as server:
        yield server


def padded(size: int) -> resources.LoadRequest:
    """A graph of two cores in a request of so many bytes."""
    graph = a_cluster(1, 2)
    request = resources.LoadRequest(graph=graph + " " * (size - len(graph)))
    request.graph = request.graph[: len(request.graph) - (request.ByteSize() - size)]
    assert request.ByteSize() == size
    return request


def load(server: Serve, request: resources.LoadRequest, how: grpc.Compression) -> int:
    options = [("grpc.max_send_message_length", -1)]
    with grpc.insecure_channel(server.address, options) as channel:
        call = channel.unary_unary(
            "/fluxnetes.v1.ResourceService/Load",
            resources.LoadRequest.SerializeToString,
            resources.LoadResponse.FromString,
        )
        vertices: int = call(request, timeout=PATIENCE, compression=how).vertices
        return vertices


PACKED, PLAIN = grpc.Compression.Gzip, grpc.Compression.NoCompression


@pytest.mark.parametrize("how", [PLAIN, PACKED])
def test_a_message_just_below_the_limit_passes_and_one_just_above_does_not(
    small: Serve, look: Callable[[Serve], Ours], how: grpc.Compression
) -> None:
    assert load(small, padded(MIB), how) == 4
    with pytest.raises(grpc.RpcError) as refused:
        load(small, padded(MIB + 1), how)
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert look(small).free() == {"node0": 2}


def test_what_is_small_on_the_wire_and_large_when_unpacked_is_found_out_in_time(
    small: Serve, look: Callable[[Serve], Ours]
) -> None:
    before = largest_memory(small)
    with pytest.raises(grpc.RpcError) as refused:
        load(small, padded(100 * MIB), PACKED)
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert largest_memory(small) < before + 50 * MIB
    assert look(small).free() == {"node0": 2}


def test_200_mb_in_one_message_are_taken(
    jobspec_server: Serve, look: Callable[[Serve], Ours]
) -> None:
    assert load(jobspec_server, padded(200_000_000), PLAIN) == 4
    assert look(jobspec_server).free() == {"node0": 2}


def largest_memory(server: Serve) -> int:
    """The most bytes that a server ever had."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024
