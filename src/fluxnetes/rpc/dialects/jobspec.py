"""The dialect of the Fluxion service's clients: a graph, then jobspecs to match on it.

A match that finds nothing is an answer, not an error: its status says so, and the trailing metadata
whether the request is busy or unsatisfiable. Only a busy match that asked for a reservation and got
none is an error: Fluxqueue gives a job up for ever on such an answer, and retries an error.
"""

from __future__ import annotations

from fluxnetes.match.answers import Outcome
from fluxnetes.rpc.call import GrpcCall
from fluxnetes.rpc.callers import current_caller, user_of
from fluxnetes.rpc.wire import jobspec_pb2 as wire
from fluxnetes.service.backend import Backend
from fluxnetes.service.errors import Denied, UnknownJob
from fluxnetes.service.requests.jobspec_cache import read_jobspec
from fluxnetes.service.values import MatchCall
from fluxnetes.service.views.allocation_text import JGF_IN_FULL

_INIT = wire.InitResponse
_MATCH = wire.MatchResponse
_CANCEL = wire.CancelResponse


class JobspecDialect:
    """`fluxion.FluxionService` of jobspecs."""

    name = "fluxion.FluxionService"
    service = wire.DESCRIPTOR.services_by_name["FluxionService"]
    bulk = frozenset({"Init", "Grow"})

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def init(self, request: wire.InitRequest, call: GrpcCall) -> wire.InitResponse:
        try:
            await self._backend.load(request.jgf, "jgf", request.policy, current_caller())
        except Denied as denied:
            call.add_outcome("denied", str(denied))
            return wire.InitResponse(status=_INIT.INIT_DENIED)
        return wire.InitResponse(status=_INIT.INIT_SUCCESS)

    async def match(self, request: wire.MatchRequest, call: GrpcCall) -> wire.MatchResponse:
        jobspec, reserve = await read_jobspec(request.jobspec), request.reservation
        match_call = MatchCall(jobspec, reserve, format=JGF_IN_FULL, user=user_of())
        try:
            grant = await self._backend.match(match_call)
        except Denied as denied:
            call.add_outcome("denied", str(denied))
            return wire.MatchResponse(status=_MATCH.MATCH_DENIED)
        if not grant:
            call.add_no_fit(grant, reserve)
            return wire.MatchResponse(
                jobid=grant.job, overhead=grant.overhead, status=_MATCH.MATCH_ERROR
            )
        call.withdraw_if_lost(self._backend, grant)
        return wire.MatchResponse(
            allocation=grant.text,
            jobid=grant.job,
            reserved=grant.outcome is Outcome.RESERVED,
            at=grant.at,
            overhead=grant.overhead,
        )

    async def cancel(self, request: wire.CancelRequest, call: GrpcCall) -> wire.CancelResponse:
        """As in the old service, a job that does not exist is no error."""
        try:
            await self._backend.cancel(request.jobID, caller=current_caller())
        except UnknownJob:
            pass
        except Denied as denied:
            call.add_outcome("denied", str(denied))
            return wire.CancelResponse(jobID=request.jobID, status=_CANCEL.CANCEL_DENIED)
        return wire.CancelResponse(jobID=request.jobID)

    async def grow(self, request: wire.GrowRequest, call: GrpcCall) -> wire.GrowResponse:
        await self._backend.grow(request.jgf)
        return wire.GrowResponse()

    async def shrink(self, request: wire.ShrinkRequest, call: GrpcCall) -> wire.ShrinkResponse:
        await self._backend.shrink(list(request.nodepaths), current_caller())
        return wire.ShrinkResponse()
