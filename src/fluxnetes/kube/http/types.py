"""Requests and responses as values, independent of the HTTP client that carries them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from fluxnetes.kube.auth.credentials import RequestIdentity

HEADERS = {
    "Accept": "application/json",
    # Compression would take the server longer than the network takes for the bytes saved.
    "Accept-Encoding": "identity",
    "User-Agent": "fluxnetes",
}
"""The headers of every request."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request to the server."""

    what: str
    """The request in words, for errors."""
    method: str
    path: str
    params: Mapping[str, str] | None = None
    body: bytes | None = None
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A complete response."""

    status: int
    content: bytes
    retry_after: str = ""
    """The Retry-After header, if there was one."""


class HttpCarrier(Protocol):
    """Sends requests and returns their responses."""

    async def send(self, request: HttpRequest, identity: RequestIdentity) -> HttpResponse: ...

    async def close(self) -> None: ...
