"""Chooses which waiting groups are reported next.

Why a group waits is a query to the queue, and changes all the time. So groups take turns, a limited
number per second. Two kinds come before the others: the first jobs of each queue, whose users look
most often, are looked at whenever the queue has changed; and groups whose promised start changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice, zip_longest

from fluxnetes.cluster.groups import GroupKey

FIRST_IN_LINE = 100
"""The jobs of each queue, from the first, whose reports are at most two seconds old."""
IN_TURN = 100
"""Maximum groups per second besides those."""


class WaitingGroups:
    """Groups that wait, in the queue or for it, in the order in which they are reported."""

    def __init__(self) -> None:
        self._since: dict[GroupKey, float] = {}
        """Since when groups wait; those that were reported last come last."""
        self._first: dict[GroupKey, None] = {}
        """The first in line that are to be reported; a set in order of insertion, like the next."""
        self._changed: dict[GroupKey, None] = {}
        self._step: int | None = None
        """The step of the queue for which the first in line were last looked at."""

    def __contains__(self, key: GroupKey) -> bool:
        return key in self._since

    def add(self, key: GroupKey, clock: float) -> None:
        """A group waits, perhaps for some time already."""
        self._since.setdefault(key, clock)

    def remove(self, key: GroupKey) -> None:
        """A group waits no longer."""
        self._since.pop(key, None)
        self._changed.pop(key, None)

    def since(self, key: GroupKey) -> float:
        return self._since[key]

    def changed(self, key: GroupKey) -> None:
        """The promised start of a group changed, or what it waits for."""
        if key in self._since:
            self._changed[key] = None

    def take_first(self, step: int, first: Iterable[GroupKey]) -> Iterator[GroupKey]:
        """The first in line, if the queue has made a step since they were last reported.

        The caller stops when its time is over; those that are left come first the next time.
        """
        if step != self._step:
            self._step = step
            self._first |= dict.fromkeys(first)
        while self._first:
            key = next(iter(self._first))
            del self._first[key]
            yield from self._take(key)

    def take_turn(self) -> Iterator[GroupKey]:
        """The groups whose turn it is, and those that changed, alternately; for as long as the
        caller has time."""
        changed, in_turn = (list(islice(each, IN_TURN)) for each in (self._changed, self._since))
        done: set[GroupKey] = set()
        for key in chain.from_iterable(zip_longest(changed, in_turn)):
            if key is not None and key not in done:
                done.add(key)
                yield from self._take(key)

    def _take(self, key: GroupKey) -> Iterator[GroupKey]:
        """A group is reported now, and next after all others; unless it waits no longer."""
        self._changed.pop(key, None)
        if key in self._since:
            self._since[key] = self._since.pop(key)
            yield key
