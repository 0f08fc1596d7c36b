"""Idsets: what a text names, and the shortest text for a set of numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.notation.idset import MAX_IDS, IdsetError, decode_idset, encode_idset


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", []),
        ("[]", []),
        ("7", [7]),
        ("0-3,7", [0, 1, 2, 3, 7]),
        ("[0-3,7]", [0, 1, 2, 3, 7]),
        ("7,0-1", [0, 1, 7]),
        ("1-3,2-4", [1, 2, 3, 4]),
        ("5-5", [5]),
    ],
)
def test_a_text_names_its_numbers_sorted_and_once(text: str, ids: list[int]) -> None:
    assert decode_idset(text) == ids


@pytest.mark.parametrize(
    ("ids", "text"), [([], ""), ([4], "4"), ([3, 1, 2, 7], "1-3,7"), ([1, 1, 2], "1-2")]
)
def test_runs_are_written_as_ranges(ids: list[int], text: str) -> None:
    assert encode_idset(ids) == text


@given(st.sets(st.integers(0, 2**32 - 1)))
def test_what_is_encoded_decodes_to_the_same_set(ids: set[int]) -> None:
    assert decode_idset(encode_idset(ids)) == sorted(ids)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a", "found 'a'"),
        ("1,,2", "found ''"),
        ("-1", "found '-1'"),
        ("1-", "found '1-'"),
        ("1 ", "found '1 '"),
        ("[1", r"found '\[1'"),
        ("3-1", "3-1 ends before it starts"),
        ("٣", "found"),
        ("0-99999999999", "99999999999 is above the largest"),
        ("0-4294967295", f"more than {MAX_IDS}"),
    ],
)
def test_a_text_that_is_no_idset_is_refused_with_the_part_at_fault(text: str, why: str) -> None:
    with pytest.raises(IdsetError, match=why):
        decode_idset(text)


@given(st.text(max_size=20))
def test_no_text_fails_in_another_way(text: str) -> None:
    try:
        decode_idset(text)
    except IdsetError as error:
        assert "idset" in str(error)
