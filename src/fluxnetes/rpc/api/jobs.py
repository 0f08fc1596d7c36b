"""The service `fluxnetes.v1.JobService`: matches, submissions and views of jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fluxnetes.common.reasons import code_of
from fluxnetes.match.answers import Outcome
from fluxnetes.rpc.api.reading import (
    at,
    lasting,
    read_key,
    read_match,
    read_seconds,
    read_submission,
    read_submit,
)
from fluxnetes.rpc.api.streams import WatchedItem, watch
from fluxnetes.rpc.api.writing import ENDED, job_message, share_messages
from fluxnetes.rpc.call import GrpcCall, no_fit
from fluxnetes.rpc.callers import current_caller, user_of
from fluxnetes.service.backend import Backend
from fluxnetes.service.errors import Invalid, UnknownJob
from fluxnetes.service.values import AllocationUpdate, Grant, JobView, MatchCall
from fluxnetes.service.views.allocation_text import check_format
from fluxnetes.service.views.reason_text import caller_text
from fluxnetes.v1 import jobs_pb2 as v1

_KIND = v1.WatchJobsResponse
_UPDATES = {"jgf": "jgf", "jgf_shorthand": "jgf_shorthand", "rv1": "rv1exec", "": "jgf"}


class JobService:
    """Jobs. The comments of the messages say what each call means."""

    name = "fluxnetes.v1.JobService"
    service = v1.DESCRIPTOR.services_by_name["JobService"]
    bulk = frozenset({"Update"})

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    # -- matched -------------------------------------------------------------------------------

    async def match(self, request: v1.MatchRequest, call: GrpcCall) -> v1.MatchResponse:
        check_format(request.format)
        match_call = MatchCall(
            await read_match(request),
            request.reserve,
            name=request.name,
            format=request.format,
            now=_time(request.now, "now"),
            key=read_key(request.request_id),
            user=user_of(),
        )
        grant = await self._backend.match(match_call)
        if not grant:
            raise no_fit(grant)
        if not match_call.key:  # with a key, a client that got no answer repeats the call
            call.withdraw_if_lost(self._backend, grant)
        allocation = (
            v1.Allocation(format=match_call.format, text=grant.text) if grant.text else None
        )
        return v1.MatchResponse(
            job=_granted(grant, match_call),
            allocation=allocation,
            at=grant.at,
            overhead=lasting(grant.overhead),
        )

    async def update(self, request: v1.UpdateRequest, call: GrpcCall) -> v1.UpdateResponse:
        given = request.allocation
        if given.format not in _UPDATES:
            raise Invalid(f"found {given.format!r}, expected jgf or rv1", "allocation.format")
        allocation = AllocationUpdate(
            request.job,
            given.text,
            _UPDATES[given.format],
            _time(request.at, "at"),
            read_seconds(request.duration, "duration"),
            _time(request.now, "now"),
            user_of(),
        )
        grant = await self._backend.update(allocation)
        if not grant:
            raise no_fit(grant)
        return v1.UpdateResponse(job=_granted(grant))

    async def renew(self, request: v1.RenewRequest, call: GrpcCall) -> v1.RenewResponse:
        return v1.RenewResponse(
            expires=at(await self._backend.renew(request.job, current_caller()))
        )

    async def cancel(self, request: v1.CancelRequest, call: GrpcCall) -> v1.CancelResponse:
        try:
            await self._backend.cancel(request.job, request.reason, current_caller())
        except UnknownJob:
            if not request.missing_ok:
                raise
        return v1.CancelResponse()

    # -- queued --------------------------------------------------------------------------------

    async def submit(self, request: v1.SubmitRequest, call: GrpcCall) -> v1.SubmitResponse:
        submission, key = await read_submit(request), read_key(request.request_id)
        return v1.SubmitResponse(job=job_message(await self._backend.submit(submission, key)))

    async def start(self, request: v1.StartRequest, call: GrpcCall) -> v1.StartResponse:
        job = await self._backend.start(request.job, current_caller())
        return v1.StartResponse(job=job_message(job))

    async def finish(self, request: v1.FinishRequest, call: GrpcCall) -> v1.FinishResponse:
        await self._backend.finish(
            request.job, not request.failed, request.reason, current_caller()
        )
        return v1.FinishResponse()

    async def hold(self, request: v1.HoldRequest, call: GrpcCall) -> v1.HoldResponse:
        job = await self._backend.hold(request.job, current_caller())
        return v1.HoldResponse(job=job_message(job))

    async def release(self, request: v1.ReleaseRequest, call: GrpcCall) -> v1.ReleaseResponse:
        job = await self._backend.release(request.job, current_caller())
        return v1.ReleaseResponse(job=job_message(job))

    # -- views ---------------------------------------------------------------------------------

    async def get_job(self, request: v1.GetJobRequest, call: GrpcCall) -> v1.GetJobResponse:
        found = await self._backend.job_views([request.job], current_caller())
        if not found:
            raise UnknownJob(f"there is no job {request.job}")
        return v1.GetJobResponse(job=job_message(found[0]))

    async def explain(self, request: v1.ExplainRequest, call: GrpcCall) -> v1.ExplainResponse:
        explanation = await self._backend.explain(request.job, current_caller())
        story = (v1.StoryEvent(time=at(when), text=text) for when, text in explanation.story)
        return v1.ExplainResponse(
            job=job_message(explanation.job),
            reason=caller_text(explanation.reason),
            reason_code=code_of(explanation.reason),
            ahead=explanation.ahead or 0,
            story=story,
        )

    async def estimate(self, request: v1.EstimateRequest, call: GrpcCall) -> v1.EstimateResponse:
        now = _time(request.now, "now")
        found = await self._backend.estimate(await read_submission(request), now)
        return v1.EstimateResponse(
            known=found.known,
            start=at(found.start) if found.known and not found.still else None,
            nodes=share_messages(found.shares),
            reason=caller_text(found.reason),
            reason_code=code_of(found.reason),
            at=found.start,
        )

    async def watch_jobs(
        self, request: v1.WatchJobsRequest, call: GrpcCall
    ) -> AsyncIterator[v1.WatchJobsResponse]:
        caller = current_caller()

        async def views(keys: list[str] | None) -> list[WatchedItem[JobView]]:
            ids = None if keys is None else [int(key) for key in keys]
            found = await self._backend.job_views(ids, caller)
            return [WatchedItem(view, view.state in ENDED) for view in found if _is_selected(view)]

        def _is_selected(view: JobView) -> bool:
            wanted = (request.namespace or view.namespace, request.queue or view.queue)
            return wanted == (view.namespace, view.queue)

        async for kind, view, resume in watch(self._backend.jobs, request.resume, views):
            job = None if view is None else job_message(view)
            yield v1.WatchJobsResponse(kind=_JOB_KINDS[kind], job=job, resume=resume)


_JOB_KINDS = {
    "reset": _KIND.KIND_RESET,
    "changed": _KIND.KIND_CHANGED,
    "gone": _KIND.KIND_ENDED,
    "bookmark": _KIND.KIND_BOOKMARK,
}


def _granted(grant: Grant, match_call: MatchCall | None = None) -> v1.Job:
    state = "reserved" if grant.outcome is Outcome.RESERVED else "running"
    name, user = ("", "") if match_call is None else (match_call.name, match_call.user)
    return job_message(JobView(grant.job, state, name=name, user=user, shares=grant.shares))


def _time(seconds: int, path: str) -> int:
    if seconds < 0:
        raise Invalid(f"found {seconds}, expected 0 or more", path)
    return seconds
