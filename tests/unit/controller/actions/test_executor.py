"""What is requested is done once, by one worker, and what is requested later is not forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, cast

from fluxnetes.controller.actions.executor import BIND_WORKERS, Executor
from fluxnetes.controller.actions.queue import ENOUGH_BINDS, ActionQueue
from fluxnetes.controller.actions.types import Action, BindPod
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import Conflict, InvalidObject, KubeError, TemporaryError
from fluxnetes.kube.objects.base import Metadata
from fluxnetes.kube.objects.pods import Gate, Pod, PodSpec

BIND = BindPod("default", "a", "uid-a", "n1", job=1, task=0)
ELSEWHERE = replace(BIND, node="n2")


@dataclass(slots=True, eq=False)
class SlowExecutor(Executor):
    """An executor whose binds end when the test says so, and that records them."""

    done: list[str] = field(default_factory=list)
    at_work: list[str] = field(default_factory=list)
    may_finish: asyncio.Event = field(default_factory=asyncio.Event)
    errors: list[KubeError] = field(default_factory=list)
    """With which the next binds end."""

    async def _send_bind(self, action: BindPod) -> None:
        self.at_work.append(action.node)
        await self.may_finish.wait()
        if self.errors:
            raise self.errors.pop(0)
        self.done.append(action.node)


def play(script: Coroutine[Any, Any, None], executor: SlowExecutor) -> None:
    async def run() -> None:
        async with asyncio.timeout(10):
            working = asyncio.create_task(executor.run())
            await script
            working.cancel()

    asyncio.run(run())


@dataclass
class Term:
    """In place of the leases and of the controller."""

    leads: bool = True
    bound: list[Action] = field(default_factory=list)

    def may_write(self) -> bool:
        return self.leads

    def sure_for(self) -> None:
        return None

    def pod_bound(self, bind: BindPod) -> None:
        self.bound.append(bind)

    def action_failed(self, action: Action, why: str) -> None:
        raise AssertionError(why)


def slow_executor(term: Term | None = None) -> SlowExecutor:
    term = term or Term()
    client = cast(KubeClient, None)
    return SlowExecutor(client, ActionQueue(), term, term, hold_back=lambda node: False)


async def a_moment() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def until_idle(executor: SlowExecutor) -> None:
    while executor.actions.requested or executor.actions._working:
        await asyncio.sleep(0.001)


def test_what_is_asked_for_again_while_it_is_under_way_is_done_once() -> None:
    executor = slow_executor()

    async def script() -> None:
        executor.actions.request(BIND)
        await a_moment()
        executor.actions.request(replace(BIND))
        executor.may_finish.set()
        await until_idle(executor)
        executor.actions.request(BIND)
        await a_moment()

    play(script(), executor)
    assert executor.done == ["n1"]


def test_what_else_is_asked_for_meanwhile_is_done_after_it_by_the_same_worker() -> None:
    executor = slow_executor()

    async def script() -> None:
        executor.actions.request(BIND)
        await a_moment()
        executor.actions.revoke_bind(BIND.uid)
        executor.actions.request(ELSEWHERE)
        await a_moment()
        assert executor.at_work == ["n1"], "two at work on one pod"
        executor.may_finish.set()
        await until_idle(executor)

    play(script(), executor)
    assert executor.done == ["n1", "n2"]


def test_what_is_revoked_and_requested_again_before_a_worker_has_it_is_done_once() -> None:
    executor = slow_executor()

    async def script() -> None:
        executor.actions.request(BIND)
        executor.actions.revoke_bind(BIND.uid)
        executor.actions.request(ELSEWHERE)
        executor.may_finish.set()
        await until_idle(executor)

    play(script(), executor)
    assert executor.done == ["n2"]


def test_what_fails_for_good_does_not_swallow_what_was_asked_for_meanwhile() -> None:
    executor = slow_executor()
    executor.errors = [Conflict("it is bound already")]

    async def script() -> None:
        executor.actions.request(BIND)
        await a_moment()
        executor.actions.request(ELSEWHERE)
        executor.may_finish.set()
        await until_idle(executor)

    play(script(), executor)
    assert executor.done == ["n2"]


def test_what_fails_for_the_moment_is_tried_again_unless_it_is_revoked() -> None:
    executor = slow_executor()
    executor.errors = [TemporaryError("busy"), TemporaryError("busy")]
    executor.may_finish.set()

    async def script() -> None:
        executor.actions.request(BIND)
        await until_idle(executor)
        assert executor.done == ["n1"]
        executor.errors = [TemporaryError("busy")]
        executor.actions.request(ELSEWHERE)
        await a_moment()
        executor.actions.revoke_bind(BIND.uid)
        await until_idle(executor)

    play(script(), executor)
    assert executor.done == ["n1"]


def test_nothing_is_done_without_the_lease() -> None:
    term = Term(leads=False)
    executor = slow_executor(term)
    executor.may_finish.set()

    async def script() -> None:
        executor.actions.request(BIND)
        await asyncio.sleep(0.02)
        assert not executor.at_work
        term.leads = True
        await until_idle(executor)

    play(script(), executor)
    assert executor.done == ["n1"]


def test_every_bind_that_was_done_is_reported() -> None:
    term = Term()
    executor = slow_executor(term)
    executor.may_finish.set()

    async def script() -> None:
        executor.actions.request(BIND)
        await until_idle(executor)

    play(script(), executor)
    assert term.bound == [BIND]


GATE = "fluxnetes.io/queued"


class GatedPod:
    """An API server with one gated pod, whose watch is quicker than its answers."""

    def __init__(self, gates: tuple[str, ...] = (GATE,)) -> None:
        self.gates = gates
        self.binds = 0
        self.shows: Callable[[], None] = lambda: None
        """Called when the pod has changed, and before the answer."""

    async def patch(self, *_: object) -> None:
        if self.gates != (GATE,):
            raise InvalidObject("the test failed")
        self.gates = ()
        self.shows()
        await asyncio.sleep(0)

    async def get(self, *_: object) -> Pod:
        gates = tuple(Gate(name) for name in self.gates)
        return Pod(metadata=Metadata(uid=BIND.uid), spec=PodSpec(scheduling_gates=gates))

    async def bind(self, *_: object, **__: object) -> None:
        self.binds += 1
        if self.binds > 1:
            raise Conflict("it is bound already")
        self.shows()


def gated_executor(server: GatedPod) -> Executor:
    term = Term()
    client = cast(KubeClient, server)
    return Executor(client, ActionQueue(), term, term, hold_back=lambda node: False)


def run_until_idle(executor: Executor, script: Callable[[], None]) -> None:
    async def run() -> None:
        async with asyncio.timeout(10):
            working = asyncio.create_task(executor.run())
            script()
            while executor.actions.requested or executor.actions._working:
                await asyncio.sleep(0.001)
            await a_moment()
            working.cancel()

    asyncio.run(run())


def test_a_gated_pod_is_bound_once_though_it_is_seen_without_its_gate_meanwhile() -> None:
    server = GatedPod()
    executor = gated_executor(server)
    gated = replace(BIND, gates=(GATE,))
    server.shows = lambda: executor.actions.request(replace(BIND, gates=()))
    run_until_idle(executor, lambda: executor.actions.request(gated))
    assert server.binds == 1


def test_a_pod_that_lost_its_gate_meanwhile_is_bound_all_the_same() -> None:
    server = GatedPod(gates=())
    executor = gated_executor(server)
    run_until_idle(executor, lambda: executor.actions.request(replace(BIND, gates=(GATE,))))
    assert server.binds == 1


def test_a_pod_that_got_a_gate_of_another_component_is_not_bound() -> None:
    server = GatedPod(gates=(GATE, "example.com/quota"))
    executor = gated_executor(server)
    executor.observer.action_failed = lambda *_: None  # type: ignore[method-assign]
    run_until_idle(executor, lambda: executor.actions.request(replace(BIND, gates=(GATE,))))
    assert server.binds == 0


def test_the_queue_is_full_while_all_workers_have_enough_to_do() -> None:
    executor = slow_executor()

    async def script() -> None:
        for number in range(ENOUGH_BINDS + BIND_WORKERS):
            executor.actions.request(replace(BIND, uid=f"uid-{number}", name=f"pod-{number}"))
        assert executor.actions.is_full()
        while len(executor.at_work) < BIND_WORKERS:  # every worker takes one
            await asyncio.sleep(0)
        assert executor.actions.is_full()
        executor.may_finish.set()
        while executor.actions.requested:
            await asyncio.sleep(0)
        assert not executor.actions.is_full()

    play(script(), executor)


def test_the_queue_is_not_idle_while_more_is_expected() -> None:
    executor = slow_executor()
    assert executor.actions.is_idle()
    executor.actions.expect_more(True)
    assert not executor.actions.is_idle()
