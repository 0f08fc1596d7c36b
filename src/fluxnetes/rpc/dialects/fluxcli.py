"""What Fluence's clients say: a group of equal pods, all of them now or none."""

from __future__ import annotations

from contextlib import suppress

from fluxnetes.rpc.call import GrpcCall, no_fit
from fluxnetes.rpc.callers import user_of
from fluxnetes.rpc.dialects.pods import read_pods
from fluxnetes.rpc.wire import fluxcli_pb2 as wire
from fluxnetes.service.backend import Backend
from fluxnetes.service.errors import UnknownJob
from fluxnetes.service.values import MatchCall


class FluxcliDialect:
    """`fluxcli.FluxcliService`."""

    name = "fluxcli.FluxcliService"
    service = wire.DESCRIPTOR.services_by_name["FluxcliService"]

    def __init__(self, backend: Backend) -> None:
        self._host = backend

    async def match(self, request: wire.MatchRequest, call: GrpcCall) -> wire.MatchResponse:
        """Nodes for all pods. A client that is given too few would take what it gets, so it is
        given none, and an error."""
        asked = request.ps
        pods = read_pods(asked, request.count)
        grant = await self._host.match(
            MatchCall(pods, name=asked.id, size=pods.count, user=user_of())
        )
        if not grant:
            raise no_fit(grant, "Allocation was not possible: ")
        call.withdraw_if_lost(self._host, grant)
        nodes = (wire.NodeAlloc(nodeID=each.node, tasks=each.tasks) for each in grant.shares)
        return wire.MatchResponse(podID=asked.id, nodelist=nodes, jobID=grant.job)

    async def cancel(self, request: wire.CancelRequest, call: GrpcCall) -> wire.CancelResponse:
        """It is well if there is no such job, as it always was."""
        with suppress(UnknownJob):
            await self._host.cancel(request.jobID)
        return wire.CancelResponse(jobID=request.jobID)
