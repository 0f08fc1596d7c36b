"""Streams of the current state, then of changes, that can be resumed after a lost connection.

A message carries a position to resume from only if everything before that position was sent; so of
several messages of one batch only the last one carries the new position.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from fluxnetes.service.changelog import ChangeLog

T = TypeVar("T")

BOOKMARK_INTERVAL = 30.0
"""Seconds without a change after which a bookmark shows that the stream is alive."""
_BATCH_DELAY = 0.05
"""Seconds that a change waits for others, so that a burst is sent as one batch."""


@dataclass(frozen=True, slots=True)
class WatchedItem(Generic[T]):
    """A job or node as it is now."""

    view: T
    gone: bool = False


Views = Callable[[list[str] | None], Awaitable[list[WatchedItem[T]]]]
"""Reads the current state of some keys, or of all."""
WatchMessage = tuple[str, T | None, str]
"""A kind (`reset`, `changed`, `gone`, `bookmark`), its job or node, the position to resume from."""


async def watch(
    changelog: ChangeLog, resume: str, views: Views[T]
) -> AsyncIterator[WatchMessage[T]]:
    """The messages of a stream, until the change log is closed."""
    done = changelog.read(resume)
    while not changelog.is_closed:
        keys = changelog.since(done)
        now = changelog.revision  # before reading: a change during the read is sent once more
        if keys is None:
            yield "reset", None, ""
            before = ""
        else:
            before = changelog.place(done)
        for each in await views(keys) if keys is None or keys else []:
            yield "gone" if each.gone else "changed", each.view, before
        done = now
        yield "bookmark", None, changelog.place(done)
        while not await changelog.beyond(done, BOOKMARK_INTERVAL):
            yield "bookmark", None, changelog.place(done)
        await asyncio.sleep(_BATCH_DELAY)
