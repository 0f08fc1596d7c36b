"""Requests survive being written down."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from fluxnetes.jobspec.build import core, jobspec, node, slot
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.jobspec.parse import parse_jobspec
from fluxnetes.match.gang.model import Gang, Shape, TopologyRequest
from fluxnetes.queue.jobs import Request
from fluxnetes.store.codec.requests import (
    decode_constraint,
    decode_request,
    encode_constraint,
    encode_request,
)
from tests.property.profile import examples
from tests.unit.jobspec.samples import RFC14, RFC25
from tests.unit.store.drawn import CONSTRAINT, REQUEST
from tests.unit.store.plain import plain


@examples(200)
@given(REQUEST)
def test_a_request_comes_back_as_it_was(request: Request) -> None:
    assert plain(decode_request(encode_request(request))) == plain(request)


@examples(100)
@given(CONSTRAINT)
def test_a_constraint_comes_back_as_it_was(constraint: Constraint) -> None:
    assert plain(decode_constraint(encode_constraint(constraint))) == plain(constraint)


def test_no_constraint_stays_none() -> None:
    assert decode_constraint(encode_constraint(None)) is None


def test_what_has_its_default_is_not_written() -> None:
    written = json.loads(encode_request(jobspec(node(2, slot(1, core(4))))))
    assert set(written["jobspec"]) == {"resources"}
    gang = Gang((Shape.of(4, {"cpu": 250}),))
    assert json.loads(encode_request(gang)) == {
        "gang": {"shapes": [{"count": 4, "amounts": [["cpu", 250]]}]}
    }


def test_a_topology_request_is_written_beside_the_shapes() -> None:
    shape = Shape.of(4, {"cpu": 250})
    request = TopologyRequest("rack", spread_level="node", spread_most=2, beside=(("n1", 3),))
    gang = Gang((shape,), topology=request)
    assert json.loads(encode_request(gang))["gang"]["topology"] == {
        "required": "rack",
        "spread_level": "node",
        "spread_most": 2,
        "beside": [["n1", 3]],
    }
    assert decode_request(encode_request(gang)) == gang


@pytest.mark.parametrize("text", [RFC14, RFC25])
def test_a_jobspec_that_was_read_from_text_comes_back(text: str) -> None:
    read = parse_jobspec(text)
    assert plain(decode_request(encode_request(read))) == plain(read)


def test_a_number_that_json_does_not_know_is_refused_before_it_is_sent() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode_request(jobspec(core(1), attributes={"user": {"wish": float("nan")}}))
