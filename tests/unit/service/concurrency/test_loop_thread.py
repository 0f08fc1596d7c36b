"""An event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading

import pytest

from fluxnetes.service.concurrency.loop_thread import LoopThread


async def test_work_runs_in_the_other_loop_and_ends_in_this_one() -> None:
    side = LoopThread("test")
    seen: list[tuple[str, bool]] = []

    async def work() -> None:
        where = asyncio.get_running_loop() is side.loop
        seen.append((threading.current_thread().name, where))

    await side.start(work)
    await side.stop()
    assert seen == [("test", True)]


async def test_an_error_is_raised_where_the_work_is_awaited() -> None:
    side = LoopThread("test")

    async def work() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await side.start(work)
    await side.stop()


async def test_stopped_work_may_clean_up_before_the_loop_is_closed() -> None:
    side = LoopThread("test")
    begun, cleaned = threading.Event(), []

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    ended = side.start(work)
    await asyncio.to_thread(begun.wait)
    await side.stop()
    assert cleaned == [True] and side.loop.is_closed()
    assert ended.cancelled()


async def test_one_that_never_started_can_be_stopped() -> None:
    side = LoopThread("test")
    await side.stop()
    assert side.loop.is_closed()
    assert all(thread.name != "test" for thread in threading.enumerate())
