"""Decides which failed calls are repeated, and after which delay.

A call that got no answer may have been executed all the same. Repeating it is safe if it is
idempotent: if it changes nothing, if it sets a state rather than leaving one, or if the request has
an id by which the server recognizes it (`match` and `submit` always have one). Other calls are made
once: a `cancel` that must find its job would not find it the second time.

Only calls whose server is gone are repeated, never calls that the server refused.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Any

import grpc

from fluxnetes.client.calls import Call
from fluxnetes.client.errors import AWAY, error_of

SAFE = frozenset(
    {"Match", "Submit", "Renew", "Cancel", "Hold", "Release", "GetJob", "Explain", "Estimate"}
    | {"ListNodes", "GetStatus"}
)
"""The idempotent calls."""


def is_safe(call: Call[Any]) -> bool:
    """Whether this call can be repeated."""
    return call.method in SAFE and getattr(call.request, "missing_ok", True)


@dataclass(frozen=True, slots=True)
class Patience:
    """The timeout and retry delays of calls, in seconds."""

    timeout: float = 30.0
    """Of all tries of a call together."""
    first: float = 0.05
    """The first retry delay; each is twice the one before."""
    longest: float = 2.0
    """Maximum retry delay."""


class Tries:
    """The tries of one call."""

    def __init__(self, call: Call[Any], patience: Patience) -> None:
        self._is_safe = is_safe(call)
        self._delay = patience.first
        self._longest = patience.longest
        self._deadline = time.monotonic() + patience.timeout

    @property
    def left(self) -> float:
        """Seconds until the timeout."""
        return self._deadline - time.monotonic()

    def delay_after(self, failed: grpc.RpcError) -> float:
        """Seconds to wait before the next try. Raises CallError if there is none."""
        delay, self._delay = self._delay, min(2 * self._delay, self._longest)
        is_away = failed.code() in AWAY
        if not (is_away and self._is_safe and delay < self.left):
            raise error_of(failed) from None
        # Jitter: the clients of a restarted server should not all return at once.
        return delay * random.uniform(0.5, 1.0)  # noqa: S311 - nothing secret
