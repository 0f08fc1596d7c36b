"""Our own API, called as any gRPC library calls it: to look at a server beside the dialects."""

from __future__ import annotations

from collections import Counter
from typing import Any

import grpc
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

from fluxnetes.v1 import jobs_pb2, resources_pb2
from tests.integration.rpc.dialects import PATIENCE

SERVICES = {
    **jobs_pb2.DESCRIPTOR.services_by_name,
    **resources_pb2.DESCRIPTOR.services_by_name,
}


class Ours:
    """A client of `fluxnetes.v1` without any comfort."""

    def __init__(self, address: str, token: str = "") -> None:
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.initial_reconnect_backoff_ms", 50)]
        options += [("grpc.min_reconnect_backoff_ms", 50), ("grpc.max_reconnect_backoff_ms", 200)]
        self.channel = grpc.insecure_channel(address, options)
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()

    def __enter__(self) -> Ours:
        return self

    def __exit__(self, *error: object) -> None:
        self.channel.close()

    def __call__(self, request: Message) -> Any:
        """Send a request to where it belongs, which its name says."""
        name = request.DESCRIPTOR.name.removesuffix("Request")
        [service] = [each for each in SERVICES.values() if name in each.methods_by_name]
        path = f"/{service.full_name}/{name}"
        read = GetMessageClass(service.methods_by_name[name].output_type).FromString
        call = self.channel.unary_unary(path, _write, read)
        return call(request, timeout=PATIENCE, wait_for_ready=True, metadata=self._metadata)

    # -- what tests look at again and again ------------------------------------------------------

    def load(self, graph: str, policy: str = "", format: str = "jgf") -> None:
        self(resources_pb2.LoadRequest(graph=graph, policy=policy, format=format))

    def match(self, jobspec: str, *, reserve: bool = False, key: str = "") -> jobs_pb2.Job:
        asked = jobs_pb2.MatchRequest(
            ask=jobs_pb2.Ask(jobspec=jobspec), reserve=reserve, request_id=key
        )
        job: jobs_pb2.Job = self(asked).job
        return job

    def nodes(self) -> list[resources_pb2.Node]:
        return list(self(resources_pb2.ListNodesRequest(page_size=10_000)).nodes)

    def free(self, type: str = "core") -> dict[str, int]:
        """What is free, node by node."""
        return {
            node.name: sum(pool.free for pool in node.pools if pool.type == type)
            for node in self.nodes()
        }

    def is_idle(self) -> bool:
        """Whether nothing is held."""
        return all(not node.shares for node in self.nodes())

    def empty(self) -> None:
        """Cancel all that has anything; then nothing may be missing."""
        while jobs := self.holders():
            for job in jobs:
                self(jobs_pb2.CancelRequest(job=job, missing_ok=True))
        for node in self.nodes():
            for pool in node.pools:
                assert pool.free == pool.total, node

    def holders(self) -> dict[int, Counter[str]]:
        """The cores that each job has, by node."""
        found: dict[int, Counter[str]] = {}
        for node in self.nodes():
            for share in node.shares:
                found.setdefault(share.job, Counter())[node.name] += share.amounts["core"]
        return found


def reason(error: grpc.RpcError) -> str:
    """Which of the ways to say no it is, as the details say for programs."""
    info = ErrorInfo()
    status = details(error)
    assert status.details[0].Unpack(info)
    assert info.domain == "fluxnetes.io"
    name: str = info.reason
    return name


def field(error: grpc.RpcError) -> str:
    """The path to what is wrong."""
    bad = BadRequest()
    assert details(error).details[1].Unpack(bad)
    path: str = bad.field_violations[0].field
    return path


def details(error: grpc.RpcError) -> Status:
    assert isinstance(error, grpc.Call)
    metadata = dict(error.trailing_metadata() or ())
    status = Status.FromString(metadata["grpc-status-details-bin"])
    assert (status.code, status.message) == (error.code().value[0], error.details())
    return status


def _write(message: Message) -> bytes:
    return message.SerializeToString()
