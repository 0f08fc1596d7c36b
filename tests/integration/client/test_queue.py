"""What a client does with a queue: submit, hold, start, finish, ask why and when."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from fluxnetes.client import (
    Busy,
    Client,
    Denied,
    Invalid,
    JobChange,
    Reset,
    State,
    UnknownJob,
    WrongState,
)
from tests.integration.client.conftest import Connect
from tests.integration.client.jobs import cores, nodes
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.process import Serve


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """A server with a queue on two nodes of four cores each."""
    folder = tmp_path_factory.mktemp("queue")
    (folder / "graph.json").write_text(a_cluster(nodes=2, cores=4))
    with Serve(folder, "--queue", "--graph", folder / "graph.json", "--renew-within", "600") as it:
        yield it


@pytest.fixture
def client(queue: Serve, connect: Connect) -> Client:
    """A client of an empty queue."""
    client = connect(queue.address)
    stream = client.watch_jobs()
    assert next(stream) == Reset()
    while left := client.status().jobs:
        for change in stream:
            assert isinstance(change, JobChange)
            if not change.ended:
                client.cancel(change.job.id)
            elif client.status().jobs != left:
                break
    return client


def test_a_job_goes_through_its_life(client: Client) -> None:
    before = int(time.time())
    job = client.submit(cores(2), walltime=60, name="first", user="ada", priority=3)
    assert (job.state, job.name, job.user, job.queue) == (
        State.ALLOCATED,
        "first",
        "ada",
        "default",
    )
    assert (job.queue, job.walltime, job.priority) == ("default", 60, 3)
    assert [(share.tasks, share.amounts) for share in job.nodes] == [(1, {"core": 2})]
    assert client.start(job.id).state is State.RUNNING
    assert (job.submitted or 0) >= before
    expires = client.renew(job.id)
    assert expires is not None
    assert expires - before >= 600
    client.finish(job.id)
    assert client.job(job.id).state is State.COMPLETED
    assert client.status().jobs == {}


def test_a_job_that_fails_says_why(client: Client) -> None:
    job = client.submit(cores(1), walltime=60)
    client.start(job.id)
    client.finish(job.id, failed=True, reason="out of memory")
    ended = client.job(job.id)
    assert (ended.state, ended.reason) == (State.FAILED, "out of memory")


def test_a_job_waits_for_its_turn_and_says_why_and_until_when(client: Client) -> None:
    first = client.submit(nodes(2), walltime=100)
    client.start(first.id)
    second = client.submit(nodes(1), walltime=100)
    third = client.submit(nodes(2), walltime=100)
    explained = client.explain(third.id)
    assert (explained.job.state, explained.ahead) == (State.PENDING, 1)
    assert explained.reason
    assert [text for _, text in explained.story]
    deadline = client.job(first.id).deadline
    assert deadline is not None
    assert client.job(second.id).promised == deadline
    client.finish(first.id)
    assert client.job(second.id).state is State.ALLOCATED
    assert client.job(third.id).state is State.PENDING


def test_a_held_job_does_not_start_until_it_is_released(client: Client) -> None:
    job = client.submit(cores(1), walltime=60, held=True)
    assert job.state is State.HELD
    assert client.release(job.id).state is State.ALLOCATED
    blocked = client.submit(nodes(2), walltime=60)
    assert blocked.state is State.PENDING
    assert client.hold(blocked.id).state is State.HELD
    with pytest.raises(WrongState):
        client.hold(job.id)


def test_a_job_waits_for_another(client: Client) -> None:
    first = client.submit(cores(1), walltime=60)
    second = client.submit(cores(1), walltime=60, after_ok=[first.id])
    assert second.state is State.PENDING
    client.start(first.id)
    client.finish(first.id)
    assert client.job(second.id).state is State.ALLOCATED


def test_an_estimate_says_when_and_where_and_submits_nothing(client: Client) -> None:
    first = client.submit(nodes(2), walltime=100)
    client.start(first.id)
    found = client.estimate(nodes(1), walltime=60)
    assert found.known
    assert found.start == client.job(first.id).deadline
    assert client.status().jobs == {"running": 1}
    assert not client.estimate(nodes(3), walltime=60).known


def test_a_match_goes_through_the_queue_at_once_or_not_at_all(client: Client) -> None:
    job = client.match(nodes(2), walltime=60)
    assert job.state is State.RUNNING
    with pytest.raises(Busy):
        client.match(cores(1), walltime=60)
    client.cancel(job.id)
    with pytest.raises(UnknownJob):
        client.cancel(job.id, missing_ok=False)


def test_what_nothing_can_serve_waits_with_the_reason(client: Client) -> None:
    job = client.submit(nodes(3))
    needs = "needs 3 slot; only 2 in this graph could serve"
    reason = f"{needs}; it waits for nodes that can serve it"
    assert (job.state, job.reason) == (State.PENDING, reason)
    assert client.explain(job.id).reason == reason


def test_a_queue_that_there_is_not_is_invalid(client: Client) -> None:
    with pytest.raises(Invalid, match="there is default") as raised:
        client.submit(cores(1), queue="missing")
    assert raised.value.field == "queue"


def test_a_queue_keeps_its_graph(client: Client) -> None:
    with pytest.raises(Denied):
        client.load(a_cluster(nodes=1, cores=1))
    with pytest.raises(Denied):
        client.update(99, "{}", at=0, duration=60)
