"""Jobspecs as they come over the wire. Clients send the same few again and again."""

from __future__ import annotations

from functools import lru_cache

from fluxnetes.jobspec.errors import JobspecError
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.jobspec.parse import parse_jobspec
from fluxnetes.rpc.refusals import Invalid

LONGEST = 4 << 20
"""A jobspec is some lines; four million of characters are none."""
_WORTH_KEEPING = 16 << 10


def read_jobspec(text: str) -> Jobspec:
    """The jobspec that a text is."""
    if len(text) > LONGEST:
        raise Invalid(f"found {len(text)} characters, expected at most {LONGEST}", "jobspec")
    return _known(text) if len(text) <= _WORTH_KEEPING else _read(text)


def _read(text: str) -> Jobspec:
    try:
        return parse_jobspec(text)
    except JobspecError as error:
        raise Invalid(str(error), error.path) from None


_known = lru_cache(maxsize=512)(_read)
