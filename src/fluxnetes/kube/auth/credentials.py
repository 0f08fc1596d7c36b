"""The credentials to use for requests, read again from their source when they expire.

A `Credential` is a bearer token, a client certificate, or both. Credentials expire: the kubelet
puts a new token into the file, a plugin's token runs out. So a credential is read from its source
again when its time is over, or at once after the server refused it.

`Credentials.current()` returns the headers and the TLS settings to use now. It is called for every
request, so nearly always it only compares the clock. When a source fails (a file is just being
replaced, the plugin's own server is down) the last valid credential stays in use.
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
"""Seconds after which credentials in files are read again; the kubelet replaces tokens there."""

_MIN_INTERVAL = 5.0
"""Minimum seconds between two readings after a failure or a refusal, so that many refused requests
do not run a plugin many times."""

_log = logging.getLogger("fluxnetes.kube")


@dataclass(frozen=True, slots=True)
class Credential:
    """A token, a client certificate, or user and password."""

    token: str | None = field(default=None, repr=False)
    certificate: tuple[str, str] | None = field(default=None, repr=False)
    """Certificate and key, as PEM."""
    basic: tuple[str, str] | None = field(default=None, repr=False)
    """User and password."""


@dataclass(frozen=True, slots=True)
class CredentialReading:
    """A credential, and the seconds for which it is valid before it is read again; None: always."""

    credential: Credential
    valid_for: float | None = None


Source: TypeAlias = Callable[[], Awaitable[CredentialReading]]


@dataclass(frozen=True, slots=True)
class RequestIdentity:
    """The authentication of a request: headers and TLS settings."""

    headers: Mapping[str, str] = field(repr=False)
    tls: ssl.SSLContext | None
    """None for plain HTTP."""


class Credentials:
    """Provides the current identity for requests."""

    def __init__(self, source: Source, trust: ServerTrust | None) -> None:
        self._source = source
        self._trust = trust
        self._credential: Credential | None = None
        self._identity: RequestIdentity | None = None
        self._valid_until = 0.0
        self._read_at = 0.0
        self._reading = asyncio.Lock()

    async def current(self) -> RequestIdentity:
        """The identity, read again if its time is over."""
        if self._identity is None or time.monotonic() >= self._valid_until:
            async with self._reading:
                if self._identity is None or time.monotonic() >= self._valid_until:
                    await self._read()
        assert self._identity is not None  # noqa: S101 - or reading has raised
        return self._identity

    async def another(self, refused: RequestIdentity) -> RequestIdentity | None:
        """A newer identity than the one that the server refused, if there is one."""
        # Not after every refusal: a source may be a program, and many requests may be refused.
        if refused is self._identity and time.monotonic() >= self._read_at + _MIN_INTERVAL:
            self._valid_until = 0.0
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
            _log.warning("%s; the previous credentials stay in use", error)
            self._valid_until = time.monotonic() + _MIN_INTERVAL

    def _take(self, reading: CredentialReading) -> None:
        # A new TLS context means new connections, so an unchanged credential keeps the old one.
        if reading.credential != self._credential or self._identity is None:
            self._identity = _identity(reading.credential, self._trust)
            self._credential = reading.credential
        seconds = float("inf") if reading.valid_for is None else reading.valid_for
        self._valid_until = time.monotonic() + seconds


def _identity(credential: Credential, trust: ServerTrust | None) -> RequestIdentity:
    headers = {}
    if credential.token is not None:
        headers["Authorization"] = f"Bearer {credential.token}"
    elif credential.basic is not None:
        headers["Authorization"] = (
            f"Basic {base64.b64encode(':'.join(credential.basic).encode()).decode()}"
        )
    return RequestIdentity(headers, trust.context(credential.certificate) if trust else None)
