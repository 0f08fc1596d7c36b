"""The dialect of the first Fluxnetes: a group of equal pods, now, later or not at all."""

from __future__ import annotations

from fluxnetes.match.answers import Outcome
from fluxnetes.rpc.call import GrpcCall
from fluxnetes.rpc.callers import current_caller, user_of
from fluxnetes.rpc.dialects.pods import read_pods
from fluxnetes.rpc.wire import podspec_pb2 as wire
from fluxnetes.service.backend import Backend
from fluxnetes.service.errors import UnknownJob
from fluxnetes.service.values import MatchCall


class PodspecDialect:
    """`fluxion.FluxionService` of pods."""

    name = "fluxion.FluxionService"
    service = wire.DESCRIPTOR.services_by_name["FluxionService"]
    bulk: frozenset[str] = frozenset()

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def match(self, request: wire.MatchRequest, call: GrpcCall) -> wire.MatchResponse:
        """A reservation is not reported as allocated, which the old service did. Where none can be
        made, a busy match is an error: its client cancels a job that is neither."""
        asked = request.podspec
        pods = read_pods(asked, request.count)
        name = request.jobName or asked.id
        match_call = MatchCall(pods, request.reserve, name=name, size=pods.count, user=user_of())
        grant = await self._backend.match(match_call)
        if not grant:
            call.add_no_fit(grant, request.reserve)
            return wire.MatchResponse(fluxID=grant.job)
        call.withdraw_if_lost(self._backend, grant)
        nodes = (wire.NodeAlloc(nodeID=each.node, tasks=each.tasks) for each in grant.shares)
        later = grant.outcome is Outcome.RESERVED
        return wire.MatchResponse(
            fluxID=grant.job,
            nodelist=nodes,
            reserved=later,
            reserved_at=grant.at if later else 0,
            allocated=not later,
        )

    async def cancel(self, request: wire.CancelRequest, call: GrpcCall) -> wire.CancelResponse:
        try:
            await self._backend.cancel(request.fluxID, caller=current_caller())
        except UnknownJob:
            if not request.NoExistOK:
                raise
        return wire.CancelResponse(fluxID=request.fluxID)
