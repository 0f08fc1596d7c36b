"""Drops events that repeat what was reported lately.

For one object and one reason, the same note is new once per window, and only a limited number of
different notes is: a reason that counts free nodes has another note after every cycle.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Subject: TypeAlias = tuple[str, str]
"""An object, by its uid, and a reason."""


class _Note(NamedTuple):
    text: str
    at: float


class EventDedup:
    """Remembers the recent notes of a limited number of subjects."""

    def __init__(self, window: float, different: int, subjects: int) -> None:
        self._window, self._different, self._subjects = window, different, subjects
        self._recent: dict[Subject, list[_Note]] = {}

    def is_news(self, subject: Subject, note: str, now: float) -> bool:
        """Whether to report this; if so, it counts as reported."""
        before = self._recent.get(subject)
        if before is None:
            self._recent[subject] = [_Note(note, now)]
            if len(self._recent) > self._subjects:
                del self._recent[next(iter(self._recent))]  # the oldest
            return True
        lately = [each for each in before if now - each.at < self._window]
        is_news = len(lately) < self._different and all(each.text != note for each in lately)
        if is_news:
            lately.append(_Note(note, now))
        self._recent[subject] = lately
        return is_news
