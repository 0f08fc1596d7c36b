"""What the Kubernetes client costs us, without any server: decoding pods, and taking watch events.

    .venv/bin/python -m bench.kube_client

The JSON is made by code to look like that of a real cluster: managed fields, volumes of the service
account, tolerations, conditions, statuses. Times are our own CPU time, medians of five rounds. Exit
status 1 if a figure is over its limit.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable

import msgspec

from bench.kube_objects import a_pod
from fluxnetes.kube.cache import ObjectCache
from fluxnetes.kube.client import PAGE, Listing
from fluxnetes.kube.decoding import decoding
from fluxnetes.kube.objects.pods import PODS, Pod
from fluxnetes.kube.watch import LineSplitter

PODS_LISTED = 10_000
EVENTS = 5_000
ROUNDS = 5
SEGMENT = 64 * 1024
"""How much of a stream arrives at once."""

LIST_LIMIT = 0.25
EVENT_LIMIT = 50e-6


def main() -> int:
    pages, megabytes = _pages()
    listed = _median(lambda: _take_list(pages))
    stream = _stream()
    cache = _take_list(pages)
    event = _median(lambda: _take_stream(cache, stream)) / EVENTS
    size = len(stream) / EVENTS / 1000
    print(f"{'':34}{'measured':>12}{'limit':>12}")
    _row(f"{PODS_LISTED:,} pods listed ({megabytes:.0f} MB)", 1e3 * listed, 1e3 * LIST_LIMIT, "ms")
    _row(f"one event of a watch ({size:.1f} kB)", 1e6 * event, 1e6 * EVENT_LIMIT, "us")
    return int(listed > LIST_LIMIT or event > EVENT_LIMIT)


def _row(name: str, measured: float, limit: float, unit: str) -> None:
    print(f"{name:34}{measured:9.1f} {unit}{limit:9.0f} {unit}")


def _pages() -> tuple[list[bytes], float]:
    """A list of pods in pages, as the server sends it."""
    pages = []
    for first in range(0, PODS_LISTED, PAGE):
        items = [a_pod(n, version=n) for n in range(first, first + PAGE)]
        page = {"kind": "PodList", "metadata": {"resourceVersion": "20000"}, "items": items}
        pages.append(msgspec.json.encode(page))
    return pages, sum(map(len, pages)) / 1e6


def _stream() -> bytes:
    """Pods that change, line by line."""
    lines = ({"type": "MODIFIED", "object": a_pod(n, version=30_000 + n)} for n in range(EVENTS))
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _take_list(pages: list[bytes]) -> ObjectCache[Pod]:
    cache: ObjectCache[Pod] = ObjectCache()
    items = [item for page in pages for item in decoding(PODS).page(page).items]
    cache.replace(Listing(items, "20000"))
    return cache


def _take_stream(cache: ObjectCache[Pod], stream: bytes) -> None:
    """From the pieces of the socket to changes."""
    lines, read = LineSplitter(), decoding(PODS).event
    for start in range(0, len(stream), SEGMENT):
        for line in lines.feed(stream[start : start + SEGMENT]):
            cache.take(read(line))


def _median(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        gc.collect()
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())
