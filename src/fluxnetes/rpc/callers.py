"""The name of the caller of the current call, as its token identifies it.

The guard sets it before a call is served, and services read it. On a server without tokens callers
are unknown, and a request may name any user.
"""

from __future__ import annotations

from contextvars import ContextVar

from fluxnetes.service.errors import Denied

_caller: ContextVar[str] = ContextVar("caller", default="")
"""Set per call: gRPC runs every call in a context of its own."""


def note_caller(name: str) -> None:
    """Set the caller of the current call."""
    _caller.set(name)


def user_of(named: str = "") -> str:
    """The user of a request: the caller or, on a server without tokens, the `named` one.

    Raises Denied if the request names another user than the caller. Empty: unknown.
    """
    known = _caller.get()
    if known and named and named != known:
        raise Denied(f"{known} may not use the name of {named}; leave the user out")
    return known or named
