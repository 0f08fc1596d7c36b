"""Refusals as gRPC errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from grpc import StatusCode

import fluxnetes.v1
from fluxnetes.match.answers import Outcome
from fluxnetes.rpc.grpc_status import code_of, details_of, text_of
from fluxnetes.service import errors

ALL = [
    (errors.NoFit(Outcome.BUSY, "full"), "BUSY", StatusCode.RESOURCE_EXHAUSTED),
    (errors.NoFit(Outcome.UNSATISFIABLE, "never"), "UNSATISFIABLE", StatusCode.FAILED_PRECONDITION),
    (errors.NoFit(Outcome.INVALID, "what"), "INVALID", StatusCode.INVALID_ARGUMENT),
    (errors.Invalid("what"), "INVALID", StatusCode.INVALID_ARGUMENT),
    (errors.UnknownJob("who"), "UNKNOWN_JOB", StatusCode.NOT_FOUND),
    (errors.WrongState("when"), "WRONG_STATE", StatusCode.FAILED_PRECONDITION),
    (errors.NoGraph(), "NO_GRAPH", StatusCode.FAILED_PRECONDITION),
    (errors.NoQueue(), "NO_QUEUE", StatusCode.UNIMPLEMENTED),
    (errors.Denied("no"), "DENIED", StatusCode.PERMISSION_DENIED),
    (errors.Unavailable("later"), "NOT_LEADING", StatusCode.UNAVAILABLE),
]


def status_of(refusal: errors.ServiceError) -> Status:
    [(key, value)] = details_of(refusal)
    assert key == "grpc-status-details-bin"
    return Status.FromString(value)


@pytest.mark.parametrize(("refusal", "reason", "code"), ALL)
def test_every_refusal_has_a_code_for_programs_and_a_text_for_people(
    refusal: errors.ServiceError, reason: str, code: StatusCode
) -> None:
    assert code_of(refusal) == (reason, code)
    status, info = status_of(refusal), ErrorInfo()
    assert (status.code, status.message) == (code.value[0], str(refusal))
    assert status.details[0].Unpack(info)
    assert (info.reason, info.domain) == (reason, "fluxnetes.io")


def test_none_is_forgotten() -> None:
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    known = {each for each in kinds if issubclass(each, errors.ServiceError)}
    assert known - {errors.ServiceError} == {type(refusal) for refusal, _, _ in ALL}


def test_the_proto_lists_the_same_reasons_with_the_same_codes() -> None:
    text = (Path(fluxnetes.v1.__path__[0]) / "jobs.proto").read_text()
    listed = dict(re.findall(r"^//   ([A-Z_]+) .* ([A-Z_]+)$", text, re.MULTILINE))
    assert listed == {reason: code.name for _, reason, code in ALL}


def test_of_what_is_invalid_the_details_name_the_field() -> None:
    status, bad = (
        status_of(errors.Invalid("found 0, expected more", "ask.gang.shapes[0].count")),
        BadRequest(),
    )
    assert status.details[1].Unpack(bad)
    [violation] = bad.field_violations
    assert violation.field == "ask.gang.shapes[0].count"
    assert violation.description == "found 0, expected more"


def test_where_the_field_is_not_known_none_is_named() -> None:
    assert len(status_of(errors.Invalid("what")).details) == 1


def test_a_long_text_is_cut_so_that_it_passes() -> None:
    """Clients take some kilobytes of metadata, all in all."""
    refusal = errors.Invalid("x" * 1_000_000, "field")
    assert len(text_of(refusal)) < 4000
    assert sum(len(value) for _, value in details_of(refusal)) + len(text_of(refusal)) < 8000
