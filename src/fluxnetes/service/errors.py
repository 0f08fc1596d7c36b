"""Why a host does not do what it was asked to.

    ServiceError
    ├── Invalid          the request makes no sense
    ├── NoFit            busy, or never possible here
    ├── UnknownJob       nobody of that number is here
    ├── WrongState       the job is not where that could be done
    ├── NoGraph          nobody said yet what there is
    ├── NoQueue          this server only matches
    ├── Denied           not on this system, or not by this caller
    └── Unavailable      not now: another replica leads, or this one stops; trying again may help

To a host, that something does not fit is no refusal but the answer to a match; dialects whose
clients need an error make one of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fluxnetes.graph.columns import GraphError
from fluxnetes.match.answers import Outcome
from fluxnetes.match.errors import MatchError


class ServiceError(Exception):
    """A host does not do what it was asked to; the text says why."""


class Invalid(ServiceError):
    """The request makes no sense."""

    def __init__(self, text: str, field: str = "") -> None:
        super().__init__(text)
        self.field = field
        """The path to what is wrong, if it is known."""


class NoFit(ServiceError):
    """It does not fit: now, or at all."""

    def __init__(self, outcome: Outcome, text: str, reason_code: str = "") -> None:
        super().__init__(text)
        self.outcome = outcome
        self.reason_code = reason_code


class UnknownJob(ServiceError):
    """There is no such job, or it holds nothing any more."""


class WrongState(ServiceError):
    """The job is not where that could be done."""


class NoGraph(ServiceError):
    """There is nothing to match on yet."""

    def __init__(self) -> None:
        super().__init__("there is no graph yet; load one with Init, or start with --graph")


class NoQueue(ServiceError):
    """There is no queue here."""

    def __init__(self) -> None:
        super().__init__("this server matches, but has no queue; start it with --queue")


class Denied(ServiceError):
    """That is not done here."""


class Unavailable(ServiceError):
    """Not now."""


@contextmanager
def said_as_invalid() -> Iterator[None]:
    """Whatever the core finds wrong with what came in is the caller's to mend."""
    try:
        yield
    except (GraphError, MatchError) as error:
        raise Invalid(str(error)) from error
