"""Decodes and encodes idsets (RFC 22): sets of non-negative integers, `0-3,7` or `[0-3,7]`.

Flux writes ranks and core numbers this way. The empty text is the empty set. A short text can name
more numbers than memory holds, so the size of a decoded set is limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MAX_IDS = 2**24
"""Maximum number of ids in one idset, each range counted in full."""
MAX_ID = 2**32 - 1
"""Largest id: ranks are 32-bit unsigned integers in Flux."""

_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?\Z")


class IdsetError(ValueError):
    """A text is not an idset."""


def decode_idset(text: str, most: int = MAX_IDS) -> list[int]:
    """The numbers that an idset names, sorted, each once. An error if it names more than `most`."""
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if inner == "":
        return []
    ranges = [_decode_range(part, text) for part in inner.split(",")]
    if sum(len(numbers) for numbers in ranges) > most:
        raise IdsetError(f"idset {text[:80]!r} names more than {most} numbers")
    if len(ranges) == 1:
        return list(ranges[0])
    return sorted({number for numbers in ranges for number in numbers})


def _decode_range(part: str, text: str) -> range:
    found = _RANGE.match(part)
    if found is None:
        raise IdsetError(
            f"idset {text[:80]!r}: expected a number or a range such as 0-3, found {part[:40]!r}"
        )
    low = int(found[1])
    high = low if found[2] is None else int(found[2])
    if high < low:
        raise IdsetError(f"idset {text[:80]!r}: range {part} ends before it starts")
    if high > MAX_ID:
        raise IdsetError(f"idset {text[:80]!r}: {high} is above the largest number, {MAX_ID}")
    return range(low, high + 1)


def encode_idset(ids: Iterable[int]) -> str:
    """The shortest text that names these numbers."""
    return ",".join(
        str(low) if low == high else f"{low}-{high}" for low, high in _runs(sorted(set(ids)))
    )


def _runs(ids: list[int]) -> Iterator[tuple[int, int]]:
    """The runs of consecutive numbers in a sorted list, as (first, last)."""
    start = 0
    for at in range(1, len(ids) + 1):
        if at == len(ids) or ids[at] != ids[at - 1] + 1:
            yield ids[start], ids[at - 1]
            start = at
