"""Quantities mean what Kubernetes takes them to mean, and round to the safe side."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cluster.quantities import (
    LARGEST,
    InvalidQuantity,
    amounts,
    exact,
    in_units,
    measure,
    mebibytes,
    millis,
    whole,
)

SUFFIXES: dict[str, int | Fraction] = {
    "": 1,
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "P": 10**15,
    "E": 10**18,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
    "Pi": 2**50,
    "Ei": 2**60,
    "e3": 10**3,
    "E3": 10**3,
    "e-2": Fraction(1, 100),
    "E+2": 100,
}


@pytest.mark.parametrize(("suffix", "factor"), SUFFIXES.items())
def test_every_suffix_multiplies(suffix: str, factor: int | Fraction) -> None:
    assert exact(f"3{suffix}") == 3 * factor
    assert exact(f"+1.5{suffix}") == Fraction(3, 2) * factor


MISSPELT = ["1 Gi", "1GB", "1gi", "1K", "1ki", "1mi", "1e", "1e1.5", "1e3Gi", "1,5", "1.2.3"]
NO_NUMBERS = ["", " ", ".", "-", "+", "two", "NaN", "inf", "0x10", "1_000", "1\n", "\u0663", "--1"]
OUT_OF_RANGE = ["-1", "-1m", "1e100", "1e999999999", "1" * 65]


@pytest.mark.parametrize("text", [*MISSPELT, *NO_NUMBERS, *OUT_OF_RANGE])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    for read in (exact, whole, millis):
        with pytest.raises(InvalidQuantity):
            read(text)
    with pytest.raises(InvalidQuantity):
        mebibytes(text, up=True)


def test_the_error_names_the_resource_and_what_was_found() -> None:
    for up in (True, False):
        with pytest.raises(InvalidQuantity, match=r"nvidia.com/gpu: found 'many', expected a Kube"):
            amounts({"cpu": "1", "nvidia.com/gpu": "many"}, up=up)
    with pytest.raises(InvalidQuantity, match=r"memory: found '2 GB', expected"):
        measure("memory", "2 GB")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("250m", 250), ("1.5", 1500), ("2", 2000), ("0", 0), ("-0", 0), ("0.1m", 1), ("1e-1", 100)],
)
def test_cpu_is_counted_in_millicores(text: str, expected: int) -> None:
    assert millis(text) == expected


def test_resources_are_counted_in_their_units_and_rounded_to_the_safe_side() -> None:
    written = {
        "cpu": "1500500u",
        "memory": "1G",
        "ephemeral-storage": "1Gi",
        "hugepages-2Mi": "4Mi",
        "hugepages-1Gi": "1Gi",
        "pods": "110",
        "nvidia.com/gpu": "8",
        "example.com/memory": "1Ki",
    }
    sizes = {"ephemeral-storage": 1024, "hugepages-2Mi": 4, "hugepages-1Gi": 1024}
    pieces = {"pods": 110, "nvidia.com/gpu": 8, "example.com/memory": 1024}
    assert amounts(written, up=True) == {"cpu": 1501, "memory": 954, **sizes, **pieces}
    assert amounts(written, up=False) == {"cpu": 1500, "memory": 953, **sizes, **pieces}


def test_what_is_beyond_counting_is_never_there_when_asked_for() -> None:
    for name in ("cpu", "memory", "example.com/thing"):
        (asked,) = amounts({name: "9e40"}, up=True).values()
        (there,) = amounts({name: "9e40"}, up=False).values()
        assert there == LARGEST < asked == in_units(name, measure(name, "9e40") << 20)


digits = st.text("0123456789", min_size=1, max_size=12)
numbers = st.builds(lambda a, b: f"{a}.{b}" if b else a, digits, st.text("0123456789", max_size=6))


@given(numbers, st.sampled_from(sorted(SUFFIXES)))
def test_reading_agrees_with_fractions(number: str, suffix: str) -> None:
    text, value = number + suffix, Fraction(number) * SUFFIXES[suffix]
    assert exact(text) == value
    assert whole(text) == min(ceil(value), LARGEST + 1)
    assert millis(text, up=False) == min(floor(value * 1000), LARGEST)
    assert mebibytes(text, up=True) == min(ceil(value / 2**20), LARGEST + 1)
    assert mebibytes(text, up=False) == min(floor(value / 2**20), LARGEST)


@given(st.text("019.+-eEkKmMiGnu ", max_size=8) | st.text(max_size=8))
def test_any_text_is_a_quantity_or_refused(text: str) -> None:
    try:
        assert whole(text) >= 0
    except InvalidQuantity as bad:
        assert "quantity: found" in str(bad)


@given(st.lists(numbers, max_size=5))
def test_memory_is_added_up_first_and_rounded_once(texts: list[str]) -> None:
    total = sum(ceil(Fraction(text) * 10**6) for text in texts)
    measured = sum(measure("memory", f"{text}M") for text in texts)
    assert in_units("memory", measured) == min(ceil(Fraction(total, 2**20)), LARGEST + 1)
