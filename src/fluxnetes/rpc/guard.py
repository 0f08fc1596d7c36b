"""Authenticates callers by bearer tokens from a file.

    authorization: Bearer 3f0c...

The file has a caller per line, its name and its token, and is read again when it changes:

    # for the nightly tests
    ci 3f0c...
    # may see and change the jobs of all callers
    ops 77ab... admin

The name identifies the caller to services: see `callers`. Health checks need no token, because
probes have none. Of a call without a token no message is read: see `receiving`.
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

from fluxnetes.rpc.callers import note_caller, note_unauthenticated
from fluxnetes.service.callers import Caller

_log = logging.getLogger("fluxnetes.rpc")

Handler: TypeAlias = "RpcMethodHandler[Any, Any]"

_PUBLIC = "/grpc.health.v1.Health/"
_BEARER = "Bearer "
_ADMIN = "admin"
_SHORTEST = 16
"""Minimum characters of a token, so that it cannot be guessed."""


class InvalidTokens(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """A token file without tokens, or with unsafe ones."""


class TokenGuard(grpc.aio.ServerInterceptor):
    """Refuses calls without a known token."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._version: object = None
        self._digests: dict[bytes, Caller] = {}
        self._refresh(strict=True)

    async def intercept_service(
        self,
        continuation: Callable[[HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: HandlerCallDetails,
    ) -> Handler | None:
        caller = self.find(handler_call_details.invocation_metadata)
        if caller is not None:
            note_caller(caller)
        elif handler_call_details.method.startswith(_PUBLIC):
            note_unauthenticated()
        else:
            return _REFUSE
        return await continuation(handler_call_details)

    def caller(self, metadata: Any) -> str | None:
        """The name of the caller with this metadata; None: it has no known token."""
        found = self.find(metadata)
        return None if found is None else found.name

    def find(self, metadata: Any) -> Caller | None:
        """The caller with this metadata; None: it has no known token."""
        self._refresh()
        header = next((v for k, v in metadata or () if k == "authorization"), "")
        if not isinstance(header, str) or not header.startswith(_BEARER):
            return None
        digest = _digest(header.removeprefix(_BEARER).strip())
        # All tokens are compared, in constant time: the duration must not reveal anything.
        found = [
            caller for known, caller in self._digests.items() if hmac.compare_digest(known, digest)
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


def read_tokens(file: Path) -> dict[bytes, Caller]:
    """The callers, by the hashes of their tokens."""
    if file.stat().st_mode & 0o007:
        raise InvalidTokens("every user of this machine can read it; run chmod o= on it")
    found: dict[bytes, Caller] = {}
    for number, line in enumerate(file.read_text().splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 2 or len(words[1]) < _SHORTEST or words[2:] not in ([], [_ADMIN]):
            raise InvalidTokens(
                f"line {number}: expected a name and a token of at least {_SHORTEST} characters, "
                f"then {_ADMIN!r} for an administrator, or nothing"
            )
        found[_digest(words[1])] = Caller(words[0], is_admin=len(words) > 2)
    if not found:
        raise InvalidTokens("it has no tokens; add a line with a name and a token")
    return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


async def _refused(unread: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
    await context.abort(
        grpc.StatusCode.UNAUTHENTICATED,
        "a token is needed: send the metadata 'authorization: Bearer TOKEN'",
    )


_REFUSE: Handler = grpc.stream_unary_rpc_method_handler(_refused)
"""Refuses a call before its message is read, which gRPC allows only to handlers of streams."""
