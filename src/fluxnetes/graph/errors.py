"""The error for an invalid resource graph, or an invalid change to one."""

from __future__ import annotations

import sys

import msgspec

DECODE_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What the decoder of JSON raises."""


def decode_problem(error: Exception) -> str:
    """What is wrong with a text, from an error of the decoder of JSON."""
    if isinstance(error, RecursionError):
        return f"its values are nested more than {sys.getrecursionlimit()} deep"
    return str(error)


class GraphError(ValueError):
    """A resource graph, or a change to one, is invalid."""
