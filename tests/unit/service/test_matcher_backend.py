"""The matcher's backend: allocations when callers leave, repeat calls, or change the graph."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from fluxnetes.jobspec.parse import parse_jobspec
from fluxnetes.match.answers import Outcome
from fluxnetes.service.errors import Invalid, NoGraph, UnknownJob
from fluxnetes.service.matcher_backend import MatcherBackend
from fluxnetes.service.matcher_ops import LARGEST_JOB, MatcherOperations
from fluxnetes.service.values import AllocationUpdate, Grant, MatchCall
from tests.integration.rpc.graphs import a_cluster, another_node
from tests.integration.rpc.jobspecs import slots

GRAPH = a_cluster(2, 4)


def a_call(cores: int = 1, **more: object) -> MatchCall:
    return MatchCall(parse_jobspec(slots(1, cores)), **more)  # type: ignore[arg-type]


@asynccontextmanager
async def a_backend(graph: str = GRAPH) -> AsyncIterator[MatcherBackend]:
    backend = MatcherBackend(MatcherOperations())
    try:
        if graph:
            await backend.load(graph, "jgf", "")
        yield backend
    finally:
        await backend.close()


async def held(backend: MatcherBackend) -> set[int]:
    return {view.id for view in await backend.job_views(None)}


async def free(backend: MatcherBackend) -> int:
    return sum(pool.free for view in await backend.node_views(None) for pool in view.pools)


class Slow:
    """The first match is done, and returns only when released."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.let = threading.Event()

    def __call__(self, matching: MatcherOperations, call: MatchCall) -> Grant:
        grant = _match(matching, call)
        self.begun.set()
        self.let.wait(10)
        return grant

    async def has_begun(self) -> None:
        assert await asyncio.to_thread(self.begun.wait, 10)


_match = MatcherOperations.match


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    slow = Slow()
    monkeypatch.setattr(MatcherOperations, "match", lambda matching, call: slow(matching, call))
    return slow


async def settled(backend: MatcherBackend) -> None:
    """Wait for an undo, which enters the worker's inbox only through the event loop."""
    await backend.status()
    await backend.status()


# -- callers that leave ----------------------------------------------------------------------------


async def test_a_caller_that_leaves_during_its_match_holds_nothing(slow: Slow) -> None:
    async with a_backend() as backend:
        calling = asyncio.create_task(backend.match(a_call()))
        await slow.has_begun()
        calling.cancel()
        slow.let.set()
        await asyncio.gather(calling, return_exceptions=True)
        await settled(backend)
        assert await held(backend) == set()
        assert await free(backend) == 8


async def test_a_withdrawn_grant_is_free_and_watchers_see_it() -> None:
    async with a_backend() as backend:
        grant = await backend.match(a_call())
        before = backend.nodes.revision
        await backend.withdraw(grant)
        assert await free(backend) == 8
        assert backend.nodes.since(before) == ["node0"]
        assert backend.jobs.since(before) == ["1"]


async def test_withdrawing_twice_or_after_a_cancel_does_nothing() -> None:
    async with a_backend() as backend:
        grant = await backend.match(a_call())
        await backend.cancel(grant.job)
        await backend.withdraw(grant)
        await backend.withdraw(grant)
        assert await free(backend) == 8


async def test_withdrawing_a_grant_of_another_graph_does_nothing() -> None:
    """Numbers begin anew with a graph, so another job has the same one now."""
    async with a_backend() as backend:
        old = await backend.match(a_call())
        await backend.load(GRAPH, "jgf", "")
        new = await backend.match(a_call())
        assert (old.job, new.job) == (1, 1)
        await backend.withdraw(old)
        assert await held(backend) == {1}


async def test_withdrawing_a_refused_match_does_nothing() -> None:
    async with a_backend() as backend:
        await backend.match(a_call(8))
        no = await backend.match(a_call(8))
        assert no.outcome is Outcome.UNSATISFIABLE
        await backend.withdraw(no)


# -- callers that repeat calls --------------------------------------------------------------------


async def test_a_call_that_is_repeated_under_its_key_is_executed_once() -> None:
    async with a_backend() as backend:
        first = await backend.match(a_call(key="a", format="jgf"))
        again = await backend.match(a_call(key="a", format="jgf"))
        other = await backend.match(a_call(key="b", format="jgf"))
        assert (again.job, again.text, again.shares) == (first.job, first.text, first.shares)
        assert other.job != first.job
        assert await free(backend) == 6


async def test_a_key_can_be_used_again_when_its_job_is_over() -> None:
    async with a_backend() as backend:
        first = await backend.match(a_call(key="a"))
        await backend.cancel(first.job)
        again = await backend.match(a_call(key="a"))
        assert again.job != first.job
        assert await held(backend) == {again.job}


