"""What changed since when: for streams that can be cut and taken up again.

The journal does not remember what happened, only of whom something is to be told: for each key the
last revision in which it changed. A watcher says up to where it was told everything, and hears who
changed since then; what became of them it is shown as it is now. So a slow watcher costs nothing,
and one that comes back after a while is told once of what changed often.

A place in the journal is a text that names this very journal: one from another life of the server
is not taken for one of this.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Iterable

KEPT = 100_000
"""So many keys are remembered; who was away for longer begins anew."""


class ChangeLog:
    """Made and used in one event loop."""

    def __init__(self, kept: int = KEPT) -> None:
        self.revision = 0
        self._name = secrets.token_hex(6)
        self._kept = kept
        self._changed: OrderedDict[str, int] = OrderedDict()
        """The keys that changed, with the revision, in the order of it."""
        self._floor = 0
        """Up to here it is not known any more who changed."""
        self.is_closed = False
        self._news = asyncio.Event()

    def close(self) -> None:
        """Nothing more will be told: watchers are to go."""
        self.is_closed = True
        self._news.set()

    def note(self, keys: Iterable[str]) -> None:
        """Something changed."""
        self.revision += 1
        for key in keys:
            self._changed[key] = self.revision
            self._changed.move_to_end(key)
        while len(self._changed) > self._kept:
            _, self._floor = self._changed.popitem(last=False)
        self._news.set()

    def reset(self) -> None:
        """Everything is another: all watchers begin anew."""
        self.revision += 1
        self._floor = self.revision
        self._changed.clear()
        self._news.set()

    def since(self, revision: int) -> list[str] | None:
        """Who changed after a revision; None: that is too long ago to say."""
        if not self._floor <= revision <= self.revision:
            return None
        found = []
        for key, changed in reversed(self._changed.items()):
            if changed <= revision:
                break
            found.append(key)
        return found[::-1]

    async def beyond(self, revision: int, seconds: float) -> bool:
        """Wait until something changes after a revision; False if nothing did for so long."""
        try:
            async with asyncio.timeout(seconds):
                while self.revision <= revision and not self.is_closed:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return False
        return True

    def place(self, revision: int) -> str:
        """A revision as a text that others can keep."""
        return f"{self._name}-{revision}"

    def read(self, place: str) -> int:
        """The revision that a text of ours stands for; -1 if it is no text of this journal."""
        name, _, number = place.rpartition("-")
        known = name == self._name and number.isascii() and number.isdigit() and len(number) < 20
        return int(number) if known else -1
