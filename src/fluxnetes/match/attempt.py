"""Runs one match operation for one request: now, then later, then whether it can ever fit.

Which of the later steps run depends on the operation.
"""

from __future__ import annotations

import math

import numpy as np

from fluxnetes.common.reasons import Amount, Message, Reason, ReasonCode
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.match.causes import with_causes
from fluxnetes.match.engine.closure import NOTHING, HeldVertices
from fluxnetes.match.engine.engine import MatchEngine, NothingHeld
from fluxnetes.match.engine.flexible import TooManyVariants
from fluxnetes.match.ledger.views import LedgerView
from fluxnetes.match.requests import MatchRequest

RECORDED = frozenset(
    {
        Operation.ALLOCATE,
        Operation.ALLOCATE_WITH_SATISFIABILITY,
        Operation.ALLOCATE_ORELSE_RESERVE,
    }
)
"""Operations after which the job holds its placement."""

_MAY_WAIT = frozenset({Operation.ALLOCATE_ORELSE_RESERVE, Operation.WITHOUT_ALLOCATING_FUTURE})
_CHECKS_SATISFIABILITY = _MAY_WAIT | {Operation.ALLOCATE_WITH_SATISFIABILITY}
"""Operations that distinguish a request that can never fit from one that does not fit now."""
_MAX_NEED = 2**62
"""Limit of a request's sums: more than any graph has, and still a number that a column holds."""


MAX_TIMES = 10_000
"""Maximum later times that one call tries, each of which can cost a pass over the whole graph."""


class Attempt:
    """Tries a request and returns the answer; the matcher records it."""

    def __init__(
        self, engine: MatchEngine, request: MatchRequest, jobid: int, now: int, horizon: int
    ) -> None:
        self.held: HeldVertices = NOTHING
        self._engine = engine
        self._request = request
        self._jobid = jobid
        self._now = now
        self._horizon = horizon
        self._duration = math.ceil(request.duration) or horizon
        self._needs = request.needs()
        self._busy: Reason | None = None
        self._why: Reason | None = None

    def run(self, operation: Operation) -> Answer:
        """Run one operation."""
        try:
            return self._run(operation)
        except NothingHeld:
            self._why = Reason.of(Message.NOTHING_EXCLUSIVE)
            return self._no(Outcome.INVALID)
        except TooManyVariants as error:
            self._why = Reason.from_text(str(error), ReasonCode.INVALID)
            return self._no(Outcome.INVALID)

    def _run(self, operation: Operation) -> Answer:
        if operation is Operation.SATISFIABILITY:
            return self._ever()
        if self._too_few_nodes(operation):
            hopeless = operation is Operation.ALLOCATE_WITH_SATISFIABILITY
            return self._no(Outcome.UNSATISFIABLE if hopeless else Outcome.BUSY)
        view = self._engine.ledger.during(self._now, self._now + self._duration)
        held = self._request.select(view)
        if held is not None:
            return self._yes(operation, held, self._now)
        self._busy = self._request.why(ever=False)
        if operation in _MAY_WAIT:
            later = self._later(operation)
            if later is not None:
                return later
        if operation in _CHECKS_SATISFIABILITY:
            ever = self._ever()
            if not ever:
                return ever
        self._why = self._busy
        if self._why is not None and type(view) is LedgerView:  # no reservation is in the way
            self._why = with_causes(self._engine, self._request, self._why)
        return self._no(Outcome.BUSY)

    def _too_few_nodes(self, operation: Operation) -> bool:
        """Whether too few nodes are up, whatever runs on them: then no traversal is needed.

        As in the reference, `allocate_with_satisfiability` counts only nodes that are up, but all
        nodes, up or down, that satisfy the constraint.
        """
        wanted = self._needs.get("node", 0)
        up = self._engine.nodes_up()
        if wanted > up:
            needs = Amount(wanted, "node")
            self._why = self._too_few_up(needs, up)
            return True
        down_too = operation is Operation.ALLOCATE_WITH_SATISFIABILITY
        allowed = self._request.nodes_allowed(status=not down_too)
        if allowed is not None and wanted > allowed:
            needs = Amount(wanted, "node")
            self._why = Reason.of(Message.NODES_ALLOWED, needs=needs, allowed=allowed)
            return True
        return False

    def _too_few_up(self, needs: Amount, up: int) -> Reason:
        every, closed = self._engine.node_count, self._engine.nodes_closed()
        if not closed:
            return Reason.of(Message.NODES_UP, needs=needs, up=up, all=every)
        down = every - up - closed
        return Reason.of(Message.NODES_OPEN, needs=needs, all=every, down=down, closed=closed)

    def _later(self, operation: Operation) -> Answer | None:
        """Try the times at which a job starts or ends and the sums allow the request."""
        engine = self._engine
        sums = (self._needs.get(name, 0) for name in engine.root_types)
        needs = np.array([min(each, _MAX_NEED) for each in sums], np.int64)
        times = engine.profile.times(self._now + 1, self._duration, needs)
        for at in times[:MAX_TIMES].tolist():
            held = self._request.select(engine.ledger.later(at, at + self._duration))
            if held is not None:
                return self._yes(operation, held, at)
        if len(times) > MAX_TIMES:
            self._busy = Reason.of(Message.TIMES_TRIED, times=MAX_TIMES)
        return None

    def _ever(self) -> Answer:
        try:
            held = self._request.select(self._engine.ledger.everything())
        except NothingHeld:
            held = NOTHING
        if held is not None:
            return Answer(Outcome.SATISFIABLE, self._jobid)
        self._why = self._request.why(ever=True)
        return self._no(Outcome.UNSATISFIABLE)

    def _yes(self, operation: Operation, held: HeldVertices, at: int) -> Answer:
        if at >= self._horizon:
            if self._busy is not None:
                self._why = Reason.of(Message.ENDLESS_AHEAD, reason=self._busy)
            else:
                self._why = Reason.of(Message.GRAPH_ENDS, horizon=self._horizon)
            return self._no(Outcome.BUSY)
        end = min(at + self._duration, self._horizon)
        self.held = held
        placement = self._engine.placement(held, at, end, self._request.queue)
        if operation not in RECORDED:
            outcome = Outcome.MATCHED
        else:
            outcome = Outcome.RESERVED if at > self._now else Outcome.ALLOCATED
        return Answer(outcome, self._jobid, at, placement, seats=self._request.seats)

    def _no(self, outcome: Outcome) -> Answer:
        return Answer(outcome, self._jobid, reason=_coded(self._why, outcome))


_CODES = {
    Outcome.BUSY: ReasonCode.RESOURCES,
    Outcome.UNSATISFIABLE: ReasonCode.UNSATISFIABLE,
    Outcome.INVALID: ReasonCode.INVALID,
}


def _coded(reason: Reason | None, outcome: Outcome) -> Reason | None:
    """The same finding is busy now and unsatisfiable ever; the outcome decides the code."""
    return None if reason is None else reason.coded(_CODES[outcome])
