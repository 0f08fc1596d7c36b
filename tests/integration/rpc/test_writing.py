"""What is written to a real store, in which order and how much at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from fluxnetes.cli.serve.options import ServeOptions
from fluxnetes.cli.serve.run import _writing
from fluxnetes.cluster.node_graph import NodeGraph
from fluxnetes.graph.readers import read_graph
from fluxnetes.jobspec.parse import parse_jobspec
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.rpc.listener import ListenerOptions
from fluxnetes.service.mailbox import Mailbox
from fluxnetes.service.matcher_backend import MatcherBackend
from fluxnetes.service.matcher_ops import MatcherOperations
from fluxnetes.service.persistence import writer as writer_module
from fluxnetes.service.persistence.allocations import reopen
from fluxnetes.service.persistence.ownership import StoreOwnedElsewhere
from fluxnetes.service.persistence.writer import BatchedWriter
from fluxnetes.service.queue_runner import resume_queue
from fluxnetes.service.values import AllocationUpdate, MatchCall
from fluxnetes.store.database import Database
from fluxnetes.store.errors import LeaseLost
from fluxnetes.store.store import Store
from fluxnetes.store.writes import StatementBatch
from tests.integration.rpc.graphs import a_cluster, another_node
from tests.integration.rpc.jobspecs import nodes, slots
from tests.integration.store.records import a_job, changes


class Crash(Exception):  # noqa: N818 - that is what it stands for
    """We are no more."""


@asynccontextmanager
async def a_backend(dsn: str, name: str = "test") -> AsyncIterator[tuple[MatcherBackend, Store]]:
    """A backend on what the store has."""
    store = Store(Database(dsn))
    await store.open()
    lease = await store.take(name)
    assert lease is not None
    operations = MatcherOperations()
    backend = MatcherBackend(
        operations, BatchedWriter(store, lease, await reopen(store, lease.fence, operations))
    )
    try:
        yield backend, store
    finally:
        await backend.close()
        await store.close()


def a_call(text: str, **more: object) -> MatchCall:
    return MatchCall(parse_jobspec(text), **more)  # type: ignore[arg-type]


async def seen(dsn: str) -> tuple[int, dict[int, dict[str, int]]]:
    """As the next start finds it: the number of nodes, and what jobs hold of them."""
    async with a_backend(dsn) as (backend, _):
        views = await backend.job_views(None)
        nodes = (await backend.status()).nodes
        held = {view.id: {s.node: s.amounts.get("core", 0) for s in view.shares} for view in views}
        return nodes, held


def crash_after(monkeypatch: pytest.MonkeyPatch, store: Store, commits: int) -> None:
    """So many transactions are done, and no more."""
    send, left = store.send, commits

    async def counted(writes: list[StatementBatch], fence: int) -> None:
        nonlocal left
        if left == 0:
            raise Crash
        left -= 1
        await send(writes, fence)

    monkeypatch.setattr(store, "send", counted)


@pytest.mark.parametrize("commits", [0, 1, 2])
@pytest.mark.parametrize("change", ["load", "shrink", "grow"])
async def test_the_graph_and_what_became_of_jobs_are_written_together(
    dsn: str, monkeypatch: pytest.MonkeyPatch, change: str, commits: int
) -> None:
    """Whatever was written when we died, jobs are found on vertices that they had."""
    async with a_backend(dsn) as (backend, store):
        await backend.load(a_cluster(3, 2), "jgf", "")
        await backend.match(a_call(nodes(2, 2)))
        await backend.match(a_call(nodes(1, 2)))
        before = 3, {1: {"node0": 2, "node1": 2}, 2: {"node2": 2}}
        crash_after(monkeypatch, store, commits)
        after: tuple[int, dict[int, dict[str, int]]]
        try:
            match change:
                case "load":
                    after = 1, {}
                    await backend.load(a_cluster(1, 1), "jgf", "")
                case "shrink":
                    after = 1, {1: {"node1": 2}}
                    await backend.shrink(["/cluster0/node2", "/cluster0/node0"])
                case _:
                    after = 4, before[1]
                    await backend.grow(another_node(3, 1))
        except Crash:
            assert commits == 0
    assert await seen(dsn) == (after if commits else before)


async def test_one_transaction_is_for_all_who_wait(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_backend(dsn) as (backend, store):
        await backend.load(a_cluster(1, 100), "jgf", "")
        sent = 0
        send = store.send

        async def counted(writes: list[StatementBatch], fence: int) -> None:
            nonlocal sent
            sent += 1
            await send(writes, fence)

        monkeypatch.setattr(store, "send", counted)
        grants = await asyncio.gather(*(backend.match(a_call(slots(1, 1))) for _ in range(100)))
        assert sorted(grant.job for grant in grants) == list(range(1, 101))
        assert sent < 50
    assert len((await seen(dsn))[1]) == 100


async def test_what_cannot_be_committed_is_not_answered(dsn: str) -> None:
    """Not even those whose change went with another's."""
    async with a_backend(dsn) as (backend, _):
        await backend.load(a_cluster(1, 100), "jgf", "")
        await backend.match(a_call(slots(1, 1)))
        other = Store(Database(dsn))
        assert await other.take("test") is not None  # a holder of the same name may
        found = await asyncio.gather(
            *(backend.match(a_call(slots(1, 1))) for _ in range(30)), return_exceptions=True
        )
        await other.close()
        assert {type(each) for each in found} == {LeaseLost}
    assert set((await seen(dsn))[1]) == {1}


