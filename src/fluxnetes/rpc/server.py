"""The gRPC server: its services, address, credentials, authentication and limits.

    async with serving(services, ServerSettings("127.0.0.1:4242")) as server:
        ...

Health and reflection are always on. The empty name is the health of the whole server; every service
has the same health.
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
from fluxnetes.rpc.receiving import MessageReceiver
from fluxnetes.rpc.reflection import add_reflection

PORT = 4242
LARGEST = 1 << 30
"""Maximum bytes of a message with a graph. One of 10,000 nodes of 16 cores is about 80 MB."""
MOST_CALLS = 4096
"""Maximum concurrent calls, streams included; more are refused with RESOURCE_EXHAUSTED."""
_MINUTE_MS = 60_000
_GRACE = 2.0
"""Seconds that calls in progress have when the server stops, before they are cancelled."""

_UP, _DOWN = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The address, credentials and limits of a server."""

    address: str = f"127.0.0.1:{PORT}"
    files: CertificateFiles | None = None
    """None: plain text."""
    guard: TokenGuard | None = None
    """None: every client may call."""
    largest: int = LARGEST


class CannotListen(OSError):  # noqa: N818 - reads better where it is raised and caught
    """The server cannot listen on its address."""


@dataclass(slots=True, eq=False)
class GrpcServer:
    """A running server."""

    port: int
    _health: health.aio.HealthServicer
    _names: tuple[str, ...]

    async def set_healthy(self, healthy: bool) -> None:
        """Set what health checks are answered."""
        for name in ("", *self._names):
            await self._health.set(name, _UP if healthy else _DOWN)


@asynccontextmanager
async def serving(
    services: Sequence[GrpcService], settings: ServerSettings
) -> AsyncIterator[GrpcServer]:
    """Run a server during the block; then calls in progress have a grace period."""
    receiver = MessageReceiver(settings.largest, _bulk_methods(services))
    grpc_server = grpc.aio.server(
        options=_options(settings.largest),
        interceptors=(receiver,) if settings.guard is None else (settings.guard, receiver),
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


def _bulk_methods(services: Sequence[GrpcService]) -> set[str]:
    return {f"/{service.name}/{method}" for service in services for method in service.bulk}


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
        # Two servers on one port would each get half of the calls, and neither all jobs.
        ("grpc.so_reuseport", 0),
        # As in the old services, idle connections are closed; clients reconnect.
        ("grpc.max_connection_idle_ms", 5 * _MINUTE_MS),
        # Detects clients that vanished without closing the connection.
        ("grpc.keepalive_time_ms", _MINUTE_MS),
        ("grpc.keepalive_timeout_ms", _MINUTE_MS // 3),
        ("grpc.http2.min_ping_interval_without_data_ms", _MINUTE_MS // 6),
    ]
