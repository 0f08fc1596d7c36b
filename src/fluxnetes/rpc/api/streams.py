"""Streams that tell what there is, then what changes, and that can be taken up where they were cut.

A message says where to resume only if all before that place was told; so of several that belong
together only the last one says the new place.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from fluxnetes.service.changelog import ChangeLog

T = TypeVar("T")

SILENCE = 30.0
"""After so many seconds without news there is a bookmark: the stream lives."""
_GATHER = 0.05
"""News wait so long for more of them."""


@dataclass(frozen=True, slots=True)
class WatchedItem(Generic[T]):
    """Something as it is now."""

    view: T
    gone: bool = False


Views = Callable[[list[str] | None], Awaitable[list[WatchedItem[T]]]]
"""What is to be told of some keys, or of all there are."""
Told = tuple[str, T | None, str]
"""A kind (`reset`, `changed`, `gone`, `bookmark`), what it is of, and where to resume."""


async def watch(changelog: ChangeLog, resume: str, views: Views[T]) -> AsyncIterator[Told[T]]:
    """Tell of changes, until the journal is closed."""
    done = changelog.read(resume)
    while not changelog.is_closed:
        keys = changelog.since(done)
        now = changelog.revision  # before looking: what changes meanwhile is told once more
        if keys is None:
            yield "reset", None, ""
            before = ""
        else:
            before = changelog.place(done)
        for each in await views(keys) if keys is None or keys else []:
            yield "gone" if each.gone else "changed", each.view, before
        done = now
        yield "bookmark", None, changelog.place(done)
        while not await changelog.beyond(done, SILENCE):
            yield "bookmark", None, changelog.place(done)
        await asyncio.sleep(_GATHER)
