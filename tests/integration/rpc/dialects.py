"""Clients of the old services, generated from messages alone.

Each dialect's .proto is compiled by a protoc of its own process and loaded into a pool of its own:
two of them give one name to different messages, and nothing of ours may help them.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

PROTOS = Path(__file__).parent / "protos"
PATIENCE = 30.0

OUTCOME = "fluxnetes-outcome"
REASON = "fluxnetes-reason"


@cache
def service_of(dialect: str) -> ServiceDescriptor:
    """The one service that a dialect's .proto has."""
    [file] = (PROTOS / dialect).glob("*.proto")
    line = [sys.executable, "-m", "grpc_tools.protoc", f"-I{file.parent}"]
    line += ["--descriptor_set_out=/dev/stdout", str(file)]
    compiled = subprocess.run(line, capture_output=True, check=True).stdout
    pool = DescriptorPool()
    [described] = FileDescriptorSet.FromString(compiled).file
    pool.Add(described)
    [service] = pool.FindFileByName(described.name).services_by_name.values()
    return service


class OldClient:
    """A client of one dialect on one connection.

    `client("Match", jobspec=..., reservation=True)` calls and returns the answer; the trailing
    metadata is in `metadata` then.
    """

    def __init__(self, dialect: str, address: str) -> None:
        # Each client has a connection of its own, and comes back soon to a server that does.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.initial_reconnect_backoff_ms", 50)]
        options += [("grpc.min_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 200)]
        self.channel = grpc.insecure_channel(address, options)
        self.metadata: dict[str, str] = {}
        self._service = service_of(dialect)
        self._calls = {each.name: self._stub(each) for each in self._service.methods}

    def _stub(self, method: MethodDescriptor) -> grpc.UnaryUnaryMultiCallable[Any, Any]:
        path = f"/{self._service.full_name}/{method.name}"
        read = GetMessageClass(method.output_type).FromString
        return self.channel.unary_unary(path, _write, read)

    def message(self, method: str, **fields: Any) -> Any:
        """What a call is asked with."""
        return GetMessageClass(self._service.methods_by_name[method].input_type)(**fields)

    def __call__(self, method: str, **fields: Any) -> Any:
        return self.send(method, self.message(method, **fields))

    def send(self, method: str, message: Any, timeout: float = PATIENCE) -> Any:
        """The same, with a message or with bytes that pass for one."""
        found, call = self._calls[method].with_call(message, timeout=timeout, wait_for_ready=True)
        self.metadata = {str(key): str(value) for key, value in call.trailing_metadata() or ()}
        return found

    def later(self, method: str, **fields: Any) -> grpc.Future[Any]:
        """A call that is under way."""
        message = self.message(method, **fields)
        return self._calls[method].future(message, timeout=PATIENCE, wait_for_ready=True)

    def close(self) -> None:
        self.channel.close()


def _write(message: Any) -> bytes:
    data: bytes = message if isinstance(message, bytes) else message.SerializeToString()
    return data
