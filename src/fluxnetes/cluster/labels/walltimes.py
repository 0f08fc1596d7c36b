"""Parses walltimes as people write them.

    5400            seconds
    1h30m, 2d, 90s  parts with units, from large to small: d, h, m, s; also 1.5h
    01:30:00        hours, minutes and seconds; 2-12:00:00 with days before them, as in Slurm

A label cannot hold a colon, so the last form needs an annotation.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil

EXPECTED = "seconds, or a text like 1h30m, 2d or 1-12:00:00, of 1 second to 100 years"
LONGEST = 100 * 366 * 86_400
"""Maximum walltime, in seconds."""

_NUMBER = r"([0-9]{1,12}(?:\.[0-9]{1,9})?)"
_SECONDS = re.compile(_NUMBER)
_PARTS = re.compile("".join(f"(?:{_NUMBER}{unit})?" for unit in "dhms"))
_CLOCK = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{1,6}):([0-5]?[0-9]):([0-5]?[0-9])")
_EACH = (86_400, 3_600, 60, 1)


def parse_walltime(text: str) -> int:
    """Whole seconds, rounded up. Raises ValueError for anything but a walltime.

    >>> parse_walltime("90"), parse_walltime("1h30m"), parse_walltime("1-00:00:01")
    (90, 5400, 86401)
    """
    numbers = _numbers(text)
    if numbers is None:
        raise ValueError(text)
    parts = zip(numbers, _EACH, strict=True)
    seconds = ceil(sum(Fraction(number or 0) * each for number, each in parts))
    if not 0 < seconds <= LONGEST:
        raise ValueError(text)
    return seconds


def _numbers(text: str) -> tuple[str | None, ...] | None:
    """Days, hours, minutes and seconds; None: not a walltime."""
    if _SECONDS.fullmatch(text):
        return (None, None, None, text)
    match = (_PARTS.fullmatch(text) if text else None) or _CLOCK.fullmatch(text)
    return match.groups() if match else None
