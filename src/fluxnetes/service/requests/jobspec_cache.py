"""Jobspecs as they come over the wire. Clients send the same few again and again.

A large one takes seconds to read, in which nobody else would be answered. So whoever gets one has
it read ahead, in a thread, and then finds it known.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache

from fluxnetes.jobspec.errors import JobspecError
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.jobspec.parse import parse_jobspec
from fluxnetes.service.errors import Invalid

LONGEST = 4 << 20
"""A jobspec is some lines; four million of characters are none."""
_LARGE = 16 << 10


async def read_ahead(text: str) -> None:
    """See to it that a large jobspec is known when it is read."""
    if _LARGE < len(text) <= LONGEST:
        await asyncio.to_thread(_large, text)


def read_jobspec(text: str) -> Jobspec:
    """The jobspec that a text is."""
    if len(text) > LONGEST:
        raise Invalid(f"found {len(text)} characters, expected at most {LONGEST}", "jobspec")
    found = _large(text) if len(text) > _LARGE else _small(text)
    if isinstance(found, JobspecError):
        raise Invalid(str(found), found.path)
    return found


def _read(text: str) -> Jobspec | JobspecError:
    try:
        return parse_jobspec(text)
    except JobspecError as error:
        return error


_small = lru_cache(maxsize=512)(_read)
_large = lru_cache(maxsize=8)(_read)
