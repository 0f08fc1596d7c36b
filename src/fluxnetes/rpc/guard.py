"""Who may call: those who show a token that is in our file.

    authorization: Bearer 3f0c...

The file has a token a line, after the name of whoever has it, and is read anew when it changes:

    # for the nightly tests
    ci 3f0c...

Whoever calls is known by that name from then on: see `callers`. Health may be asked by everybody:
whoever probes has no token.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import grpc
from grpc import HandlerCallDetails, RpcMethodHandler

from fluxnetes.rpc.callers import note_caller

_log = logging.getLogger("fluxnetes.rpc")

Handler: TypeAlias = "RpcMethodHandler[Any, Any]"

_OPEN = "/grpc.health.v1.Health/"
_BEARER = "Bearer "
_SHORTEST = 16
"""A token of fewer characters can be guessed."""


class InvalidTokens(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """A file that has no tokens, or unsafe ones."""


class TokenGuard(grpc.aio.ServerInterceptor):
    """Lets those in who have a token."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen: object = None
        self._digests: dict[bytes, str] = {}
        self._refresh(strict=True)

    async def intercept_service(
        self,
        continuation: Callable[[HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: HandlerCallDetails,
    ) -> Handler | None:
        if not handler_call_details.method.startswith(_OPEN):
            name = self.caller(handler_call_details.invocation_metadata)
            if name is None:
                return _REFUSE
            note_caller(name)
        return await continuation(handler_call_details)

    def caller(self, metadata: Any) -> str | None:
        """The name of whoever shows a token that we know; None: nobody."""
        self._refresh()
        shown = next((v for k, v in metadata or () if k == "authorization"), "")
        if not isinstance(shown, str) or not shown.startswith(_BEARER):
            return None
        digest = _digest(shown.removeprefix(_BEARER).strip())
        # All are compared, and in constant time: how long it takes says nothing.
        found = [
            name for known, name in self._digests.items() if hmac.compare_digest(known, digest)
        ]
        return found[0] if found else None

    def _refresh(self, strict: bool = False) -> None:
        try:
            status = self._file.stat()
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
            if seen != self._seen:
                self._digests = read_tokens(self._file)
                self._seen = seen
        except (OSError, InvalidTokens) as error:
            if strict:
                raise InvalidTokens(f"{self._file}: {error}") from error
            if self._seen is not None:
                self._seen = None
                _log.warning("the tokens stay as they were: %s", error)


def read_tokens(file: Path) -> dict[bytes, str]:
    """The names of those who have a token, by what their tokens are hashed to."""
    if file.stat().st_mode & 0o007:
        raise InvalidTokens("everybody on this machine can read it; chmod o= it")
    found: dict[bytes, str] = {}
    for number, line in enumerate(file.read_text().splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or len(words[1]) < _SHORTEST:
            raise InvalidTokens(
                f"line {number}: expected a name and a token of at least {_SHORTEST} characters"
            )
        found[_digest(words[1])] = words[0]
    if not found:
        raise InvalidTokens("it has no tokens")
    return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


async def _refused(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:
    await context.abort(
        grpc.StatusCode.UNAUTHENTICATED,
        "a token is needed: send the metadata 'authorization: Bearer TOKEN'",
    )


_REFUSE: Handler = grpc.unary_unary_rpc_method_handler(_refused)
