"""Texts that Postgres or UTF-8 cannot hold: with a NUL character, or half of a surrogate pair.

JSON can escape both (`"\\u0000"`, `"\\ud800"`), so they arrive even in messages whose bytes have
neither.
"""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def is_storable(text: str) -> bool:
    """
    >>> is_storable("naïve"), is_storable("a\\0b"), is_storable("\\ud800")
    (True, False, False)
    """
    if text.isascii():  # nearly all of them, and quick to see
        return "\0" not in text
    return _UNSTORABLE.search(text) is None


def storable(text: str, longest: int) -> str:
    """The text, cut to a length, with the replacement character for each that cannot be stored.

    >>> storable("a\\0b" + 9 * "c", 5)
    'a\ufffdbcc'
    """
    text = text[:longest]
    return text if is_storable(text) else _UNSTORABLE.sub(_REPLACEMENT, text)
