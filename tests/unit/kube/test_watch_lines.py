"""Lines survive being cut anywhere."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.kube.watch import LineSplitter

LINES = st.lists(st.binary(min_size=1).map(lambda b: b.replace(b"\n", b"_")), max_size=8)


@given(lines=LINES, cuts=st.lists(st.integers(0, 200), max_size=10))
def test_however_a_stream_is_cut_its_lines_are_the_same(
    lines: list[bytes], cuts: list[int]
) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    reader = LineSplitter()
    pieces = [stream[a:b] for a, b in pairwise(edges)]
    assert [line for piece in pieces for line in reader.feed(piece)] == lines


def test_a_line_without_an_end_is_kept_back() -> None:
    reader = LineSplitter()
    assert reader.feed(b"one\ntw") == [b"one"]
    assert reader.feed(b"") == []
    assert reader.feed(b"o") == []
    assert reader.feed(b"\n\nthree\n") == [b"two", b"three"]
