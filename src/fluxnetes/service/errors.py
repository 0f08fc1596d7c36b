"""The errors of a backend: why it refuses a request.

    ServiceError
    ├── Invalid          the request is malformed
    ├── NoFit            busy, or never possible here
    ├── UnknownJob       there is no job of that number
    ├── WrongState       the job's state does not allow this
    ├── NoGraph          there is no graph yet
    ├── NoQueue          this backend has no queue, only a matcher
    ├── Denied           not supported on this system, or not allowed to this caller
    └── Unavailable      not now: another replica leads, or this one stops; retrying may help

A backend does not raise NoFit: that a request does not fit is an answer to a match, a `Grant` that
is false. Dialects whose clients need an error raise it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fluxnetes.graph.columns import GraphError
from fluxnetes.match.answers import Outcome
from fluxnetes.match.errors import MatchError


class ServiceError(Exception):
    """A backend refused a request; the text says why."""


class Invalid(ServiceError):
    """The request is malformed."""

    def __init__(self, text: str, field: str = "") -> None:
        super().__init__(text)
        self.field = field
        """The path of the invalid field, if it is known."""


class NoFit(ServiceError):
    """The request does not fit: now, or ever."""

    def __init__(self, outcome: Outcome, text: str, reason_code: str = "") -> None:
        super().__init__(text)
        self.outcome = outcome
        self.reason_code = reason_code


class UnknownJob(ServiceError):
    """There is no such job, or it ended."""


class WrongState(ServiceError):
    """The job's state does not allow this."""


class NoGraph(ServiceError):
    """There is no graph to match on yet."""

    def __init__(self) -> None:
        super().__init__("there is no graph yet; load one with Init, or start with --graph")


class NoQueue(ServiceError):
    """This backend has no queue, only a matcher."""

    def __init__(self) -> None:
        super().__init__("this server has no queue, only a matcher; start it with --queue")


class Denied(ServiceError):
    """Not supported on this system, or not allowed to this caller."""


class Unavailable(ServiceError):
    """Not now: another replica leads, or this one stops."""


@contextmanager
def as_invalid() -> Iterator[None]:
    """Raises errors of the graph and the matcher as Invalid: the input has to be corrected."""
    try:
        yield
    except (GraphError, MatchError) as error:
        raise Invalid(str(error)) from error