async def test_a_caller_that_leaves_during_the_commit_holds_nothing(dsn: str) -> None:
    async with a_backend(dsn) as (backend, _):
        await backend.load(a_cluster(1, 100), "jgf", "")
        for delay in range(12):
            calling = asyncio.create_task(backend.match(a_call(slots(1, 1))))
            for _ in range(delay):
                await asyncio.sleep(0.001)
            calling.cancel()
            [ended] = await asyncio.gather(calling, return_exceptions=True)
            if not isinstance(ended, BaseException):
                await backend.cancel(ended.job)
        kept = await backend.match(a_call(slots(1, 1)))
        while len(await backend.job_views(None)) > 1:
            await asyncio.sleep(0.01)
        assert backend._writer is not None
        await backend._writer.flush()
    assert set((await seen(dsn))[1]) == {kept.job}


async def test_changes_without_a_caller_are_committed_before_the_end(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a caller leaves during its match, and then the server is stopped."""
    monkeypatch.setattr(writer_module, "_INTERVAL", 60.0)
    options = ServeOptions(
        ListenerOptions("127.0.0.1", 0),
        None,
        None,
        "lonode",
        False,
        None,
        0.0,
        True,
        dsn,
        None,
        "info",
    )
    operations = MatcherOperations()
    async with _writing(options, operations) as writer:
        backend = MatcherBackend(operations, writer)
        await backend.load(a_cluster(1, 4), "jgf", "")
        grant = await backend.match(a_call(slots(1, 1)))
        await backend._worker.do(lambda: backend._undo_in_worker((grant, None)))
        await backend.close()
    assert await seen(dsn) == (1, {})


async def test_with_removed_vertices_rows_mean_the_same_after_any_number_of_restarts(
    dsn: str,
) -> None:
    async with a_backend(dsn) as (backend, _):
        await backend.load(a_cluster(4, 2), "jgf", "")
        await backend.shrink(["/cluster0/node0"])
        await backend.match(a_call(nodes(1, 2)))
    expected = {1: {"node1": 2}}
    for job, node in ((2, "node2"), (3, "node3")):
        assert await seen(dsn) == (3, expected)
        async with a_backend(dsn) as (backend, _):
            assert (await backend.match(a_call(nodes(1, 2)))).job == job
        expected |= {job: {node: 2}}
    assert await seen(dsn) == (3, expected)


async def test_what_was_adopted_is_kept_and_its_number_too(dsn: str) -> None:
    async with a_backend(dsn) as (backend, _):
        await backend.load(a_cluster(2, 2), "jgf", "")
        text = (await backend.match(a_call(slots(1, 1), format="jgf"))).text
        await backend.cancel(1)
        assert await backend.update(AllocationUpdate(50, text, "jgf", 0, 60))
    async with a_backend(dsn) as (backend, _):
        assert {view.id for view in await backend.job_views(None)} == {50}
        assert (await backend.match(a_call(slots(1, 1)))).job == 51


async def test_a_store_of_a_cluster_is_refused(dsn: str) -> None:
    store = Store(Database(dsn))
    await store.open()
    lease = await store.take("controller")
    assert lease is not None
    await store.keep_system(NodeGraph(uid="a-cluster").graph, SchedulerConfig(), lease.fence)
    with pytest.raises(StoreOwnedElsewhere, match="controller of a cluster"):
        await reopen(store, lease.fence, MatcherOperations())
    matcher = Matcher(read_graph(a_cluster(1, 1), "jgf"))
    with pytest.raises(StoreOwnedElsewhere, match="controller of a cluster"):
        await resume_queue(matcher, SchedulerConfig(), Mailbox(), store, lease.fence)
    found = await store.system()
    assert found is not None and found.graph.properties(0) == {"uid": "a-cluster"}
    await store.close()


async def test_a_store_of_a_queue_is_refused(dsn: str) -> None:
    store = Store(Database(dsn))
    await store.open()
    lease = await store.take("queue")
    assert lease is not None
    operations = MatcherOperations()
    operations.load(a_cluster(1, 1))
    await store.keep_system(operations.graph, SchedulerConfig(), lease.fence)
    await store.commit(changes(a_job(1)), lease.fence)
    with pytest.raises(StoreOwnedElsewhere, match="job 1"):
        await reopen(store, lease.fence, MatcherOperations())
    await store.close()
