"""Refusals as gRPC errors: a code for programs, a text for people, details for both.

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
"""Where clients look for the details."""

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


def code_of(refusal: ServiceError) -> tuple[str, StatusCode]:
    """The reason and the code that a refusal is told by."""
    if isinstance(refusal, NoFit):
        return _OUTCOMES[refusal.outcome]
    return _CODES[type(refusal)]


def details_of(refusal: ServiceError) -> tuple[tuple[str, bytes], ...]:
    """The trailing metadata of a refused call."""
    reason, code = code_of(refusal)
    metadata = {}
    if isinstance(refusal, NoFit) and refusal.reason_code:
        metadata["reason_code"] = refusal.reason_code
    details: list[Message] = [ErrorInfo(reason=reason, domain=DOMAIN, metadata=metadata)]
    if isinstance(refusal, Invalid) and refusal.field:
        what = BadRequest.FieldViolation(field=refusal.field, description=text_of(refusal))
        details.append(BadRequest(field_violations=[what]))
    number: int = code.value[0]
    status = Status(code=number, message=text_of(refusal), details=map(_packed, details))
    return ((DETAILS, status.SerializeToString()),)


def text_of(refusal: ServiceError) -> str:
    return str(refusal)[:_LONGEST]


def _packed(message: Message) -> Any:
    packed = Any()
    packed.Pack(message)
    return packed
