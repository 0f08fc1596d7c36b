"""The gRPC server: which services, on which address, how guarded, within which limits.

    async with serving(services, Settings("127.0.0.1:4242")) as server:
        ...

Health and reflection are always on. Health of the whole server is the empty name; a service is
healthy when the server is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc
from grpc_health.v1 import health
from grpc_health.v1.health_pb2 import HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import add_HealthServicer_to_server

from fluxnetes.rpc.credentials import CertificateFiles
from fluxnetes.rpc.guard import TokenGuard
from fluxnetes.rpc.handlers import GrpcService, handler_of
from fluxnetes.rpc.reflection import add_reflection

PORT = 4242
LARGEST = 1 << 30
"""No message may be larger. A graph of 10,000 nodes of 16 cores is about 80 MB."""
MOST_CALLS = 4096
"""No more calls at one time, streams included; more are told to come back later."""
_MINUTE_MS = 60_000
_GRACE = 2.0

_UP, _DOWN = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where and how a server serves."""

    address: str = f"127.0.0.1:{PORT}"
    files: CertificateFiles | None = None
    """None: in plain text."""
    guard: TokenGuard | None = None
    """Who may call; None: everybody."""
    largest: int = LARGEST


class CannotListen(OSError):  # noqa: N818 - reads better where it is raised and caught
    """The address cannot be had."""


@dataclass(slots=True, eq=False)
class GrpcServer:
    """A server that serves."""

    port: int
    _health: health.aio.HealthServicer
    _names: tuple[str, ...]

    async def set_healthy(self, healthy: bool) -> None:
        """Say whether calls will be answered, to whoever asks before it calls."""
        for name in ("", *self._names):
            await self._health.set(name, _UP if healthy else _DOWN)


@asynccontextmanager
async def serving(
    services: Sequence[GrpcService], settings: ServerSettings
) -> AsyncIterator[GrpcServer]:
    """A server, for as long as the block lasts; then calls have a moment to be answered."""
    guards = () if settings.guard is None else (settings.guard,)
    grpc_server = grpc.aio.server(
        options=_options(settings.largest),
        interceptors=guards,
        maximum_concurrent_rpcs=MOST_CALLS,
    )
    names = tuple(service.name for service in services)
    checks = health.aio.HealthServicer()
    grpc_server.add_generic_rpc_handlers([handler_of(service) for service in services])
    add_HealthServicer_to_server(checks, grpc_server)
    add_reflection(grpc_server, services)
    server = GrpcServer(_listen(grpc_server, settings), checks, names)
    await grpc_server.start()
    await server.set_healthy(True)
    try:
        yield server
    finally:
        await checks.enter_graceful_shutdown()
        await grpc_server.stop(_GRACE)


def _listen(server: grpc.aio.Server, settings: ServerSettings) -> int:
    try:
        if settings.files is None:
            port = server.add_insecure_port(settings.address)
        else:
            port = server.add_secure_port(settings.address, settings.files.credentials())
    except RuntimeError as error:
        raise CannotListen(f"cannot listen on {settings.address}: {error}") from error
    if not port:
        raise CannotListen(f"cannot listen on {settings.address}")
    return port


def _options(largest: int) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", largest),
        ("grpc.max_send_message_length", largest),
        # Two servers on one port would each have half of the calls, and neither all of the jobs.
        ("grpc.so_reuseport", 0),
        # The old services close what is idle after five minutes; clients come back.
        ("grpc.max_connection_idle_ms", 5 * _MINUTE_MS),
        # A client that is gone without a word is found out.
        ("grpc.keepalive_time_ms", _MINUTE_MS),
        ("grpc.keepalive_timeout_ms", _MINUTE_MS // 3),
        ("grpc.http2.min_ping_interval_without_data_ms", _MINUTE_MS // 6),
    ]
