"""Waiting until something is so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

PATIENCE = 30.0


def until(happened: Callable[[], bool], what: str = "") -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, what or "it never happened"
        time.sleep(0.02)


async def soon(happened: Callable[[], bool], what: str = "") -> None:
    """The same, while others go on."""
    deadline = time.monotonic() + PATIENCE
    while not await asyncio.to_thread(happened):
        assert time.monotonic() < deadline, what or "it never happened"
        await asyncio.sleep(0.02)
