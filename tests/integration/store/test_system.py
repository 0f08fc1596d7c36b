"""The store keeps the system that its queue belongs to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.graph.writers.whole import living, write_graph
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.config import BackfillPolicy, QueueConfig, SchedulerConfig
from fluxnetes.queue.events import Ended, Started, Submit
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import JobState
from fluxnetes.store.errors import LeaseLost, UnreadableStore
from fluxnetes.store.lease import StoreLease
from fluxnetes.store.store import Store, open_store
from fluxnetes.store.system import WrittenSystem
from fluxnetes.store.translate import translate
from fluxnetes.store.write_cache import WriteCache
from fluxnetes.store.writes import encode_system
from tests.integration.store.records import a_job, an_allocation, changes
from tests.integration.store.servers import fetch
from tests.property.profile import examples
from tests.unit.store.drawn import CONFIG
from tests.unit.store.plain import plain
from tests.unit.store.test_translate import gang

CONFIG_OF_LAB = SchedulerConfig(queues=(QueueConfig("lab", BackfillPolicy.CONSERVATIVE),))


def cluster(*names: str) -> ResourceGraph:
    return pool_graph(
        {name: {"cpu": 4000} for name in names},
        shared={"licence": 10},
        properties={name: {"rack": name} for name in names},
    )


async def take(store: Store, holder: str = "test") -> StoreLease:
    lease = await store.take(holder)
    assert lease is not None
    return lease


async def versions(dsn: str) -> tuple[str, str]:
    """Which transaction wrote the row, and where its document is stored."""
    [row] = await fetch(dsn, "SELECT xmin::text, md5(graph) AS document FROM system")
    return row["xmin"], row["document"]


async def test_a_store_to_which_no_system_was_written_has_none(dsn: str) -> None:
    async with open_store(dsn) as store:
        assert await store.system() is None
        assert await store.look() == (Snapshot(), None)


async def test_graph_rows_and_configuration_come_back(dsn: str) -> None:
    graph = cluster("a", "b", "c")
    graph.remove(graph.find_path("/cluster0/a"))
    graph.set_status(graph.find_path("/cluster0/b")[0], up=False)
    async with open_store(dsn) as store:
        lease = await take(store)
        await store.keep_system(graph, CONFIG_OF_LAB, lease.fence)
        found = await store.system()
    assert found is not None
    assert write_graph(found.graph) == write_graph(graph)
    assert found.rows.tolist() == living(graph).tolist()
    assert found.config == CONFIG_OF_LAB


async def test_what_did_not_change_is_not_written_again(dsn: str) -> None:
    graph = cluster("a", "b")
    async with open_store(dsn) as store:
        lease = await take(store)
        await store.keep_system(graph, SchedulerConfig(), lease.fence)
        before = await versions(dsn)
        await store.keep_system(graph, SchedulerConfig(), lease.fence)
        assert await versions(dsn) == before


async def test_a_change_of_any_kind_is_written(dsn: str) -> None:
    graph = cluster("a", "b", "c")
    [b] = graph.find_path("/cluster0/b")
    async with open_store(dsn) as store:
        lease = await take(store)
        await store.keep_system(graph, SchedulerConfig(), lease.fence)
        for change in (
            partial(graph.set_status, b, up=False),
            partial(graph.set_status, b, up=True),
            partial(graph.set_property, b, "rack", "another"),
            partial(graph.remove_property, b, "rack"),
            partial(graph.remove, graph.find_path("/cluster0/a")),
        ):
            known = await store.system()
            assert await store.system(known) is known
            change()
            await store.keep_system(graph, CONFIG_OF_LAB, lease.fence)
            found = await store.system(known)
            assert found is not None
            assert found is not known
            assert write_graph(found.graph) == write_graph(graph)
            assert found.rows.tolist() == living(graph).tolist()
            assert found.config == CONFIG_OF_LAB


async def test_who_comes_next_does_not_write_again_what_is_the_same(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await take(store)
        await store.keep_system(cluster("a", "b"), SchedulerConfig(), lease.fence)
        before = await versions(dsn)
        await store.release(lease)
    async with open_store(dsn) as store:
        lease, stored = await take(store), await store.system()
        await store.keep_system(cluster("a", "b"), SchedulerConfig(), lease.fence, stored=stored)
        assert await versions(dsn) == before


def _closed(graph: ResourceGraph) -> None:
    graph.set_closed(graph.find_path("/cluster0/b")[0], closed=True)


def _renamed(graph: ResourceGraph) -> None:
    graph.set_property(graph.find_path("/cluster0/b")[0], "rack", "another")


def _resized(graph: ResourceGraph) -> None:
    pool = graph.find_path("/cluster0/b")[0] + 1
    graph.set_size(pool, int(graph.size[pool]) + 1)


def _shrunk(graph: ResourceGraph) -> None:
    graph.remove(graph.find_path("/cluster0/b"))


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a"), ("a", "b", "c"), ("b",)])
@pytest.mark.parametrize("change", [None, _closed, _renamed, _resized, _shrunk])
async def test_who_comes_next_writes_whatever_is_another(
    dsn: str, names: tuple[str, ...], change: Callable[[ResourceGraph], None] | None
) -> None:
    async with open_store(dsn) as store:
        lease = await take(store)
        await store.keep_system(cluster("a", "b"), CONFIG_OF_LAB, lease.fence)
        await store.release(lease)
    graph = cluster(*names)
    if change is not None:
        change(graph)
    async with open_store(dsn) as store:
        lease, stored = await take(store), await store.system()
        await store.keep_system(graph, SchedulerConfig(), lease.fence, stored=stored)
        found = await store.system()
    assert found is not None
    graph.up[:] &= ~graph.closed
    assert write_graph(found.graph) == write_graph(graph)
    assert found.rows.tolist() == living(graph).tolist()
    assert found.config == SchedulerConfig()


def test_a_node_that_goes_down_does_not_send_the_graph_again() -> None:
    """The document of a large cluster takes a second to write, and nodes come and go."""
    graph = cluster("a", "b")
    written = WriteCache(system=WrittenSystem.of(graph, SchedulerConfig()))
    graph.set_status(graph.find_path("/cluster0/a")[0], up=False)
    [write] = encode_system(WrittenSystem.of(graph, SchedulerConfig()), written)
    assert (write.statement, write.rows) == (
        "system_state",
        [(graph.find_path("/cluster0/a"), "{}")],
    )


async def test_a_closed_node_is_kept_as_one_that_takes_nothing(dsn: str) -> None:
    graph = cluster("a", "b")
    async with open_store(dsn) as store:
        lease = await take(store)
        await store.keep_system(graph, SchedulerConfig(), lease.fence)
        graph.set_closed(graph.find_path("/cluster0/b")[0], closed=True)
        await store.keep_system(graph, SchedulerConfig(), lease.fence)
        found = await store.system()
    assert found is not None
    assert found.graph.names((~found.graph.up).nonzero()[0]) == ["b"]


async def test_who_lost_the_lease_keeps_nothing(dsn: str) -> None:
    async with open_store(dsn) as old, open_store(dsn) as new:
        lease = await take(old, "old")
        await old.release(lease)
        newer = await take(new, "new")
        await new.keep_system(cluster("a"), CONFIG_OF_LAB, newer.fence)
        with pytest.raises(LeaseLost):
            await old.keep_system(cluster("b"), SchedulerConfig(), lease.fence)
        found = await old.system()
        assert found is not None and found.config == CONFIG_OF_LAB


async def test_who_failed_to_write_writes_again(dsn: str) -> None:
    graph = cluster("a")
    async with open_store(dsn) as store:
        lease = await take(store)
        with pytest.raises(LeaseLost):
            await store.keep_system(graph, SchedulerConfig(), lease.fence + 1)
        await store.keep_system(graph, SchedulerConfig(), lease.fence)
        assert await store.system() is not None


async def test_a_setting_of_a_newer_version_is_refused_with_its_path(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await take(store)
        await store.keep_system(cluster("a"), SchedulerConfig(), lease.fence)
        await fetch(dsn, """UPDATE system SET config = '{"queues": [{"colour": 1}]}'""")
        with pytest.raises(UnreadableStore, match=r"config\.queues\[0\]\.colour: "):
            await store.system()


def test_every_configuration_comes_back_from_the_server(dsn: str) -> None:
    graph = cluster("a")

    async def write_and_read(config: SchedulerConfig) -> None:
        async with open_store(dsn) as store:
            lease = await take(store)
            await store.keep_system(graph, config, lease.fence)
            found = await store.system()
            assert found is not None and plain(found.config) == plain(config)

    @examples(20)
    @given(CONFIG)
    def check(config: SchedulerConfig) -> None:
        asyncio.run(write_and_read(config))

    check()


# -- a queue that goes on elsewhere ----------------------------------------------------------------


async def test_a_queue_goes_on_on_a_graph_with_other_rows(dsn: str) -> None:
    """One controller dies; the next lists the nodes in another order, one fewer and one more."""
    async with open_store(dsn) as store:
        await _first_controller(store, cluster("a", "b", "c"))
    graph = cluster("d", "c", "b")
    async with open_store(dsn) as store:
        lease = await take(store, "second")
        snapshot, system = await store.load(), await store.system()
        assert system is not None
        found = translate(snapshot, system, graph)
        # The first job has a and b, the second c.
        assert found.lost == (1,)
        await store.keep_system(graph, system.config, lease.fence, found.snapshot.allocations)
        stored, system = await store.look()
        assert plain(stored) == plain(found.snapshot)
        assert system is not None and write_graph(system.graph) == write_graph(graph)
        queue = Scheduler.resume(Matcher(graph), system.config, found.snapshot, now=1)
        queue.apply(Ended(2), 1)
        queue.cycle(1)
        await store.commit(queue.take_changes(), lease.fence)
        assert {each.job for each in (await store.load()).allocations} == {1}


async def _first_controller(store: Store, graph: ResourceGraph) -> None:
    lease = await take(store, "first")
    await store.keep_system(graph, SchedulerConfig(), lease.fence)
    queue = Scheduler(Matcher(graph, policy="lonode"), SchedulerConfig())
    for id, pods in ((1, 2), (2, 1)):
        queue.apply(Submit(Submission(id, gang(pods), walltime=60)), 0)
    queue.cycle(0)
    await store.commit(queue.take_changes(), lease.fence)
    for id in (1, 2):
        queue.apply(Started(id), 0)
    await store.commit(queue.take_changes(), lease.fence)
    await store.release(lease)


async def test_graph_and_translated_allocations_are_written_together_or_not_at_all(
    dsn: str,
) -> None:
    async with open_store(dsn) as store:
        lease = await take(store)
        await store.keep_system(cluster("a", "b"), SchedulerConfig(), lease.fence)
        job = a_job(1, JobState.RUNNING)
        await store.commit(changes(job, allocations={1: an_allocation(1)}), lease.fence)
        before = await store.look()
        stranger = an_allocation(77)
        with pytest.raises(Exception, match="violates foreign key constraint"):
            await store.keep_system(cluster("b"), CONFIG_OF_LAB, lease.fence, [stranger])
        after = await store.look()
        assert plain(after[0]) == plain(before[0])
        assert after[1] is not None and after[1].config == SchedulerConfig()


async def test_who_looks_sees_queue_and_system_of_one_moment(dsn: str) -> None:
    """A writer that numbers anew again and again never shows rows of one graph with another."""
    one, other = cluster("a", "b", "c"), cluster("c", "b", "a")
    async with open_store(dsn) as store, open_store(dsn) as onlooker:
        await _first_controller(store, one)
        lease = await take(store, "second")
        snapshot, system = await store.load(), await store.system()
        done = asyncio.Event()

        async def renumber() -> None:
            held, known = snapshot, system
            for graph in [other, one] * 10:
                assert known is not None
                held = translate(held, known, graph).snapshot
                await store.keep_system(graph, SchedulerConfig(), lease.fence, held.allocations)
                known = await store.system()
            done.set()

        writing = asyncio.create_task(renumber())
        while not done.is_set() and not writing.done():
            seen, shown = await onlooker.look()
            assert shown is not None
            [first, *_] = translate(seen, shown, shown.graph).snapshot.allocations
            names = [shown.graph.name(row) for row in first.task_nodes(shown.graph)]
            assert names == ["a", "b"]
        await writing
