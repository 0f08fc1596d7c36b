"""The dialect of the old external service: the graph, and groups of pods.

Its answer to ListGroups has one name and one number. So the name is a list of all names, separated
by commas, and the number is their count.
"""

from __future__ import annotations

from fluxnetes.rpc.call import GrpcCall
from fluxnetes.rpc.callers import current_caller
from fluxnetes.rpc.wire import external_pb2 as wire
from fluxnetes.service.backend import Backend
from fluxnetes.service.errors import UnknownJob


class ExternalDialect:
    """`service.ExternalPluginService`."""

    name = "service.ExternalPluginService"
    service = wire.DESCRIPTOR.services_by_name["ExternalPluginService"]
    bulk: frozenset[str] = frozenset()

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def get_resources(
        self, request: wire.ResourceRequest, call: GrpcCall
    ) -> wire.ResourceResponse:
        return wire.ResourceResponse(graph=await self._backend.text())

    async def list_groups(self, request: wire.GroupRequest, call: GrpcCall) -> wire.GroupResponse:
        """All groups; with a name, those whose names begin with it."""
        groups = await self._backend.groups(current_caller())
        names = [group.name for group in groups if group.name.startswith(request.group)]
        return wire.GroupResponse(name=",".join(names), size=len(names))

    async def get_group(self, request: wire.GroupRequest, call: GrpcCall) -> wire.GroupResponse:
        for group in await self._backend.groups(current_caller()):
            if group.name == request.group:
                return wire.GroupResponse(name=group.name, size=group.size)
        raise UnknownJob(f"there is no group {request.group!r}")
