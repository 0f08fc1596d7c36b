"""The memory that callers can take with large messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from tests.integration.rpc.dialects import PATIENCE
from tests.integration.rpc.process import Serve

MIB = 1 << 20
COPIES = 4
"""Of a message while it is read: what gRPC received, and as it is copied into Python's bytes."""
TOKEN = "0123456789abcdef"  # noqa: S105 - of these tests
MATCH, HEALTH = "/fluxion.FluxionService/Match", "/grpc.health.v1.Health/Check"
INIT = "/fluxion.FluxionService/Init"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serve]:
    """A server whose callers need tokens."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ada {TOKEN}\n")
    tokens.chmod(0o600)
    with Serve(tmp_path, "--token-file", tokens) as server:
        yield server


def send(server: Serve, path: str, size: int, callers: int, token: str = "") -> set[str]:
    """Callers that each send a message, at the same time; how their calls end."""
    options = [("grpc.max_send_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    channels = [grpc.insecure_channel(server.address, options) for _ in range(callers)]
    body = bytes(size)
    calls = [
        channel.unary_unary(path, bytes, bytes).future(body, timeout=PATIENCE, metadata=metadata)
        for channel in channels
    ]
    codes = {call.code().name for call in calls}
    for channel in channels:
        channel.close()
    return codes


def largest_memory(server: Serve) -> int:
    """The most bytes that a server ever had."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def test_callers_without_a_token_take_no_memory_however_much_they_send(server: Serve) -> None:
    before, size = largest_memory(server), 128 * MIB
    for path in (MATCH, INIT, "/missing.Service/Method"):
        assert send(server, path, size, 3) == {"UNAUTHENTICATED"}
    assert send(server, MATCH, size, 3, "x" * len(TOKEN)) == {"UNAUTHENTICATED"}
    assert send(server, HEALTH, size, 3) == {"OK"}
    assert largest_memory(server) < before + 64 * MIB


def test_a_caller_with_a_token_takes_the_memory_of_its_slots(server: Serve) -> None:
    """Two slots, however many calls it makes; and none for a method that does not exist."""
    before, size = largest_memory(server), 64 * MIB
    assert send(server, "/missing.Service/Method", size, 3, TOKEN) == {"UNIMPLEMENTED"}
    assert largest_memory(server) < before + size
    assert send(server, MATCH, size, 8, TOKEN) == {"INVALID_ARGUMENT"}
    assert largest_memory(server) < before + 2 * COPIES * size
