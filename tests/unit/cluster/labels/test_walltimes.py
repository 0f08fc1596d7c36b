"""A walltime is read as its writer meant it, or refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cluster.labels.walltimes import LONGEST, parse_walltime


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("1.5", 2),
        ("30m", 1800),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("2d", 172_800),
        ("1d2h3m4s", 93_784),
        ("0h10m", 600),
        ("0.1s", 1),
        ("01:30:00", 5400),
        ("1:30:00", 5400),
        ("100:00:00", 360_000),
        ("1-00:00:00", 86_400),
        ("2-12:30:15", 217_815),
    ],
)
def test_every_way_to_write_it(text: str, seconds: int) -> None:
    assert parse_walltime(text) == seconds


UNCLEAR = ["", "soon", "30 min", "1h 30m", "30m1h", "1h1h", "h", "1w", "1H", "90:00", "1:60:00"]
OUT_OF_RANGE = ["0", "0s", "0:00:00", "-1", "-1h", "101000d", "9999999999", "1e9", "1" * 50]
ODD = ["1.", ".5", "1,5h", "1-00", "1-2-00:00:00", "+1", "0x10", "\u0663", "1h\n"]


@pytest.mark.parametrize("text", [*UNCLEAR, *OUT_OF_RANGE, *ODD])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_walltime(text)


@given(st.integers(1, LONGEST))
def test_all_ways_to_write_a_walltime_agree(seconds: int) -> None:
    minutes, s = divmod(seconds, 60)
    hours, m = divmod(minutes, 60)
    d, h = divmod(hours, 24)
    ways = [f"{seconds}", f"{seconds}s", f"{d}d{h}h{m}m{s}s", f"{d}-{h}:{m:02}:{s:02}"]
    assert {parse_walltime(way) for way in ways} == {seconds}


@given(st.text("0159dhms:-. ", max_size=10) | st.text(max_size=10))
def test_any_text_is_a_walltime_or_refused(text: str) -> None:
    with suppress(ValueError):
        assert 0 < parse_walltime(text) <= LONGEST
