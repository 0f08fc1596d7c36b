"""Who we are, as the API server sees it, and for how long.

A `Credential` is what shows it: a bearer token, a client certificate, or both. Proofs go stale: the
kubelet puts a new token into the file, a plugin's token runs out. So a proof is read from its
source again when its time is over, or at once after the server refused it.

`Credentials.current()` gives the headers and the TLS settings to use right now. It is asked for
every request, so nearly always it only looks at the clock. When a source fails (a file is just
being replaced, the plugin's own server is away) the last good proof goes on being used.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from fluxnetes.kube.errors import ConfigError
from fluxnetes.kube.http.tls import ServerTrust

READ_AGAIN = 60.0
"""Seconds after which files are looked at again."""

_SOON = 5.0
"""Seconds until a source is asked again when it failed, or when its proof was refused."""

_log = logging.getLogger("fluxnetes.kube")


@dataclass(frozen=True, slots=True)
class Credential:
    """What shows who we are."""

    token: str | None = field(default=None, repr=False)
    certificate: tuple[str, str] | None = field(default=None, repr=False)
    """Certificate and key, as PEM."""
    basic: tuple[str, str] | None = field(default=None, repr=False)
    """User and password."""


@dataclass(frozen=True, slots=True)
class CredentialReading:
    """A proof, and how many seconds it may be used before it is read again; None: for ever."""

    proof: Credential
    good_for: float | None = None


Source: TypeAlias = Callable[[], Awaitable[CredentialReading]]


@dataclass(frozen=True, slots=True)
class RequestIdentity:
    """What a request carries."""

    headers: Mapping[str, str] = field(repr=False)
    tls: ssl.SSLContext | None
    """None for plain HTTP."""


class Credentials:
    """The identity to use now."""

    def __init__(self, source: Source, trust: ServerTrust | None) -> None:
        self._source = source
        self._trust = trust
        self._proof: Credential | None = None
        self._identity: RequestIdentity | None = None
        self._good_until = 0.0
        self._read_at = 0.0
        self._reading = asyncio.Lock()

    async def current(self) -> RequestIdentity:
        """The identity, read anew if its time is over."""
        if self._identity is None or time.monotonic() >= self._good_until:
            async with self._reading:
                if self._identity is None or time.monotonic() >= self._good_until:
                    await self._read()
        assert self._identity is not None  # noqa: S101 - or reading has raised
        return self._identity

    async def another(self, refused: RequestIdentity) -> RequestIdentity | None:
        """Another identity than the one that the server refused, if there is one."""
        # Not at every refusal: a source may be a program, and there may be many requests.
        if refused is self._identity and time.monotonic() >= self._read_at + _SOON:
            self._good_until = 0.0
        now = await self.current()
        return None if now is refused else now

    async def _read(self) -> None:
        self._read_at = time.monotonic()
        try:
            reading = await self._source()
            self._take(reading)
        except ConfigError as error:
            if self._identity is None:
                raise
            _log.warning("%s; the credentials of before are used for now", error)
            self._good_until = time.monotonic() + _SOON

    def _take(self, reading: CredentialReading) -> None:
        # A new TLS context means new connections, so an unchanged proof keeps the old one.
        if reading.proof != self._proof or self._identity is None:
            self._identity = _identity(reading.proof, self._trust)
            self._proof = reading.proof
        lasts = float("inf") if reading.good_for is None else reading.good_for
        self._good_until = time.monotonic() + lasts


def _identity(proof: Credential, trust: ServerTrust | None) -> RequestIdentity:
    headers = {}
    if proof.token is not None:
        headers["Authorization"] = f"Bearer {proof.token}"
    elif proof.basic is not None:
        headers["Authorization"] = (
            f"Basic {base64.b64encode(':'.join(proof.basic).encode()).decode()}"
        )
    return RequestIdentity(headers, trust.context(proof.certificate) if trust else None)
