"""Each key once, at its earliest moment."""

from __future__ import annotations

import asyncio

from fluxnetes.controller.reporting.delay_queue import DelayQueue


async def take(agenda: DelayQueue[str], count: int) -> list[str]:
    return [await agenda.next() for _ in range(count)]


def test_keys_come_in_the_order_of_their_moments() -> None:
    agenda: DelayQueue[str] = DelayQueue()
    for key, after in (("c", 0.02), ("a", 0.0), ("b", 0.01)):
        agenda.add(key, after)
    assert asyncio.run(take(agenda, 3)) == ["a", "b", "c"]
    assert not agenda


def test_of_two_moments_the_earlier_counts() -> None:
    agenda: DelayQueue[str] = DelayQueue()
    agenda.add("late", 60)
    agenda.add("late", 0)
    agenda.add("soon", 0)
    agenda.add("soon", 60)
    assert asyncio.run(take(agenda, 2)) == ["late", "soon"]
    assert len(agenda) == 0


def test_what_was_taken_can_come_again() -> None:
    async def story() -> list[str]:
        agenda: DelayQueue[str] = DelayQueue()
        agenda.add("a", 60)
        agenda.add("a")
        first = await agenda.next()
        agenda.add("a", 0.01)
        return [first, await agenda.next()]

    assert asyncio.run(story()) == ["a", "a"]


def test_whoever_waits_hears_of_an_earlier_key() -> None:
    async def story() -> str:
        agenda: DelayQueue[str] = DelayQueue()
        agenda.add("late", 60)
        async with asyncio.timeout(5):
            waiting = asyncio.create_task(agenda.next())
            await asyncio.sleep(0.01)
            agenda.add("now")
            return await waiting

    assert asyncio.run(story()) == "now"


def test_two_who_wait_get_a_key_each() -> None:
    async def story() -> set[str]:
        agenda: DelayQueue[str] = DelayQueue()
        async with asyncio.timeout(5):
            waiting = [asyncio.create_task(agenda.next()) for _ in range(2)]
            await asyncio.sleep(0.01)
            agenda.add("a")
            agenda.add("b")
            return set(await asyncio.gather(*waiting))

    assert asyncio.run(story()) == {"a", "b"}


def test_in_a_hurry_nothing_waits() -> None:
    agenda: DelayQueue[str] = DelayQueue()
    agenda.add("a", 60)
    agenda.add("b", 90)
    agenda.hurry()
    assert set(asyncio.run(take(agenda, 2))) == {"a", "b"}
