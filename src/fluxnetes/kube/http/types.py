"""What is asked of the server, and what it answers: as data, whatever carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from fluxnetes.kube.auth.credentials import RequestIdentity

HEADERS = {
    "Accept": "application/json",
    # The server would spend more time on compressing than the wire takes.
    "Accept-Encoding": "identity",
    "User-Agent": "fluxnetes",
}
"""What every request says."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What to ask of the server."""

    what: str
    """In words, for errors."""
    method: str
    path: str
    params: Mapping[str, str] | None = None
    body: bytes | None = None
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What came back, whole."""

    status: int
    content: bytes
    retry_after: str = ""
    """When to ask again, if the server said so."""


class HttpCarrier(Protocol):
    """Takes requests to the server, and brings their answers."""

    async def ask(self, request: HttpRequest, identity: RequestIdentity) -> HttpResponse: ...

    async def close(self) -> None: ...
