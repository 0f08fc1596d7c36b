"""What is asked for is done once, by one worker, and what is asked for later is not forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, cast

from fluxnetes.controller.actions.executor import BIND_WORKERS, ENOUGH, Executor
from fluxnetes.controller.actions.types import Action, BindPod
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import Conflict, KubeError, TemporaryError

BIND = BindPod("default", "a", "uid-a", "n1", job=1, task=0)
ELSEWHERE = replace(BIND, node="n2")


@dataclass(slots=True, eq=False)
class SlowHands(Executor):
    """Hands that do nothing until they are let, and write down what they did."""

    done: list[str] = field(default_factory=list)
    at_work: list[str] = field(default_factory=list)
    may_finish: asyncio.Event = field(default_factory=asyncio.Event)
    errors: list[KubeError] = field(default_factory=list)
    """With which the next deeds end."""

    async def _send_bind(self, action: BindPod) -> None:
        self.at_work.append(action.node)
        await self.may_finish.wait()
        if self.errors:
            raise self.errors.pop(0)
        self.done.append(action.node)


def play(script: Coroutine[Any, Any, None], executor: SlowHands) -> None:
    async def run() -> None:
        async with asyncio.timeout(10):
            working = asyncio.create_task(executor.run())
            await script
            working.cancel()

    asyncio.run(run())


def slow_hands() -> SlowHands:
    return SlowHands(cast(KubeClient, None), lambda: True)


async def a_moment() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def until_idle(executor: SlowHands) -> None:
    while executor.asked or executor._working:
        await asyncio.sleep(0.001)


def test_what_is_asked_for_again_while_it_is_under_way_is_done_once() -> None:
    executor = slow_hands()

    async def script() -> None:
        executor.ask(BIND)
        await a_moment()
        executor.ask(replace(BIND))
        executor.may_finish.set()
        await until_idle(executor)
        executor.ask(BIND)
        await a_moment()

    play(script(), executor)
    assert executor.done == ["n1"]


def test_what_else_is_asked_for_meanwhile_is_done_after_it_by_the_same_worker() -> None:
    executor = slow_hands()

    async def script() -> None:
        executor.ask(BIND)
        await a_moment()
        executor.revoke(BIND.uid)
        executor.ask(ELSEWHERE)
        await a_moment()
        assert executor.at_work == ["n1"], "two at work on one pod"
        executor.may_finish.set()
        await until_idle(executor)

    play(script(), executor)
    assert executor.done == ["n1", "n2"]


def test_what_is_revoked_and_asked_for_again_before_anybody_began_is_done_once() -> None:
    executor = slow_hands()

    async def script() -> None:
        executor.ask(BIND)
        executor.revoke(BIND.uid)
        executor.ask(ELSEWHERE)
        executor.may_finish.set()
        await until_idle(executor)

    play(script(), executor)
    assert executor.done == ["n2"]


def test_what_fails_for_good_does_not_swallow_what_was_asked_for_meanwhile() -> None:
    executor = slow_hands()
    executor.errors = [Conflict("it is bound already")]

    async def script() -> None:
        executor.ask(BIND)
        await a_moment()
        executor.ask(ELSEWHERE)
        executor.may_finish.set()
        await until_idle(executor)

    play(script(), executor)
    assert executor.done == ["n2"]


def test_what_fails_for_the_moment_is_tried_again_unless_it_is_revoked() -> None:
    executor = slow_hands()
    executor.errors = [TemporaryError("busy"), TemporaryError("busy")]
    executor.may_finish.set()

    async def script() -> None:
        executor.ask(BIND)
        await until_idle(executor)
        assert executor.done == ["n1"]
        executor.errors = [TemporaryError("busy")]
        executor.ask(ELSEWHERE)
        await a_moment()
        executor.revoke(BIND.uid)
        await until_idle(executor)

    play(script(), executor)
    assert executor.done == ["n1"]


def test_nothing_is_done_by_who_is_not_sure_to_lead() -> None:
    executor = slow_hands()
    leads = False
    executor.may_write = lambda: leads
    executor.may_finish.set()

    async def script() -> None:
        nonlocal leads
        executor.ask(BIND)
        await asyncio.sleep(0.02)
        assert not executor.at_work
        leads = True
        await until_idle(executor)

    play(script(), executor)
    assert executor.done == ["n1"]


def test_every_bind_that_was_done_is_told() -> None:
    executor = slow_hands()
    told: list[Action] = []
    executor.bound = told.append
    executor.may_finish.set()

    async def script() -> None:
        executor.ask(BIND)
        await until_idle(executor)

    play(script(), executor)
    assert told == [BIND]


def test_hands_are_full_while_there_is_enough_to_do_for_a_while() -> None:
    executor = slow_hands()

    async def script() -> None:
        for number in range(ENOUGH + BIND_WORKERS):
            executor.ask(replace(BIND, uid=f"uid-{number}", name=f"pod-{number}"))
        assert executor.are_full()
        while len(executor.at_work) < BIND_WORKERS:  # everybody takes one
            await asyncio.sleep(0)
        assert executor.are_full()
        executor.may_finish.set()
        while executor.asked:
            await asyncio.sleep(0)
        assert not executor.are_full()

    play(script(), executor)


def test_hands_are_not_idle_while_more_is_expected() -> None:
    executor = slow_hands()
    assert executor.is_idle()
    executor.expects = True
    assert not executor.is_idle()
