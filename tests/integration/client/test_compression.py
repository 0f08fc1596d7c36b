"""Large answers are compressed for clients that announce it, and for no others."""

from __future__ import annotations

import asyncio

import grpc

from fluxnetes.client import Client
from fluxnetes.v1.resources_pb2 import LoadRequest, LoadResponse
from tests.integration.client.conftest import Connect
from tests.integration.client.line import Line
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.http2 import Connection
from tests.integration.rpc.process import Serve

GRAPH = "/service.ExternalPluginService/GetResources"


def test_our_clients_have_large_answers_compressed(
    client: Client, serve: Serve, connect: Connect
) -> None:
    client.load(a_cluster(nodes=8000, cores=1))
    with Line(serve.address) as line:
        nodes = connect(line.address).nodes(*(f"node{n}" for n in range(8000)))
        size = sum(len(node.name) + len(node.path) for node in nodes)
        assert len(nodes) == 8000
        assert line.answered < size / 2


def test_a_client_that_does_not_ask_for_it_can_read_every_answer(
    client: Client, serve: Serve
) -> None:
    """Go clients cannot read what is compressed, unless their program was made so."""

    client.load(a_cluster(nodes=2000, cores=4))

    async def flag() -> int:
        connection = await Connection.open(serve.address)
        reading = asyncio.create_task(connection.read())
        stream = connection.streams[connection.call(GRAPH, b"")]
        async with asyncio.timeout(30):
            while not stream.complete:
                await asyncio.sleep(0.01)
        reading.cancel()
        connection.writer.close()
        assert len(stream.data) > 1 << 20
        return stream.data[0]

    assert asyncio.run(flag()) == 0


def test_requests_may_be_compressed(serve: Serve) -> None:
    with Line(serve.address) as line, grpc.insecure_channel(line.address) as channel:
        load = channel.unary_unary(
            "/fluxnetes.v1.ResourceService/Load",
            LoadRequest.SerializeToString,
            LoadResponse.FromString,
        )
        request = LoadRequest(graph=a_cluster(nodes=2000, cores=4))
        assert load(request, compression=grpc.Compression.Gzip).vertices == 10_001
        assert line.asked < request.ByteSize() / 4
