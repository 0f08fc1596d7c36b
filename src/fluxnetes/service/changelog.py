"""Records which keys changed in which revision, for streams that can be resumed.

The log does not keep what happened, only the last revision in which each key changed. A watcher
passes the revision up to which it is up to date, gets the keys that changed since, and then reads
their current state. So a slow watcher costs nothing, and one that returns after a while gets each
key once, however often it changed.

A position in the log is a text that contains the name of this log, so a position from before a
restart of the server is recognized and not mistaken for one of this log.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Iterable

KEPT = 100_000
"""Maximum keys in the log, to bound memory; a watcher that missed more changes begins anew."""


class ChangeLog:
    """A log of changed keys. Made and used in one event loop."""

    def __init__(self, kept: int = KEPT) -> None:
        self.revision = 0
        self._name = secrets.token_hex(6)
        self._kept = kept
        self._changed: OrderedDict[str, int] = OrderedDict()
        """The last revision of each changed key, in order of revision."""
        self._floor = 0
        """Changes up to this revision are no longer in the log."""
        self.is_closed = False
        self._change = asyncio.Event()

    def close(self) -> None:
        """End the log, and with it its watchers."""
        self.is_closed = True
        self._change.set()

    def note(self, keys: Iterable[str]) -> None:
        """Record a change of these keys."""
        self.revision += 1
        for key in keys:
            self._changed[key] = self.revision
            self._changed.move_to_end(key)
        while len(self._changed) > self._kept:
            _, self._floor = self._changed.popitem(last=False)
        self._change.set()

    def reset(self) -> None:
        """Record that everything changed: all watchers begin anew."""
        self.revision += 1
        self._floor = self.revision
        self._changed.clear()
        self._change.set()

    def since(self, revision: int) -> list[str] | None:
        """The keys that changed after a revision; None: it is too old, or not of this log."""
        if not self._floor <= revision <= self.revision:
            return None
        found = []
        for key, changed in reversed(self._changed.items()):
            if changed <= revision:
                break
            found.append(key)
        return found[::-1]

    async def beyond(self, revision: int, seconds: float) -> bool:
        """Wait for a change after a revision; False if there was none within the timeout."""
        try:
            async with asyncio.timeout(seconds):
                while self.revision <= revision and not self.is_closed:
                    self._change.clear()
                    await self._change.wait()
        except TimeoutError:
            return False
        return True

    def place(self, revision: int) -> str:
        """The position of a revision, as a text for clients."""
        return f"{self._name}-{revision}"

    def read(self, place: str) -> int:
        """The revision of a position; -1 if it is not of this log."""
        name, _, number = place.rpartition("-")
        known = name == self._name and number.isascii() and number.isdigit() and len(number) < 20
        return int(number) if known else -1
