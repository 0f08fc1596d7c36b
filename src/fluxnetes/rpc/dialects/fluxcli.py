"""The dialect of Fluence's clients: a group of equal pods, all of them now or none."""

from __future__ import annotations

from contextlib import suppress

from fluxnetes.rpc.call import GrpcCall, no_fit
from fluxnetes.rpc.callers import current_caller, user_of
from fluxnetes.rpc.dialects.pods import read_pods
from fluxnetes.rpc.wire import fluxcli_pb2 as wire
from fluxnetes.service.backend import Backend
from fluxnetes.service.errors import UnknownJob
from fluxnetes.service.values import MatchCall


class FluxcliDialect:
    """`fluxcli.FluxcliService`."""

    name = "fluxcli.FluxcliService"
    service = wire.DESCRIPTOR.services_by_name["FluxcliService"]
    bulk: frozenset[str] = frozenset()

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def match(self, request: wire.MatchRequest, call: GrpcCall) -> wire.MatchResponse:
        """Nodes for all pods. Its clients would use an answer with too few nodes, so a match that
        finds none is an error."""
        asked = request.ps
        pods = read_pods(asked, request.count)
        grant = await self._backend.match(
            MatchCall(pods, name=asked.id, size=pods.count, user=user_of())
        )
        if not grant:
            raise no_fit(grant, "Allocation was not possible: ")
        call.withdraw_if_lost(self._backend, grant)
        nodes = (wire.NodeAlloc(nodeID=each.node, tasks=each.tasks) for each in grant.shares)
        return wire.MatchResponse(podID=asked.id, nodelist=nodes, jobID=grant.job)

    async def cancel(self, request: wire.CancelRequest, call: GrpcCall) -> wire.CancelResponse:
        """As in the old service, a job that does not exist is no error."""
        with suppress(UnknownJob):
            await self._backend.cancel(request.jobID, caller=current_caller())
        return wire.CancelResponse(jobID=request.jobID)
