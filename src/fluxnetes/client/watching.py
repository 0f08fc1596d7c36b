"""Streams without end: taken up again where they were cut, whatever becomes of the server.

The server says in its messages up to where everything was told. Whoever comes back says up to where
it was told, and hears what changed since then. A server that was restarted does not know the place;
it says that all is to be told anew.
"""

from __future__ import annotations

from typing import Any

import grpc

from fluxnetes.client.calls import Call
from fluxnetes.client.errors import Unavailable, error_of

PAUSE = 0.5
"""Seconds before a stream that was cut is taken up again."""


def move(call: Call[Any], message: Any) -> None:
    """Remember up to where everything was told."""
    if message.resume:
        call.request.resume = message.resume


def check_lost(failed: grpc.RpcError) -> None:
    """A stream that was cut is taken up again; one that is refused is not. Raises CallError."""
    error = error_of(failed)
    if not isinstance(error, Unavailable):
        raise error from None
