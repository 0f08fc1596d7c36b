"""One call in progress: its trailing metadata, and the grant to withdraw if its client is gone.

Some answers of the old dialects have no field for a reason: a dialect that answers "no" with a bare
status adds in the trailing metadata whether the request is busy or unsatisfiable, and why.
"""

from __future__ import annotations

import logging
from typing import Any

from grpc.aio import ServicerContext

from fluxnetes.common.reasons import code_of
from fluxnetes.match.answers import Outcome
from fluxnetes.service.backend import Backend
from fluxnetes.service.concurrency.background import keep_task
from fluxnetes.service.errors import Invalid, NoFit
from fluxnetes.service.values import Grant
from fluxnetes.service.views.reason_text import caller_text

_log = logging.getLogger("fluxnetes.rpc")

OUTCOME = "fluxnetes-outcome"
REASON = "fluxnetes-reason"
REASON_CODE = "fluxnetes-reason-code"
_LONGEST = 1000
"""Maximum characters of a reason: clients accept only some kilobytes of metadata."""


class GrpcCall:
    """A call in progress."""

    __slots__ = ("_context", "_granted")

    def __init__(self, context: ServicerContext[Any, Any]) -> None:
        self._context = context
        self._granted: tuple[Backend, Grant] | None = None

    def add_outcome(self, outcome: str, reason: str, code: str = "") -> None:
        """Add an outcome and its reason to the trailing metadata."""
        text = reason[:_LONGEST].encode("ascii", "backslashreplace").decode()
        trailing = ((OUTCOME, outcome), (REASON, text), (REASON_CODE, code))
        self._context.set_trailing_metadata(trailing if code else trailing[:2])

    def add_no_fit(self, grant: Grant, reserve: bool) -> None:
        """Add why there is no allocation. An invalid request is an error in every dialect.

        So is a busy match that may be reserved (`reserve`) and was not: a queue reserves no nodes,
        and a matcher none beside a job without an end. An answer with neither an allocation nor a
        reservation means "never" to the old clients, which then give the job up; an error they
        retry.
        """
        if grant.outcome is Outcome.INVALID:
            raise Invalid(caller_text(grant.reason))
        if grant.outcome is Outcome.BUSY and reserve:
            raise no_fit(grant)
        self.add_outcome(grant.outcome.value, caller_text(grant.reason), code_of(grant.reason))

    def withdraw_if_lost(self, backend: Backend, grant: Grant) -> None:
        """Withdraw a grant if the client is gone before it has its answer."""
        self._granted = (backend, grant)

    def withdraw(self) -> None:
        """The answer could not be sent: withdraw its grant."""
        if self._granted is not None:
            backend, grant = self._granted
            _log.info("job %d is withdrawn: its client left before the answer", grant.job)
            keep_task(backend.withdraw(grant))


def no_fit(grant: Grant, before: str = "") -> NoFit:
    """The error for a match that got nothing."""
    return NoFit(grant.outcome, before + caller_text(grant.reason), code_of(grant.reason))
