"""A queue over gRPC: from submit to the end, with promises that can be watched."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fluxnetes.client import (
    Busy,
    Client,
    Denied,
    Gang,
    Invalid,
    State,
    UnknownJob,
    Unsatisfiable,
    WrongState,
)
from tests.integration.rpc.graphs import a_cluster, another_node
from tests.integration.rpc.process import Serve
from tests.integration.rpc.waiting import until
from tests.integration.rpc_queue.jobs import ALL, CORES, cores, free, until_state, watching


def test_a_server_with_a_queue_says_so(client: Client) -> None:
    status = client.status()
    assert (status.queue, status.source, status.durable) == (True, "file", False)
    assert (status.nodes, status.nodes_up, status.jobs) == (4, 4, {})
    assert status.policy == "hinode"  # as its configuration says, since no --policy was given


def test_a_job_lives_from_submit_to_finish(client: Client) -> None:
    job = client.submit(cores(CORES), walltime=100, name="train")
    assert (job.state, job.name, job.queue, job.user) == (
        *(State.ALLOCATED, "train", "default"),
        "nobody",
    )
    assert [(share.node, share.tasks, share.amounts) for share in job.nodes] == [
        ("node3", CORES, {"core": CORES})
    ]
    assert job.started is not None and job.deadline == job.started + 100
    assert client.start(job.id).state is State.RUNNING
    assert free(client) == ALL - CORES
    client.finish(job.id)
    over = client.job(job.id)
    assert (over.state, over.nodes) == (State.COMPLETED, ())
    assert free(client) == ALL
    with pytest.raises(UnknownJob, match="completed"):
        client.finish(job.id)


def test_a_job_can_be_held_released_and_explained(client: Client) -> None:
    job = client.submit(cores(1), held=True, walltime=60)
    assert job.state is State.HELD
    assert client.release(job.id).state is State.ALLOCATED
    with pytest.raises(WrongState, match="allocated"):
        client.hold(job.id)
    client.submit(cores(ALL), walltime=60)
    last = client.submit(cores(ALL), walltime=60)
    assert last.state is State.PENDING
    explained = client.explain(last.id)
    assert (explained.ahead, explained.job.id) == (1, last.id) and "needs" in explained.reason
    assert "pending: submitted" in [text for _, text in explained.story]
    assert client.hold(last.id).state is State.HELD
    client.cancel(last.id, reason="not today")
    assert client.explain(last.id).story[-1][1].endswith("not today")
    with pytest.raises(UnknownJob):
        client.explain(10_000_000)


def test_who_waits_starts_as_soon_as_there_is_room(client: Client) -> None:
    first = client.submit(cores(ALL), walltime=100)
    waits = client.submit(cores(1), walltime=100)
    assert (waits.state, waits.promised) == (State.PENDING, first.deadline)
    began = time.monotonic()
    client.finish(first.id)
    assert client.job(waits.id).state is State.ALLOCATED
    assert time.monotonic() - began < 0.9, "it waited for a tick"


def test_a_job_whose_walltime_is_over_is_ending_and_gone_after_its_grace(
    client: Client,
) -> None:
    with watching(client) as seen:
        job = client.submit(cores(1), walltime=1)
        client.start(job.id)
        ending = seen(lambda change: change.job.state is State.ENDING).job
        assert ending.id == job.id and "walltime of 1 s" in ending.reason
        over = seen(lambda change: change.ended).job
    assert (over.id, over.state) == (job.id, State.TIMED_OUT)
    assert over.ended is not None and job.deadline is not None
    assert over.ended >= job.deadline + 1  # its grace
    assert free(client) == ALL


def test_dependencies_are_waited_for(client: Client) -> None:
    first = client.submit(cores(1), walltime=60)
    second = client.submit(cores(1), walltime=60, after_ok=[first.id])
    third = client.submit(cores(1), walltime=60, after=[second.id])
    assert second.state is third.state is State.PENDING
    assert str(first.id) in client.explain(second.id).reason
    client.finish(first.id)
    assert client.job(second.id).state is client.job(third.id).state is State.ALLOCATED
    failed = client.submit(cores(1), walltime=60)
    never = client.submit(cores(1), walltime=60, after_ok=[failed.id])
    client.finish(failed.id, failed=True)
    assert client.job(never.id).state.has_ended


def test_queues_are_those_of_the_configuration(client: Client) -> None:
    job = client.submit(cores(1), queue="short")
    assert (job.queue, job.walltime) == ("short", 300)
    long = client.submit(cores(1), queue="short", walltime=601)
    assert long.state is State.REJECTED and "600" in long.reason
    with pytest.raises(Invalid, match="there is default, short") as refused:
        client.submit(cores(1), queue="fast")
    assert refused.value.field == "queue"
    with watching(client, queue="short") as seen:
        client.submit(cores(1), walltime=60)
        other = client.submit(cores(1), queue="short")
        assert seen(lambda change: change.job.id != job.id).job.id == other.id


def test_promises_and_backfill_can_be_watched(client: Client) -> None:
    with watching(client) as seen:
        runs = client.submit(cores(ALL - 2), walltime=100)
        waits = client.submit(cores(ALL), walltime=100)
        planned = seen(lambda change: change.job.id == waits.id and bool(change.job.promised)).job
        assert planned.promised == runs.deadline
        small = client.submit(cores(2), walltime=50)  # is gone before that
        large = client.submit(cores(2), walltime=150)  # would not be
        assert seen(lambda c: c.job.id == small.id).job.state is State.ALLOCATED
        assert seen(lambda c: c.job.id == large.id).job.state is State.PENDING
        assert client.job(waits.id).promised == planned.promised
        client.finish(small.id)
        assert client.job(large.id).state is State.PENDING
        client.finish(runs.id)
        assert seen(lambda c: c.job.id == waits.id and bool(c.job.nodes)).job.promised is None


def test_an_estimate_is_what_then_happens(client: Client) -> None:
    first = client.submit(cores(ALL - 2), walltime=2)
    now = client.estimate(cores(2), walltime=60)
    small = client.submit(cores(2), walltime=60)
    assert (now.known, now.start, now.nodes) == (True, small.started, small.nodes)
    later = client.estimate(cores(ALL - 4), walltime=60)
    assert later.known and later.start == first.deadline
    job = client.submit(cores(ALL - 4), walltime=60)
    assert (job.state, job.promised) == (State.PENDING, later.start)
    until_state(client, first.id, State.ENDING, State.RUNNING, State.ALLOCATED)
    until(lambda: time.time() >= (first.deadline or 0))
    client.finish(first.id)
    runs = until_state(client, job.id, State.ALLOCATED)
    assert runs.started in (later.start, (later.start or 0) + 1)
    assert runs.nodes == later.nodes
    never = client.estimate(cores(ALL + 1), walltime=60)
    assert not never.known and never.reason
    endless = client.submit(cores(1))
    unknown = client.estimate(cores(ALL), walltime=60)
    assert not unknown.known and "walltime" in unknown.reason
    client.cancel(endless.id)
    with pytest.raises(Invalid):
        client.estimate(cores(1), queue="fast")


# -- matches beside the queue --------------------------------------------------------------------


def test_matches_until_it_is_busy(client: Client) -> None:
    jobs = [client.match(cores(5)) for _ in range(ALL // 5)]
    assert len({job.id for job in jobs}) == ALL // 5
    with pytest.raises(Busy, match="only 2 can be had now"):
        client.match(cores(5))
    with pytest.raises(Unsatisfiable):
        client.match(cores(ALL + 1))
    client.cancel(jobs[0].id)
    assert client.match(cores(5)).state is State.RUNNING
    assert free(client) == ALL % 5


def test_a_match_takes_nothing_that_was_promised(client: Client) -> None:
    client.submit(cores(ALL - 2), walltime=100)
    waits = client.submit(cores(ALL), walltime=100)
    with pytest.raises(Busy, match="promised"):
        client.match(cores(2), walltime=1000)
    assert client.match(cores(2), walltime=50).state is State.RUNNING
    assert client.job(waits.id).promised == waits.promised


def test_nothing_is_reserved_by_a_match_and_it_says_what_to_do(client: Client) -> None:
    client.match(cores(ALL), walltime=100)
    with pytest.raises(Busy, match="promises times, not nodes: Submit the job to its queue"):
        client.match(cores(1), reserve=True)
    assert client.status().jobs == {"running": 1}


def test_a_match_is_renewed_and_cancelled_as_often_as_one_likes(client: Client) -> None:
    job = client.match(cores(1))
    assert client.renew(job.id) is None  # here, nothing expires
    client.cancel(job.id)
    client.cancel(job.id)
    with pytest.raises(UnknownJob):
        client.cancel(job.id, missing_ok=False)
    with pytest.raises(UnknownJob):
        client.renew(job.id)


def test_the_graph_of_a_queue_cannot_be_changed(client: Client) -> None:
    with pytest.raises(Denied, match="started with"):
        client.load(a_cluster(1, 1))
    with pytest.raises(Denied):
        client.grow(another_node(9, 1))
    with pytest.raises(Denied):
        client.shrink("/cluster0/node0")
    with pytest.raises(Denied):
        client.update(1, "{}", at=0, duration=1)
    assert client.status().nodes == 4


def test_what_makes_no_sense_is_refused_and_leaves_nothing(client: Client) -> None:
    for ask in ("", "{", "version: 1", Gang.of(1, cpu=1000)):
        with pytest.raises(Invalid):
            client.submit(ask)
        with pytest.raises(Invalid):
            client.match(ask)
    assert client.status().jobs == {}


# -- options -------------------------------------------------------------------------------------


def test_a_queue_without_a_graph_is_refused(tmp_path: Path) -> None:
    assert "a queue needs a resource graph: add --graph FILE" in Serve(tmp_path, "--queue").fail()
