"""A server in the test's own loop, on a real socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc

from fluxnetes.rpc.dialects.choice import DEFAULT_DIALECTS, services
from fluxnetes.rpc.server import GrpcServer, ServerSettings, serving
from fluxnetes.service.matcher_backend import MatcherBackend
from fluxnetes.service.matcher_ops import MatcherOperations
from fluxnetes.v1 import resources_pb2 as v1

STATUS = "/fluxnetes.v1.ResourceService/GetStatus"
WATCH = "/fluxnetes.v1.ResourceService/WatchResources"


@dataclass(frozen=True)
class Served:
    """A server that serves, and what it serves."""

    server: GrpcServer
    backend: MatcherBackend

    @property
    def address(self) -> str:
        return f"localhost:{self.server.port}"


@asynccontextmanager
async def served(
    settings: ServerSettings | None = None,
    dialects: tuple[str, ...] = DEFAULT_DIALECTS,
    graph: str = "",
) -> AsyncIterator[Served]:
    backend = MatcherBackend(MatcherOperations())
    try:
        if graph:
            await backend.load(graph, "jgf", "")
        settings = settings or ServerSettings("127.0.0.1:0")
        async with serving(services(backend, dialects), settings) as server:
            yield Served(server, backend)
    finally:
        await backend.close()


async def status(channel: grpc.aio.Channel, token: str | None = None) -> v1.GetStatusResponse:
    """Any call of ours; it needs nothing to be there."""
    call = channel.unary_unary(
        STATUS, v1.GetStatusRequest.SerializeToString, v1.GetStatusResponse.FromString
    )
    metadata = () if token is None else (("authorization", token),)
    answer: v1.GetStatusResponse = await call(v1.GetStatusRequest(), timeout=20, metadata=metadata)
    return answer
