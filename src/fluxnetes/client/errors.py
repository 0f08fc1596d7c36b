"""What can become of a call that is not answered.

    CallError
    ├── NoFit
    │   ├── Busy             it fits this system, but not now
    │   └── Unsatisfiable    it can never fit this system
    ├── Invalid              the request makes no sense; `field` says where
    ├── UnknownJob           nobody of that number is there
    ├── WrongState           the job is not where that could be done
    ├── NoGraph              nobody told the server yet what there is
    ├── NoQueue              the server only matches
    ├── Denied               not on this system, or not by this caller
    └── Unavailable          nobody answers, or not now; trying again may help

Whatever else goes wrong is a plain CallError.
"""

from __future__ import annotations

from typing import Any

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

_DETAILS = "grpc-status-details-bin"


class CallError(Exception):
    """A call was not answered; the text says why."""

    def __init__(self, text: str, code: grpc.StatusCode | None = None, field: str = "") -> None:
        super().__init__(text)
        self.code = code
        """What gRPC calls it."""
        self.field = field
        """The path to what is wrong with the request, if it is known."""


class NoFit(CallError):
    """It does not fit."""


class Busy(NoFit):
    """It fits this system, but not now."""


class Unsatisfiable(NoFit):
    """It can never fit this system."""


class Invalid(CallError):
    """The request makes no sense."""


class UnknownJob(CallError):
    """Nobody of that number is there."""


class WrongState(CallError):
    """The job is not where that could be done."""


class NoGraph(CallError):
    """Nobody told the server yet what there is."""


class NoQueue(CallError):
    """The server only matches."""


class Denied(CallError):
    """Not on this system, or not by this caller."""


class Unavailable(CallError):
    """Nobody answers, or not now."""


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
_BY_CODE: dict[grpc.StatusCode, type[CallError]] = {
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: Unavailable,
    grpc.StatusCode.UNAUTHENTICATED: Denied,
    grpc.StatusCode.PERMISSION_DENIED: Denied,
}


def error_of(failed: grpc.RpcError) -> CallError:
    """What a call that failed is to us."""
    info, bad = _details(failed)
    kind = _BY_REASON.get(info.reason) or _BY_CODE.get(failed.code()) or CallError
    field = bad.field_violations[0].field if bad.field_violations else ""
    return kind(failed.details() or failed.code().name, failed.code(), field)


def _details(failed: grpc.RpcError) -> tuple[ErrorInfo, BadRequest]:
    info, bad = ErrorInfo(), BadRequest()
    told: Any = failed.trailing_metadata()  # of pairs, whatever its stub says
    for key, value in told or ():
        if key == _DETAILS and isinstance(value, bytes):
            for each in Status.FromString(value).details:
                if not each.Unpack(info):
                    each.Unpack(bad)
    return info, bad
