"""Patience with a server that does not answer: pauses that grow, and a word now and then."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from dataclasses import dataclass

_log = logging.getLogger("fluxnetes.kube")


@dataclass(frozen=True, slots=True)
class RetryTiming:
    """How long to wait for what."""

    first_pause: float = 0.1
    longest_pause: float = 10.0
    silence: float = 150.0
    """Seconds without a word after which a watch is taken for dead.

    The server sends a bookmark about once a minute."""
    say_again: float = 30.0
    """Seconds between two complaints about the same thing."""
    level: int = logging.WARNING
    """How loud complaints are."""


class Backoff:
    """How long to wait next, and whether to say so."""

    def __init__(self, what: str, patience: RetryTiming) -> None:
        self._what = what
        self._patience = patience
        self._next = patience.first_pause
        self._began: float | None = None
        self._said = 0.0

    async def pause(self, why: str, at_least: float = 0.0) -> None:
        """Wait a while: half of it for certain, half by chance, lest all clients come at once."""
        self._complain(why)
        pause = self._next * random.uniform(0.5, 1.0)  # noqa: S311 - not for secrets
        self._next = min(2 * self._next, self._patience.longest_pause)
        await asyncio.sleep(max(pause, at_least))

    def over(self) -> None:
        """It answers."""
        if self._began is not None:
            _log.info("%s: works again after %.1f s", self._what, time.monotonic() - self._began)
        self._began, self._next = None, self._patience.first_pause

    def _complain(self, why: str) -> None:
        now = time.monotonic()
        if self._began is None or now - self._said >= self._patience.say_again:
            _log.log(self._patience.level, "%s: %s; trying again", self._what, why)
            self._said = now
        if self._began is None:
            self._began = now
