"""One watch connection: the events after a known resource version, in batches.

The server sends one JSON object a line. A piece that arrives may hold many lines, or half of one;
all whole lines of a piece are decoded together and yielded as one batch, so a burst of a thousand
pods wakes the consumer a few times, not a thousand times.

A watch ends when the server ends it, which it does every few minutes on purpose. It raises
`Expired` when the version to start from is too old, and `Unreachable` when the connection breaks or
is silent for too long. An incomplete last line is dropped: a watch from the last decoded version
delivers it again. For a watch that continues without end, use an `Informer`.
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

_MIN_TIMEOUT, _MAX_TIMEOUT = 300, 600
"""Bounds of a watch's timeout in seconds; random, so that watches do not restart together."""


class LineSplitter:
    """Assembles whole lines from pieces that are cut anywhere."""

    def __init__(self) -> None:
        self._incomplete: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that this piece completes."""
        head, newline, rest = piece.partition(b"\n")
        if not newline:
            self._incomplete.append(piece)
            return []
        *lines, last = rest.split(b"\n")
        lines.insert(0, b"".join([*self._incomplete, head]))
        self._incomplete = [last] if last else []
        return [line for line in lines if line]


async def watch(
    client: KubeClient, resource: Resource[T], scope: Scope, version: str, timing: RetryTiming
) -> AsyncGenerator[list[WatchEvent[T]], None]:
    """Batches of events after this version, until the connection ends.

    The first batch is empty, and is yielded as soon as the server has accepted the watch.
    """
    request = _request(resource, scope, version)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=timing.idle_timeout)
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
        "timeoutSeconds": str(random.randint(_MIN_TIMEOUT, _MAX_TIMEOUT)),  # noqa: S311
    }
    what = f"watch {resource.plural} {scope.namespace}".rstrip()
    return HttpRequest(what, "GET", resource.path(scope.namespace), params)
