"""The worker thread: one at a time, in order, and given-up work leaves nothing behind."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from fluxnetes.service.concurrency.worker_thread import WorkerThread


@asynccontextmanager
async def an_engine() -> AsyncIterator[WorkerThread]:
    engine = WorkerThread("test")
    try:
        yield engine
    finally:
        await engine.close()


class Gate:
    """Work that begins, and ends when it is released."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.let = threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.let.wait(10)
        return "done"

    async def has_begun(self) -> None:
        assert await asyncio.to_thread(self.begun.wait, 10)


async def test_work_is_done_in_order_and_in_one_thread() -> None:
    done: list[int] = []
    threads: set[int] = set()

    def do(number: int) -> int:
        done.append(number)
        threads.add(threading.get_ident())
        return number

    async with an_engine() as engine:
        answers = await asyncio.gather(*(engine.do(partial(do, n)) for n in range(500)))
    assert answers == done == list(range(500))
    assert len(threads) == 1 and threading.get_ident() not in threads


async def test_the_loop_goes_on_during_work() -> None:
    async with an_engine() as engine:
        gate = Gate()
        waiting = asyncio.create_task(engine.do(gate))
        await gate.has_begun()
        for _ in range(3):
            await asyncio.sleep(0)
        assert not waiting.done()
        gate.let.set()
        assert await waiting == "done"


async def test_an_error_goes_to_its_caller_alone() -> None:
    def fail() -> None:
        raise ZeroDivisionError("failed")

    async with an_engine() as engine:
        before, failed, after = await asyncio.gather(
            engine.do(lambda: 1), engine.do(fail), engine.do(lambda: 2), return_exceptions=True
        )
    assert (before, after) == (1, 2)
    assert isinstance(failed, ZeroDivisionError) and str(failed) == "failed"


async def test_work_that_is_given_up_before_its_turn_is_never_done() -> None:
    done: list[str] = []
    async with an_engine() as engine:
        gate = Gate()
        first = asyncio.create_task(engine.do(gate))
        await gate.has_begun()
        second = asyncio.create_task(engine.do(partial(done.append, "done"), lambda _: None))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        gate.let.set()
        await first
    assert second.cancelled()
    assert done == []


async def test_work_that_is_given_up_while_it_is_done_is_undone_in_the_thread() -> None:
    undone: list[tuple[str, int]] = []
    async with an_engine() as engine:
        gate = Gate()
        waiting = asyncio.create_task(
            engine.do(gate, lambda result: undone.append((result, threading.get_ident())))
        )
        await gate.has_begun()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        gate.let.set()
        thread = await engine.do(threading.get_ident)
        await asyncio.sleep(0)
        await engine.do(lambda: None)
    assert waiting.cancelled()
    assert undone == [("done", thread)]


async def test_work_that_is_given_up_when_it_was_just_done_is_undone() -> None:
    undone: list[int] = []
    async with an_engine() as engine:
        waiting = asyncio.create_task(engine.do(lambda: 7, undone.append))
        await asyncio.sleep(0)
        time.sleep(0.05)  # the thread finishes, and the loop gets the result after this
        # The result is delivered, then this comes, then the task would wake up with it.
        asyncio.get_running_loop().call_soon(waiting.cancel)
        await asyncio.gather(waiting, return_exceptions=True)
        await engine.do(lambda: None)
    assert waiting.cancelled()
    assert undone == [7]


async def test_work_that_failed_is_not_undone() -> None:
    undone: list[None] = []
    async with an_engine() as engine:
        gate = Gate()

        def fail() -> None:
            gate()
            raise ZeroDivisionError

        waiting = asyncio.create_task(engine.do(fail, undone.append))
        await gate.has_begun()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        gate.let.set()
        await engine.do(lambda: None)
        await engine.do(lambda: None)
    assert undone == []


async def test_an_undo_that_fails_does_no_harm() -> None:
    def fail(result: str) -> None:
        raise ZeroDivisionError(result)

    async with an_engine() as engine:
        gate = Gate()
        waiting = asyncio.create_task(engine.do(gate, fail))
        await gate.has_begun()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        gate.let.set()
        await engine.do(lambda: None)
        assert await engine.do(lambda: "alive") == "alive"


async def test_closing_finishes_the_work_in_the_inbox() -> None:
    done: list[int] = []

    def note(number: int) -> str:
        done.append(number)
        return ""

    engine = WorkerThread("test")
    gate = Gate()
    waiting = [asyncio.create_task(engine.do(gate))]
    waiting += [asyncio.create_task(engine.do(partial(note, n))) for n in range(5)]
    await gate.has_begun()
    closing = asyncio.create_task(engine.close())
    await asyncio.sleep(0)
    gate.let.set()
    await closing
    await asyncio.gather(*waiting)
    assert done == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("seed", range(5))
async def test_whenever_calls_are_given_up_finished_work_is_answered_or_undone(seed: int) -> None:
    """The promise of the module, at random moments."""
    draw = random.Random(seed)
    held: set[int] = set()

    def take(number: int) -> int:
        held.add(number)
        return number

    async def ask(engine: WorkerThread, number: int) -> int:
        return await engine.do(lambda: take(number), held.discard)

    async with an_engine() as engine:
        calls = [asyncio.create_task(ask(engine, number)) for number in range(300)]
        while pending := [call for call in calls if not call.done()]:
            for call in draw.sample(pending, min(len(pending), 3)):
                call.cancel()
            for _ in range(draw.randrange(3)):
                await asyncio.sleep(0)
        for _ in range(2):  # what was undone last was asked for last
            await engine.do(lambda: None)
    answered = {call.result() for call in calls if not call.cancelled()}
    assert held == answered
