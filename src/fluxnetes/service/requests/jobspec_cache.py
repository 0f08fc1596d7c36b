"""Parses jobspecs of callers, with a cache: clients send the same few again and again.

Parsing a large jobspec takes seconds, so it is done in a thread, and the event loop goes on with
other calls. Every dialect reads jobspecs here.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache, partial

from fluxnetes.jobspec.constraint import MAX_NAMES
from fluxnetes.jobspec.errors import JobspecError
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.jobspec.parse import parse_jobspec
from fluxnetes.queue.errors import OutOfBounds
from fluxnetes.queue.input_limits import check_bounds
from fluxnetes.service.errors import Invalid

LONGEST = 4 << 20
"""Maximum characters of a jobspec, to bound the time and memory that one call takes."""
_LARGE = 16 << 10
"""Characters from which a jobspec is parsed in a thread and cached apart: a few large ones must not
displace the many small ones, nor fill the memory."""
_FEW_NAMES = 1000
"""Nodes that a small jobspec may name, because a short text can name very many."""


async def read_jobspec(text: str) -> Jobspec:
    """The jobspec in a text. Raises Invalid."""
    if len(text) > LONGEST:
        raise Invalid(f"found {len(text)} characters, expected at most {LONGEST}", "jobspec")
    found = _small(text) if len(text) <= _LARGE else None
    if not isinstance(found, Jobspec):  # it is large, or invalid, which it may be by naming many
        found = await asyncio.to_thread(_large, text)
    if isinstance(found, Invalid):
        raise Invalid(str(found), found.field)
    return found


def _parse(text: str, max_names: int) -> Jobspec | Invalid:
    """The jobspec, or why there is none. A jobspec that could not be stored is none anywhere."""
    try:
        jobspec = parse_jobspec(text, max_names)
        check_bounds(jobspec, "jobspec")
    except JobspecError as error:
        return Invalid(str(error), error.path)
    except OutOfBounds as error:
        return Invalid(str(error), error.path)
    return jobspec


_small = lru_cache(maxsize=512)(partial(_parse, max_names=_FEW_NAMES))
_large = lru_cache(maxsize=8)(partial(_parse, max_names=MAX_NAMES))
