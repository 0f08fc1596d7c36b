"""Each key once, at its earliest moment."""

from __future__ import annotations

import asyncio

from fluxnetes.controller.reporting.delay_queue import DelayQueue


async def take(delays: DelayQueue[str], count: int) -> list[str]:
    return [await delays.next() for _ in range(count)]


def test_keys_come_in_the_order_of_their_moments() -> None:
    delays: DelayQueue[str] = DelayQueue()
    for key, after in (("c", 0.02), ("a", 0.0), ("b", 0.01)):
        delays.add(key, after)
    assert asyncio.run(take(delays, 3)) == ["a", "b", "c"]
    assert not delays


def test_of_two_moments_the_earlier_counts() -> None:
    delays: DelayQueue[str] = DelayQueue()
    delays.add("late", 60)
    delays.add("late", 0)
    delays.add("soon", 0)
    delays.add("soon", 60)
    assert asyncio.run(take(delays, 2)) == ["late", "soon"]
    assert len(delays) == 0


def test_what_was_taken_can_come_again() -> None:
    async def story() -> list[str]:
        delays: DelayQueue[str] = DelayQueue()
        delays.add("a", 60)
        delays.add("a")
        first = await delays.next()
        delays.add("a", 0.01)
        return [first, await delays.next()]

    assert asyncio.run(story()) == ["a", "a"]


def test_a_waiting_consumer_gets_an_earlier_key() -> None:
    async def story() -> str:
        delays: DelayQueue[str] = DelayQueue()
        delays.add("late", 60)
        async with asyncio.timeout(5):
            waiting = asyncio.create_task(delays.next())
            await asyncio.sleep(0.01)
            delays.add("now")
            return await waiting

    assert asyncio.run(story()) == "now"


def test_two_who_wait_get_a_key_each() -> None:
    async def story() -> set[str]:
        delays: DelayQueue[str] = DelayQueue()
        async with asyncio.timeout(5):
            waiting = [asyncio.create_task(delays.next()) for _ in range(2)]
            await asyncio.sleep(0.01)
            delays.add("a")
            delays.add("b")
            return set(await asyncio.gather(*waiting))

    assert asyncio.run(story()) == {"a", "b"}


def test_in_a_hurry_nothing_waits() -> None:
    delays: DelayQueue[str] = DelayQueue()
    delays.add("a", 60)
    delays.add("b", 90)
    delays.hurry()
    assert set(asyncio.run(take(delays, 2))) == {"a", "b"}
