"""Which calls are made again.

A call that was not answered may have been done all the same. To ask again is safe where asking
twice does what asking once does: where nothing is changed, where the change is to a state rather
than from one, and where the request has a name of its own by which the server knows it again
(`match` and `submit` always have one). All else is asked once: a `cancel` that must find its job
would not find it the second time.

Asked again is only what could not be reached; what was refused is refused.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Any

import grpc

from fluxnetes.client.calls import Call
from fluxnetes.client.errors import error_of

SAFE = frozenset(
    {"Match", "Submit", "Renew", "Cancel", "Hold", "Release", "GetJob", "Explain", "Estimate"}
    | {"ListNodes", "GetStatus"}
)
"""The calls that can be made again."""


def is_safe(call: Call[Any]) -> bool:
    """Whether this very call can be made again."""
    return call.method in SAFE and getattr(call.request, "missing_ok", True)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for a server, in seconds."""

    timeout: float = 30.0
    """For all tries of a call together."""
    first: float = 0.05
    """The first pause; each is twice the one before."""
    longest: float = 2.0


class Tries:
    """The tries of one call."""

    def __init__(self, call: Call[Any], patience: Patience) -> None:
        self._is_safe = is_safe(call)
        self._pause = patience.first
        self._longest = patience.longest
        self._deadline = time.monotonic() + patience.timeout

    @property
    def left(self) -> float:
        """Seconds until patience is over."""
        return self._deadline - time.monotonic()

    def pause_after(self, failed: grpc.RpcError) -> float:
        """How long to wait before the next try. Raises CallError if there is to be none."""
        pause, self._pause = self._pause, min(2 * self._pause, self._longest)
        is_away = failed.code() is grpc.StatusCode.UNAVAILABLE
        if not (is_away and self._is_safe and pause < self.left):
            raise error_of(failed) from None
        # Many clients lost the same server, and should not all come back at once.
        return pause * random.uniform(0.5, 1.0)  # noqa: S311 - nothing secret
