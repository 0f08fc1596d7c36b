"""Maps errors of the service to gRPC: a status code, a text, and structured details.

The details are a `google.rpc.Status`, which every gRPC library can read, with an `ErrorInfo` whose
reason is one of those that `fluxnetes/v1/jobs.proto` lists.
"""

from __future__ import annotations

from google.protobuf.any_pb2 import Any
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from fluxnetes.match.answers import Outcome
from fluxnetes.service.errors import (
    Denied,
    Invalid,
    NoFit,
    NoGraph,
    NoQueue,
    ServiceError,
    Unavailable,
    UnknownJob,
    WrongState,
)

DOMAIN = "fluxnetes.io"
DETAILS = "grpc-status-details-bin"
"""The metadata key in which clients look for the details."""

_CODES: dict[type[ServiceError], tuple[str, StatusCode]] = {
    Invalid: ("INVALID", StatusCode.INVALID_ARGUMENT),
    UnknownJob: ("UNKNOWN_JOB", StatusCode.NOT_FOUND),
    WrongState: ("WRONG_STATE", StatusCode.FAILED_PRECONDITION),
    NoGraph: ("NO_GRAPH", StatusCode.FAILED_PRECONDITION),
    NoQueue: ("NO_QUEUE", StatusCode.UNIMPLEMENTED),
    Denied: ("DENIED", StatusCode.PERMISSION_DENIED),
    Unavailable: ("NOT_LEADING", StatusCode.UNAVAILABLE),
}
_OUTCOMES = {
    Outcome.BUSY: ("BUSY", StatusCode.RESOURCE_EXHAUSTED),
    Outcome.UNSATISFIABLE: ("UNSATISFIABLE", StatusCode.FAILED_PRECONDITION),
    Outcome.INVALID: ("INVALID", StatusCode.INVALID_ARGUMENT),
}
_LONGEST = 2000
"""Maximum characters of an error's text: clients accept only some kilobytes of metadata."""


def code_of(error: ServiceError) -> tuple[str, StatusCode]:
    """The reason and the status code of an error."""
    if isinstance(error, NoFit):
        return _OUTCOMES[error.outcome]
    return _CODES[type(error)]


def details_of(error: ServiceError) -> tuple[tuple[str, bytes], ...]:
    """The trailing metadata of a refused call."""
    reason, code = code_of(error)
    metadata = {}
    if isinstance(error, NoFit) and error.reason_code:
        metadata["reason_code"] = error.reason_code
    details: list[Message] = [ErrorInfo(reason=reason, domain=DOMAIN, metadata=metadata)]
    if isinstance(error, Invalid) and error.field:
        violation = BadRequest.FieldViolation(field=error.field, description=text_of(error))
        details.append(BadRequest(field_violations=[violation]))
    number: int = code.value[0]
    status = Status(code=number, message=text_of(error), details=map(_packed, details))
    return ((DETAILS, status.SerializeToString()),)


def text_of(error: ServiceError) -> str:
    return str(error)[:_LONGEST]


def _packed(message: Message) -> Any:
    packed = Any()
    packed.Pack(message)
    return packed
