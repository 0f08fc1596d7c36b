"""Endless streams that resume where the connection was lost, also across restarts of the server.

A message of the server carries a position, `resume`: all changes up to there were sent. A client
that reconnects sends the last position and receives what changed since. A restarted server does not
know the position and begins with a reset.
"""

from __future__ import annotations

from typing import Any

import grpc

from fluxnetes.client.calls import Call
from fluxnetes.client.errors import Unavailable, error_of

RECONNECT_DELAY = 0.5
"""Seconds before a lost stream is reconnected."""


def remember_position(call: Call[Any], message: Any) -> None:
    """Resume after this message if the connection is lost."""
    if message.resume:
        call.request.resume = message.resume


def check_lost(failed: grpc.RpcError) -> None:
    """Raise CallError unless the stream was lost, rather than refused, and can be resumed."""
    error = error_of(failed)
    if not isinstance(error, Unavailable):
        raise error from None
