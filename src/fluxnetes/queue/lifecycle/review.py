"""Judges waiting jobs again after the graph changed: can any of its resources serve them?

A job that no resources can serve now is *set aside*: it is pending and in no line, so it is neither
head nor promised a start, and its request has no part in the capacity plan. It comes back into line
when nodes, labels or pools come that can serve it; and a job in line is set aside when the last of
them go.

Jobs are judged by their requests, equal ones once. A request that is larger than anything there is
needs no search, and a cycle makes a limited number of searches: the next ones continue.
"""

from __future__ import annotations

from collections.abc import Iterable

from fluxnetes.common.reasons import Reason
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.order.gate import EligibilityGate
from fluxnetes.queue.plan.promises import PromiseKeeper
from fluxnetes.queue.plan.requests import PlanRequest
from fluxnetes.queue.states import WAITING, JobState

_SEARCHES_PER_CYCLE = 200
"""Maximum requests that the matcher judges in one cycle: about a tenth of a second."""


class SatisfiabilityReview:
    """Sets waiting jobs aside that nothing can serve, and brings back those that something can."""

    def __init__(self, core: QueueCore, gate: EligibilityGate, promises: PromiseKeeper) -> None:
        self._core = core
        self._gate = gate
        self._promises = promises
        self._due: list[PlanRequest] = []
        """Requests that are still to be judged on the graph as it is."""

    @property
    def is_unfinished(self) -> bool:
        """Whether requests are left for the next cycle."""
        return bool(self._due)

    def run(self, now: int) -> None:
        """Judge waiting jobs again, if the graph changed."""
        if self._core.verdicts.take_outdated():
            self._due = list(reversed(self._core.jobs_by_request))
        searches = _SEARCHES_PER_CYCLE
        while self._due and searches:
            searches -= self._review(self._due.pop(), now)

    def _review(self, request: PlanRequest, now: int) -> bool:
        """Act on the verdict on one request; False: that took no search."""
        core = self._core
        jobs = core.jobs_by_request.get(request, {})
        waiting = [id for id in jobs if core.records.jobs[id].state in WAITING]
        if not waiting:
            return False
        if core.set_aside.issuperset(waiting) and core.verdicts.is_too_large(request):
            return False
        verdict = core.verdicts.of(request)
        if verdict is None:
            self._bring_back(core.set_aside.intersection(waiting), now)
        else:
            self._set_aside(waiting, verdict, now)
        return True

    def _bring_back(self, ids: Iterable[int], now: int) -> None:
        core = self._core
        for job in sorted((core.records.jobs[id] for id in ids), key=lambda job: job.arrival):
            if job.state is JobState.PENDING:
                self._gate.recheck(job.id, now)
            else:
                core.count_request(job.id)

    def _set_aside(self, ids: Iterable[int], verdict: Reason, now: int) -> None:
        core = self._core
        for job in (core.records.jobs[id] for id in ids):
            if job.state is not JobState.PENDING:
                core.set_request_aside(job.id)
            elif job.id not in core.set_aside:
                self._promises.drop(job, now, verdict)
                core.preempting.pop(job.id, None)
                core.lines[job.queue].discard(job.id)
                self._gate.park_or_enqueue(job, now)
