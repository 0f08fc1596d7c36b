"""Who calls, as far as that is known: the name that a caller's token stands for.

The guard finds it out before a call is served, and whoever serves it may ask. Where nobody needs a
token nobody is known, and whoever calls says for whom.
"""

from __future__ import annotations

from contextvars import ContextVar

from fluxnetes.service.errors import Denied

_caller: ContextVar[str] = ContextVar("caller", default="")
"""Every call has a context of its own."""


def note_caller(name: str) -> None:
    """The call that is about to be served is this one's."""
    _caller.set(name)


def user_of(named: str = "") -> str:
    """Who is to answer for what is asked, where the request names somebody or nobody.

    Raises Denied if it is somebody else than who calls. Empty: nobody is known or named.
    """
    known = _caller.get()
    if known and named and named != known:
        raise Denied(f"{known} calls, and asks in the name of {named}; leave the user out")
    return known or named
