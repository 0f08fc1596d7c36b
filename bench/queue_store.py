"""The store's part of `bench/queue`."""

from __future__ import annotations

from collections.abc import Callable, Iterator


def store_steps() -> Iterator[tuple[str, Callable[[], object], float | None]]:
    yield from ()
