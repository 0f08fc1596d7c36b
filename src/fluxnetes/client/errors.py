"""gRPC errors as exceptions, by the reason in their details or, without one, by their code.

    CallError
    ├── NoFit
    │   ├── Busy             it fits this system, but not now
    │   └── Unsatisfiable    it can never fit this system
    ├── Invalid              the request is malformed; `field` says where
    ├── UnknownJob           there is no job of that number
    ├── WrongState           the job's state does not allow this
    ├── NoGraph              the server has no graph yet
    ├── NoQueue              the server has no queue, only a matcher
    ├── Denied               not supported on this system, or not allowed to this caller
    └── Unavailable          the server cannot be reached, is stopping or does not lead; retrying
                             may help

Any other failure is a plain CallError.
"""

from __future__ import annotations

from typing import Any

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

_DETAILS = "grpc-status-details-bin"


class CallError(Exception):
    """A call failed; the text says why."""

    def __init__(
        self,
        text: str,
        code: grpc.StatusCode | None = None,
        field: str = "",
        reason_code: str = "",
    ) -> None:
        super().__init__(text)
        self.code = code
        """The status code of gRPC."""
        self.field = field
        """The path of the invalid field, if it is known."""
        self.reason_code = reason_code
        """Where something does not fit: why, as a stable word such as Resources."""


class NoFit(CallError):
    """The request does not fit."""


class Busy(NoFit):
    """The request fits this system, but not now."""


class Unsatisfiable(NoFit):
    """The request can never fit this system."""


class Invalid(CallError):
    """The request is malformed."""


class UnknownJob(CallError):
    """There is no job of that number."""


class WrongState(CallError):
    """The job's state does not allow this."""


class NoGraph(CallError):
    """The server has no graph yet."""


class NoQueue(CallError):
    """The server has no queue, only a matcher."""


class Denied(CallError):
    """Not supported on this system, or not allowed to this caller."""


class Unavailable(CallError):
    """The server cannot be reached, is stopping or does not lead."""


_BY_REASON: dict[str, type[CallError]] = {
    "BUSY": Busy,
    "UNSATISFIABLE": Unsatisfiable,
    "INVALID": Invalid,
    "UNKNOWN_JOB": UnknownJob,
    "WRONG_STATE": WrongState,
    "NO_GRAPH": NoGraph,
    "NO_QUEUE": NoQueue,
    "DENIED": Denied,
    "NOT_LEADING": Unavailable,
}
AWAY = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED})
"""The codes of a call whose server is gone. A server that stops ends calls that outlast its grace
period with CANCELLED. Calls that a client ends itself do not get here: the clients check that they
are not closed, and asyncio raises an error of its own."""

_BY_CODE: dict[grpc.StatusCode, type[CallError]] = {
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.CANCELLED: Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: Unavailable,
    grpc.StatusCode.UNAUTHENTICATED: Denied,
    grpc.StatusCode.PERMISSION_DENIED: Denied,
}


def error_of(failed: grpc.RpcError) -> CallError:
    """The exception for a failed call."""
    info, bad = _details(failed)
    kind = _BY_REASON.get(info.reason) or _BY_CODE.get(failed.code()) or CallError
    field = bad.field_violations[0].field if bad.field_violations else ""
    reason_code = info.metadata.get("reason_code", "")
    return kind(failed.details() or failed.code().name, failed.code(), field, reason_code)


def _details(failed: grpc.RpcError) -> tuple[ErrorInfo, BadRequest]:
    info, bad = ErrorInfo(), BadRequest()
    metadata: Any = failed.trailing_metadata()  # pairs, though its stub says otherwise
    for key, value in metadata or ():
        if key == _DETAILS and isinstance(value, bytes):
            for each in Status.FromString(value).details:
                if not each.Unpack(info):
                    each.Unpack(bad)
    return info, bad
