"""Authenticates callers by bearer tokens from a file.

    authorization: Bearer 3f0c...

The file has a caller per line, its name and its token, and is read again when it changes:

    # for the nightly tests
    ci 3f0c...

The name identifies the caller to services: see `callers`. Health checks need no token, because
probes have none.
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

_PUBLIC = "/grpc.health.v1.Health/"
_BEARER = "Bearer "
_SHORTEST = 16
"""Minimum characters of a token, so that it cannot be guessed."""


class InvalidTokens(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """A token file without tokens, or with unsafe ones."""


class TokenGuard(grpc.aio.ServerInterceptor):
    """Refuses calls without a known token."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._version: object = None
        self._digests: dict[bytes, str] = {}
        self._refresh(strict=True)

    async def intercept_service(
        self,
        continuation: Callable[[HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: HandlerCallDetails,
    ) -> Handler | None:
        if not handler_call_details.method.startswith(_PUBLIC):
            name = self.caller(handler_call_details.invocation_metadata)
            if name is None:
                return _REFUSE
            note_caller(name)
        return await continuation(handler_call_details)

    def caller(self, metadata: Any) -> str | None:
        """The name of the caller with this metadata; None: it has no known token."""
        self._refresh()
        header = next((v for k, v in metadata or () if k == "authorization"), "")
        if not isinstance(header, str) or not header.startswith(_BEARER):
            return None
        digest = _digest(header.removeprefix(_BEARER).strip())
        # All tokens are compared, in constant time: the duration must not reveal anything.
        found = [
            name for known, name in self._digests.items() if hmac.compare_digest(known, digest)
        ]
        return found[0] if found else None

    def _refresh(self, strict: bool = False) -> None:
        try:
            status = self._file.stat()
            version = (status.st_mtime_ns, status.st_size, status.st_ino)
            if version != self._version:
                self._digests = read_tokens(self._file)
                self._version = version
        except (OSError, InvalidTokens) as error:
            if strict:
                raise InvalidTokens(f"{self._file}: {error}") from error
            if self._version is not None:
                self._version = None
                _log.warning("cannot read the new tokens, so the old ones stay in use: %s", error)


def read_tokens(file: Path) -> dict[bytes, str]:
    """The names of callers, by the hashes of their tokens."""
    if file.stat().st_mode & 0o007:
        raise InvalidTokens("every user of this machine can read it; run chmod o= on it")
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
        raise InvalidTokens("it has no tokens; add a line with a name and a token")
    return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


async def _refused(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:
    await context.abort(
        grpc.StatusCode.UNAUTHENTICATED,
        "a token is needed: send the metadata 'authorization: Bearer TOKEN'",
    )


_REFUSE: Handler = grpc.unary_unary_rpc_method_handler(_refused)
