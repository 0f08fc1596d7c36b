"""Exponential backoff for calls to a server that does not answer, with throttled messages.

A `Backoff` covers one operation that is retried for as long as it takes: the caller awaits `pause`
after each failure and calls `over` after a success. Delays double from `initial_delay` up to
`max_delay`, and part of each is random. The first failure is reported, then one per
`log_interval`; so is the recovery, once.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

_log = logging.getLogger("fluxnetes.kube")

Report = Callable[[int, str], None]
"""Receives the log level and the text of a message."""


@dataclass(frozen=True, slots=True)
class RetryTiming:
    """Retry delays, and how often failures are reported; all times in seconds."""

    initial_delay: float = 0.1
    """Delay before the first retry; it doubles with each further one."""
    max_delay: float = 10.0
    """Maximum delay between retries, so that a recovery is noticed soon."""
    jitter: float = 0.5
    """The share of each delay that is random, so that clients do not retry in step."""
    idle_timeout: float = 150.0
    """Time without data after which a watch is considered dead.

    The server sends a bookmark about once a minute."""
    log_interval: float = 30.0
    """Minimum time between two messages about the same failing operation."""
    log_level: int = logging.WARNING
    """Level of the messages about failures; that about the recovery is INFO."""


@dataclass(frozen=True, slots=True)
class RetryMessages:
    """Templates of the messages; the fields in braces are filled in."""

    failing: str = "{operation}: {cause}; trying again"
    recovered: str = "{operation}: works again after {seconds:.1f} s"


_MESSAGES = RetryMessages()


class Backoff:
    """The next delay of one operation, and whether it is time to report its failure."""

    def __init__(
        self,
        operation: str,
        timing: RetryTiming,
        *,
        messages: RetryMessages = _MESSAGES,
        report: Report = _log.log,
    ) -> None:
        self._operation = operation
        self._timing = timing
        self._messages = messages
        self._report = report
        self._delay = timing.initial_delay
        self._failing_since: float | None = None
        self._reported_at = 0.0

    async def pause(self, cause: str, at_least: float = 0.0) -> None:
        """Wait before the next attempt, for `at_least` what the server asks for."""
        self._report_failure(cause)
        share = random.uniform(1.0 - self._timing.jitter, 1.0)  # noqa: S311 - not for secrets
        delay = self._delay * share
        self._delay = min(2 * self._delay, self._timing.max_delay)
        await asyncio.sleep(max(delay, at_least))

    def over(self) -> None:
        """The operation succeeded: the next failure starts from the initial delay."""
        if self._failing_since is not None:
            seconds = time.monotonic() - self._failing_since
            text = self._messages.recovered.format(operation=self._operation, seconds=seconds)
            self._report(logging.INFO, text)
        self._failing_since, self._delay = None, self._timing.initial_delay

    def _report_failure(self, cause: str) -> None:
        now = time.monotonic()
        if self._failing_since is None or now - self._reported_at >= self._timing.log_interval:
            text = self._messages.failing.format(operation=self._operation, cause=cause)
            self._report(self._timing.log_level, text)
            self._reported_at = now
        if self._failing_since is None:
            self._failing_since = now
