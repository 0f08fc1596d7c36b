"""What is refused is raised as what it is, with what is known of it."""

from __future__ import annotations

import re
from pathlib import Path

import grpc
import pytest
from grpc.aio import AioRpcError, Metadata

from fluxnetes.client import (
    Busy,
    CallError,
    Client,
    Denied,
    Gang,
    Invalid,
    NoFit,
    NoGraph,
    NoQueue,
    Shape,
    Unavailable,
    UnknownJob,
    Unsatisfiable,
    WrongState,
    errors,
)
from fluxnetes.client.errors import error_of
from fluxnetes.client.retrying import Patience
from fluxnetes.match.answers import Outcome
from fluxnetes.rpc.grpc_status import code_of, details_of
from fluxnetes.service import errors as service_errors
from tests.integration.client.conftest import Connect
from tests.integration.client.jobs import cores, nodes

PROTO = Path(__file__).parents[3] / "src" / "fluxnetes" / "v1" / "jobs.proto"

REFUSALS: list[tuple[service_errors.ServiceError, type[CallError]]] = [
    (service_errors.Invalid("none", "ask.gang"), Invalid),
    (service_errors.NoFit(Outcome.BUSY, "later"), Busy),
    (service_errors.NoFit(Outcome.UNSATISFIABLE, "never"), Unsatisfiable),
    (service_errors.NoFit(Outcome.INVALID, "odd"), Invalid),
    (service_errors.UnknownJob("who"), UnknownJob),
    (service_errors.WrongState("over"), WrongState),
    (service_errors.NoGraph(), NoGraph),
    (service_errors.NoQueue(), NoQueue),
    (service_errors.Denied("no"), Denied),
    (service_errors.Unavailable("elsewhere"), Unavailable),
]


@pytest.mark.parametrize(("refusal", "kind"), REFUSALS, ids=lambda each: type(each).__name__)
def test_every_refusal_is_an_error_of_its_own(
    refusal: service_errors.ServiceError, kind: type[CallError]
) -> None:
    _, code = code_of(refusal)
    error = error_of(
        AioRpcError(code, Metadata(), Metadata(*details_of(refusal)), details=str(refusal))
    )
    assert (type(error), str(error), error.code) == (kind, str(refusal), code)
    assert error.field == getattr(refusal, "field", "")


def test_no_refusal_is_left_out() -> None:
    known = set(service_errors.ServiceError.__subclasses__())
    assert {type(refusal) for refusal, _ in REFUSALS} == known


def test_the_proto_lists_every_reason_with_its_code() -> None:
    listed = dict(re.findall(r"(?m)^//   ([A-Z_]+) +\S.*? ([A-Z_]+)$", PROTO.read_text()))
    known = (code_of(refusal) for refusal, _ in REFUSALS)
    assert listed == {reason: code.name for reason, code in known}


@pytest.mark.parametrize("code", ["UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED"])
def test_a_server_that_is_gone_or_stopping_is_unavailable(code: str) -> None:
    failed = AioRpcError(grpc.StatusCode[code], Metadata(), Metadata())
    assert type(error_of(failed)) is Unavailable


def test_what_does_not_fit_is_distinguished(client: Client) -> None:
    client.match(nodes(2))
    with pytest.raises(NoFit) as busy:
        client.match(cores(1))
    with pytest.raises(NoFit) as never:
        client.match(nodes(3))
    assert (type(busy.value), busy.value.code) == (Busy, grpc.StatusCode.RESOURCE_EXHAUSTED)
    assert type(never.value) is Unsatisfiable
    assert str(never.value) == "needs 3 slot; only 2 in this graph could serve"


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (Gang(()), "ask.gang.shapes"),
        (Gang((Shape(1, {"cpu": 1}), Shape(0, {"cpu": 1}))), "ask.gang.shapes[1].count"),
        (Gang.of(1, cpu=-1), "ask.gang.shapes[0].amounts['cpu']"),
        ('{"resources": []}', "version"),
        (cores(1).replace('"core"', "[7]"), "resources[0].with[0].type"),
    ],
)
def test_an_invalid_request_says_where(client: Client, asked: str | Gang, field: str) -> None:
    with pytest.raises(Invalid) as raised:
        client.match(asked)
    assert raised.value.field == field
    assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT


def test_other_fields_are_named_too(client: Client) -> None:
    with pytest.raises(Invalid, match="pretty_simple") as format:
        client.match(cores(1), format="yaml")
    with pytest.raises(Invalid) as walltime:
        client.match(cores(1), walltime=0)
    with pytest.raises(Invalid) as now:
        client.estimate(cores(1), now=-1)
    fields = [each.value.field for each in (format, walltime, now)]
    assert fields == ["format", "walltime", "now"]


def test_a_job_of_an_unused_number_is_unknown(client: Client) -> None:
    for call in (client.job, client.explain, client.renew, client.finish):
        with pytest.raises(UnknownJob, match="77"):
            call(77)


def test_a_server_that_does_not_exist_is_unavailable_after_the_timeout(connect: Connect) -> None:
    client = connect("127.0.0.1:1", patience=Patience(timeout=0.3))
    for call in (client.status, lambda: client.load("{}")):
        with pytest.raises(Unavailable):
            call()


def test_all_errors_are_one_kind() -> None:
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    ours = [each for each in kinds if each.__module__ == errors.__name__]
    assert len(ours) == 11
    assert all(issubclass(each, CallError) for each in ours)
