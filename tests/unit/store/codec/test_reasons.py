"""Reasons come back from their columns as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.common.reasons import Message, Reason, ReasonCode
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.store.codec.reasons import read_reason, write_reason
from tests.property.profile import examples
from tests.unit.store.drawn import REASON
from tests.unit.store.plain import plain


@given(REASON)
@examples(200)
def test_a_reason_comes_back_as_it_was(reason: Reason | None) -> None:
    text, data = write_reason(reason)
    assert text == reason_text(reason)
    assert plain(read_reason(text, data)) == plain(reason)


@given(st.text(min_size=1))
@examples(50)
def test_a_row_of_an_older_version_keeps_its_text_and_has_no_known_code(text: str) -> None:
    assert read_reason(text, None) == Reason.from_text(text, ReasonCode.UNKNOWN)


def test_no_text_is_no_reason() -> None:
    assert read_reason("", None) is None
    assert write_reason(None) == ("", None)


def test_what_a_newer_version_wrote_keeps_its_text() -> None:
    newer = '{"code":"Resources","message":"NOT_INVENTED","args":{"x":1}}'
    assert read_reason("as told", newer) == Reason.from_text("as told", ReasonCode.RESOURCES)
    newer = '{"code":"NotInvented","message":"HELD"}'
    assert read_reason("held", newer) == Reason(Message.HELD, (), ReasonCode.UNKNOWN)
