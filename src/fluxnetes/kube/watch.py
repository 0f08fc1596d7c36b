"""One watch: what changes after a known moment, as long as one connection lasts.

The server sends one JSON object a line. A piece that arrives may hold many lines, or half of one;
all whole lines of a piece are decoded together and handed on as one batch, so a burst of a thousand
pods wakes the reader a few times, not a thousand times.

A watch ends when the server ends it, which it does every few minutes on purpose. It raises
`Expired` when the moment to start from is too old, and `Unreachable` when the connection breaks or
is silent for too long. A line that was begun and never ended is forgotten: a watch from the last
version that we did hear of tells it again. To go on for ever, take an `Informer`.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator
from typing import TypeVar

import aiohttp

from fluxnetes.common.backoff import RetryTiming
from fluxnetes.kube.client import KubeClient, Scope
from fluxnetes.kube.decoding import WatchEvent, decoding
from fluxnetes.kube.http.types import HttpRequest
from fluxnetes.kube.objects.base import Object, Resource

T = TypeVar("T", bound=Object)

_SHORTEST, _LONGEST = 300, 600
"""Seconds that a watch lasts; by chance, so that not all of them start anew together."""


class LineSplitter:
    """Whole lines from pieces that are cut anywhere."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that this piece completes."""
        head, newline, rest = piece.partition(b"\n")
        if not newline:
            self._begun.append(piece)
            return []
        *lines, last = rest.split(b"\n")
        lines.insert(0, b"".join([*self._begun, head]))
        self._begun = [last] if last else []
        return [line for line in lines if line]


async def watch(
    client: KubeClient, resource: Resource[T], scope: Scope, version: str, patience: RetryTiming
) -> AsyncGenerator[list[WatchEvent[T]], None]:
    """Batches of events after this version, until the connection ends.

    The first batch is empty, and comes as soon as the server has agreed to tell.
    """
    request = _request(resource, scope, version)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=patience.silence)
    read, lines = decoding(resource).event, LineSplitter()
    async with client.transport.stream(request, timeout) as response:
        yield []
        async for piece in response.content.iter_any():
            whole = lines.feed(piece)
            if whole:
                yield [read(line) for line in whole]


def _request(resource: Resource[T], scope: Scope, version: str) -> HttpRequest:
    params = {
        **scope.params(),
        "watch": "true",
        "resourceVersion": version,
        "allowWatchBookmarks": "true",
        "timeoutSeconds": str(random.randint(_SHORTEST, _LONGEST)),  # noqa: S311
    }
    what = f"watch {resource.plural} {scope.namespace}".rstrip()
    return HttpRequest(what, "GET", resource.path(scope.namespace), params)
