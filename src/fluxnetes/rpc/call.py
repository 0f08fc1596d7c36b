"""One call of one client: what is told beside the answer, and what if the client is gone.

An answer has no room for everything: a dialect that answers "no" with a status only says here, in
the trailing metadata, whether it was busy or could never be.
"""

from __future__ import annotations

import logging
from typing import Any

from grpc.aio import ServicerContext

from fluxnetes.common.reasons import code_of
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.match.answers import Outcome
from fluxnetes.service.backend import Backend
from fluxnetes.service.concurrency.background import keep_task
from fluxnetes.service.errors import Invalid, NoFit
from fluxnetes.service.values import Grant

_log = logging.getLogger("fluxnetes.rpc")

OUTCOME = "fluxnetes-outcome"
REASON = "fluxnetes-reason"
REASON_CODE = "fluxnetes-reason-code"
_LONGEST = 1000
"""Clients take some kilobytes of metadata, all in all."""


class GrpcCall:
    """A call in progress."""

    __slots__ = ("_context", "_granted")

    def __init__(self, context: ServicerContext[Any, Any]) -> None:
        self._context = context
        self._granted: tuple[Backend, Grant] | None = None

    def tell(self, outcome: str, reason: str, code: str = "") -> None:
        """Say something beside the answer."""
        text = reason[:_LONGEST].encode("ascii", "backslashreplace").decode()
        told = ((OUTCOME, outcome), (REASON, text), (REASON_CODE, code))
        self._context.set_trailing_metadata(told if code else told[:2])

    def tell_no_fit(self, grant: Grant) -> None:
        """Say which of the ways to say no it is. What makes no sense is an error everywhere."""
        if grant.outcome is Outcome.INVALID:
            raise Invalid(reason_text(grant.reason))
        self.tell(grant.outcome.value, reason_text(grant.reason), code_of(grant.reason))

    def withdraw_if_lost(self, backend: Backend, grant: Grant) -> None:
        """If the client is gone before it has its answer, nobody has what was granted."""
        self._granted = (backend, grant)

    def take_back(self) -> None:
        """The answer could not be sent."""
        if self._granted is not None:
            backend, grant = self._granted
            _log.info("job %d is taken back: its client went away unanswered", grant.job)
            keep_task(backend.withdraw(grant))


def no_fit(grant: Grant, before: str = "") -> NoFit:
    """The error for a match that got nothing."""
    return NoFit(grant.outcome, before + reason_text(grant.reason), code_of(grant.reason))
