"""A queue with a store: kill -9 at any moment, and nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from fluxnetes.client import Busy, Client, State, Unavailable
from fluxnetes.client.retrying import Patience
from fluxnetes.v1 import jobs_pb2 as v1
from tests.integration.rpc.conftest import crash
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.ours import Ours
from tests.integration.rpc.process import Serve
from tests.integration.rpc.waiting import until
from tests.integration.rpc_queue.conftest import write_setup
from tests.integration.rpc_queue.jobs import ALL, CORES, cores, empty, free, holders, until_state
from tests.integration.store.servers import fetch

KILLS = 3


@pytest.fixture
def client(kept: Serve) -> Iterator[Client]:
    with Client(kept.address, patience=Patience(30.0)) as client:
        yield client


def test_all_is_there_after_kill_9_and_goes_on(kept: Serve, client: Client) -> None:
    matched = client.match(cores(CORES), name="matched")
    runs = client.submit(cores(ALL - CORES), walltime=100, name="runs", user="ada")
    client.start(runs.id)
    waits = client.submit(cores(1), walltime=100, after_any=[runs.id])
    held = client.submit(cores(1), held=True)
    before = [client.job(job) for job in (matched.id, runs.id, waits.id, held.id)]
    crash(kept)
    assert [client.job(job.id) for job in before] == before
    assert free(client) == 0 and client.status().durable
    with pytest.raises(Busy):
        client.match(cores(1))
    assert client.explain(runs.id).job == before[1]
    client.finish(runs.id)
    assert client.job(waits.id).state is State.ALLOCATED
    assert client.release(held.id).state is State.ALLOCATED
    assert client.submit(cores(1)).id == held.id + 1  # a number is never given twice
    empty(client)


def test_who_asks_again_under_its_key_after_a_restart_is_given_the_same_job(
    kept: Serve, client: Client
) -> None:
    match = v1.MatchRequest(ask=v1.Ask(jobspec=cores(2)), request_id="m", format="rv1_nosched")
    submit = v1.SubmitRequest(ask=v1.Ask(jobspec=cores(2)), request_id="s")
    with Ours(kept.address) as ours:
        first, queued = ours(match), ours(submit)
        crash(kept)
        again = ours(match)
        assert (again.job, again.allocation, again.at) == (
            *(first.job, first.allocation),
            first.at,
        )
        assert ours(submit).job == queued.job
    assert holders(client) == {first.job.id: 2, queued.job.id: 2}


def test_a_job_whose_walltime_ended_during_a_restart_is_ending(kept: Serve, client: Client) -> None:
    job = client.match(cores(1), walltime=1)
    kept.kill()
    kept.start()
    over = until_state(client, job.id, State.TIMED_OUT)
    assert "walltime" in over.reason and free(client) == ALL


def test_killed_at_any_moment_nothing_that_was_answered_is_lost_or_doubled(
    kept: Serve, client: Client
) -> None:
    stop = Event()

    def work(seed: int) -> dict[int, int]:
        """What this client holds at the end, as far as it was answered."""
        draw = random.Random(seed)
        has: dict[int, int] = {}
        with Client(kept.address, patience=Patience(60.0)) as mine:
            while not stop.is_set():
                size = draw.randint(1, 3)
                try:
                    if draw.random() < 0.5:
                        job = mine.match(cores(size), walltime=1000)
                    else:
                        job = mine.submit(cores(size), walltime=1000)
                    has[job.id] = size
                except Busy:
                    pass
                while has and (draw.random() < 0.5 or len(has) > 5):
                    over = draw.choice(list(has))
                    mine.cancel(over)
                    del has[over]
        return has

    draw = random.Random(6)
    with ThreadPoolExecutor(4) as threads:
        working = [threads.submit(work, seed) for seed in range(4)]
        try:
            for _ in range(KILLS):
                stop.wait(0.2 + draw.random() * 0.5)
                crash(kept)
            stop.wait(0.3)
        finally:
            stop.set()
        answers = [each.result(60) for each in working]
    has = {job: size for each in answers for job, size in each.items()}
    assert sum(map(len, answers)) == len(has), "a number was given twice"
    waiting = {id for id in has if client.job(id).state is State.PENDING}
    assert holders(client) == {id: size for id, size in has.items() if id not in waiting}
    assert sum(client.status().jobs.values()) == len(has)
    empty(client)


def test_on_a_smaller_graph_a_job_that_lost_its_nodes_ends(postgres: Path, tmp_path: Path) -> None:
    options = ("--store", "--store-folder", postgres)
    with Serve(tmp_path, *write_setup(tmp_path), *options) as server:
        with Client(server.address) as client:
            lost, stays = client.submit(cores(CORES)), client.submit(cores(1))
            assert [share.node for job in (lost, stays) for share in job.nodes] == [
                *("node3", "node2")
            ]
        server.kill()
        (tmp_path / "graph.json").write_text(a_cluster(3, CORES))
        server.start()
        with Client(server.address) as client:
            over = until_state(client, lost.id, State.FAILED)
            assert "graph" in over.reason
            assert client.job(stays.id).nodes == stays.nodes


def test_without_its_graph_file_it_goes_on_with_the_graph_of_the_store(
    postgres: Path, tmp_path: Path
) -> None:
    with (
        Serve(tmp_path, *write_setup(tmp_path), "--store", "--store-folder", postgres) as first,
        Client(first.address) as client,
    ):
        job = client.match(cores(3))
        first.stop()
    with (
        Serve(tmp_path, "--queue", "--store", "--store-folder", postgres) as second,
        Client(second.address) as client,
    ):
        status = client.status()
        assert (status.source, status.policy) == ("store", "lonode")
        assert client.job(job.id).nodes == job.nodes


def test_who_loses_the_store_to_another_ends_and_says_so(
    kept: Serve, client: Client, dsn: str
) -> None:
    client.match(cores(1))
    asyncio.run(fetch(dsn, "UPDATE lease SET fence = fence + 1, holder = 'another'"))
    with Client(kept.address, patience=Patience(1.0)) as other, pytest.raises(Unavailable):
        other.match(cores(1))
    until(lambda: not kept.is_running)
    last = kept.log.read_text().splitlines()[-1]
    assert last.startswith("fluxnetes serve: ") and "lease" in last


def test_the_store_of_a_matcher_backend_is_refused(postgres: Path, tmp_path: Path) -> None:
    store = ("--store", "--store-folder", postgres)
    setup = write_setup(tmp_path)
    with Serve(tmp_path, "--graph", tmp_path / "graph.json", *store) as alone:
        with Client(alone.address) as client:
            client.match(cores(1))
        alone.stop()
    assert "of another component" in Serve(tmp_path, *setup, *store).fail()