async def test_a_caller_that_leaves_and_repeats_its_key_keeps_the_allocation(slow: Slow) -> None:
    """The second call is in the inbox already when the first, which is being done, is given up."""
    async with a_backend() as backend:
        first = asyncio.create_task(backend.match(a_call(key="a")))
        await slow.has_begun()
        second = asyncio.create_task(backend.match(a_call(key="a")))
        await asyncio.sleep(0)
        first.cancel()
        slow.let.set()
        await asyncio.gather(first, return_exceptions=True)
        answer = await second
        await settled(backend)
        assert await held(backend) == {answer.job}


async def test_a_refused_match_is_not_remembered_under_its_key() -> None:
    async with a_backend() as backend:
        job = (await backend.match(a_call(4))).job
        await backend.match(a_call(4))
        assert not await backend.match(a_call(4, key="a"))
        await backend.cancel(job)
        assert await backend.match(a_call(4, key="a"))


# -- allocations made elsewhere --------------------------------------------------------------------


async def test_numbers_that_callers_chose_are_not_reused() -> None:
    async with a_backend() as backend:
        text = (await backend.match(a_call(format="jgf"))).text
        await backend.match(a_call())
        await backend.cancel(1)
        assert await backend.update(AllocationUpdate(1, text, "jgf", 0, 60))
        assert (await backend.match(a_call())).job == 3
        await backend.cancel(1)
        assert await backend.update(AllocationUpdate(40, text, "jgf", 0, 60))
        assert (await backend.match(a_call())).job == 41
        for job in await held(backend):
            await backend.cancel(job)
        assert await free(backend) == 8


@pytest.mark.parametrize("number", [0, -1, LARGEST_JOB + 1, 2**63 - 1])
async def test_numbers_that_leave_none_above_them_are_refused(number: int) -> None:
    async with a_backend() as backend:
        text = (await backend.match(a_call(format="jgf"))).text
        with pytest.raises(Invalid) as refused:
            await backend.update(AllocationUpdate(number, text, "jgf", 0, 60))
        assert refused.value.field == "job"


async def test_an_update_cannot_take_what_another_job_holds() -> None:
    async with a_backend() as backend:
        text = (await backend.match(a_call(format="jgf"))).text
        busy = await backend.update(AllocationUpdate(7, text, "jgf", 0, 60))
        assert (busy.outcome, bool(busy)) == (Outcome.BUSY, False)
        with pytest.raises(Invalid, match="already holds resources"):
            await backend.update(AllocationUpdate(1, text, "jgf", 0, 60))


# -- the graph -------------------------------------------------------------------------------------


async def test_without_a_graph_every_call_says_that_there_is_none() -> None:
    async with a_backend("") as backend:
        assert (await backend.status()).source == "none"
        assert await backend.job_views(None) == []
        for call in (
            backend.match(a_call()),
            backend.cancel(1),
            backend.grow(another_node(0, 1)),
            backend.shrink(["/cluster0"]),
            backend.text(),
            backend.node_views(None),
        ):
            with pytest.raises(NoGraph):
                await call


async def test_a_graph_that_cannot_be_read_changes_nothing() -> None:
    async with a_backend() as backend:
        await backend.match(a_call())
        for graph, policy in (("{}", ""), (GRAPH, "best")):
            with pytest.raises(Invalid):
                await backend.load(graph, "jgf", policy)
        assert await held(backend) == {1}
        assert (await backend.status()).policy == "lonode"


async def test_only_what_is_held_can_be_renewed() -> None:
    async with a_backend() as backend:
        await backend.match(a_call())
        assert await backend.renew(1) is None
        await backend.cancel(1)
        for job in (1, 2):
            with pytest.raises(UnknownJob):
                await backend.renew(job)


async def test_a_job_that_lost_all_its_resources_has_ended() -> None:
    async with a_backend() as backend:
        await backend.match(a_call(4))
        await backend.match(a_call(4))
        await backend.shrink(["/cluster0/node0"])
        assert await held(backend) == {2}
        with pytest.raises(UnknownJob):
            await backend.cancel(1)


async def test_watchers_begin_anew_when_the_graph_changes() -> None:
    async with a_backend() as backend:
        for change in (
            backend.load(GRAPH, "jgf", ""),
            backend.grow(another_node(2, 1)),
            backend.shrink(["/cluster0/node2"]),
        ):
            before = backend.nodes.revision, backend.jobs.revision
            await change
            assert backend.nodes.since(before[0]) is None
            assert backend.jobs.since(before[1]) is None


async def test_the_policy_of_one_graph_is_not_that_of_the_next() -> None:
    async with a_backend() as backend:
        for policy, used in (("hinode", "hinode"), ("", "lonode"), ("first", "first")):
            await backend.load(GRAPH, "jgf", policy)
            assert (await backend.status()).policy == used


def test_an_unknown_policy_is_refused_at_once() -> None:
    with pytest.raises(Invalid, match="best"):
        MatcherOperations("best")
