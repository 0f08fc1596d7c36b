"""What is news, and what was said before.

Of one object and for one reason, the same words are news once in a while, and only so many
different ones are: a reason that counts free nodes has other words after every cycle, and nobody
reads them all.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Subject: TypeAlias = tuple[str, str]
"""An object, by its uid, and a reason."""


class _Said(NamedTuple):
    note: str
    at: float


class EventDedup:
    """Remembers what was said lately, of so many subjects."""

    def __init__(self, window: float, different: int, subjects: int) -> None:
        self._window, self._different, self._subjects = window, different, subjects
        self._said: dict[Subject, list[_Said]] = {}

    def is_news(self, subject: Subject, note: str, now: float) -> bool:
        """Whether to say this; if so, it counts as said."""
        before = self._said.get(subject)
        if before is None:
            self._said[subject] = [_Said(note, now)]
            if len(self._said) > self._subjects:
                del self._said[next(iter(self._said))]  # the one we have known longest
            return True
        lately = [said for said in before if now - said.at < self._window]
        is_news = len(lately) < self._different and all(said.note != note for said in lately)
        if is_news:
            lately.append(_Said(note, now))
        self._said[subject] = lately
        return is_news
