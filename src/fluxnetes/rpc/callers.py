"""The caller of the current call, as its token identifies it.

The guard sets it before a call is served, and services read it. On a server without tokens callers
are unknown, and a request may name any user.
"""

from __future__ import annotations

from contextvars import ContextVar

from fluxnetes.service.callers import ADMIN, Caller
from fluxnetes.service.errors import Denied

_caller: ContextVar[Caller] = ContextVar("caller", default=ADMIN)
"""Set per call: gRPC runs every call in a context of its own."""
_authenticated: ContextVar[bool] = ContextVar("authenticated", default=True)


def note_caller(caller: Caller) -> None:
    """Set the caller of the current call."""
    _caller.set(caller)


def note_unauthenticated() -> None:
    """The current call has no token, and asks only for what needs none."""
    _authenticated.set(False)


def is_authenticated() -> bool:
    """Whether the current call has a token, or the server needs none."""
    return _authenticated.get()


def current_caller() -> Caller:
    """The caller of the current call; on a server without tokens, an unnamed administrator."""
    return _caller.get()


def user_of(named: str = "") -> str:
    """The user of a request: the caller or, on a server without tokens, the `named` one.

    An administrator may name another user. For other callers that is Denied. Empty: unknown.
    """
    caller = _caller.get()
    if caller.is_admin and named:
        return named
    if caller.name and named and named != caller.name:
        raise Denied(f"{caller.name} may not use the name of {named}; leave the user out")
    return caller.name or named
