"""Streams tell what there is and what changes, whatever becomes of the connection or the server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from fluxnetes.client import Client, Denied, JobChange, Node, NodeChange, Reset, State
from tests.integration.client.conftest import Connect
from tests.integration.client.jobs import cores, nodes
from tests.integration.client.line import Line
from tests.integration.rpc.graphs import a_cluster, another_node
from tests.integration.rpc.process import Serve

T = TypeVar("T")


def next_job(stream: Iterator[JobChange | Reset]) -> JobChange:
    change = next(stream)
    assert isinstance(change, JobChange)
    return change


def next_node(stream: Iterator[NodeChange | Reset]) -> Node:
    change = next(stream)
    assert isinstance(change, NodeChange)
    return change.node


@pytest.fixture
def line(serve: Serve) -> Iterator[Line]:
    with Line(serve.address) as line:
        yield line


def test_a_stream_of_jobs_tells_what_there_is_and_then_what_changes(client: Client) -> None:
    client.match(cores(1), name="before")
    stream = client.watch_jobs()
    assert next(stream) == Reset()
    assert next_job(stream).job == client.job(1)
    client.match(cores(1), name="after")
    came = next_job(stream)
    assert (came.job.name, came.job.state, came.ended) == ("after", State.RUNNING, False)
    client.cancel(1, reason="enough")
    went = next_job(stream)
    assert (went.job.id, went.job.state, went.job.reason) == (1, State.CANCELLED, "enough")
    assert went.ended


def test_a_stream_of_nodes_tells_what_there_is_and_then_what_changes(client: Client) -> None:
    stream = client.watch_nodes()
    assert next(stream) == Reset()
    assert [next_node(stream) for _ in range(2)] == client.nodes()
    client.match(cores(3))
    assert next_node(stream) == client.nodes("node0")[0]
    client.match(nodes(1), reserve=True)
    assert next_node(stream) == client.nodes("node1")[0]


def test_another_graph_begins_a_stream_anew(client: Client) -> None:
    stream = client.watch_nodes()
    while not (isinstance(change := next(stream), NodeChange) and change.node.name == "node1"):
        pass
    client.grow(another_node(2, cores=4))
    assert next(stream) == Reset()
    assert [next_node(stream).name for _ in range(3)] == ["node0", "node1", "node2"]


def test_a_stream_of_jobs_goes_on_where_it_was_cut(
    client: Client, connect: Connect, line: Line
) -> None:
    client.match(cores(1), name="known")
    stream = connect(line.address).watch_jobs()
    assert next(stream) == Reset()
    assert next_job(stream).job.name == "known"
    client.match(cores(1), name="sent")
    assert next_job(stream).job.name == "sent"  # so everything before it was sent and received
    line.cut()
    client.match(cores(1), name="missed")
    # Neither what was known before the cut nor everything is sent again.
    received = [next_job(stream).job.name]
    while received[-1] != "missed":
        received.append(next_job(stream).job.name)
    assert set(received) <= {"sent", "missed"}
    assert line.calls == 2


def test_a_stream_of_nodes_goes_on_where_it_was_cut(
    client: Client, connect: Connect, line: Line
) -> None:
    client.load(a_cluster(nodes=3, cores=4))
    stream = connect(line.address).watch_nodes()
    assert next(stream) == Reset()
    assert [next_node(stream).name for _ in range(3)] == ["node0", "node1", "node2"]
    client.match(nodes(1))
    assert next_node(stream).name == "node0"
    line.cut()
    client.match(nodes(1))
    received = [next_node(stream).name]
    while received[-1] != "node1":
        received.append(next_node(stream).name)
    assert set(received) <= {"node0", "node1"}


def test_a_stream_can_be_left_and_taken_up_by_another_client(
    client: Client, connect: Connect, serve: Serve
) -> None:
    first = client.watch_jobs()
    assert next(first) == Reset()
    client.match(cores(1), name="sent")
    resume = next_job(first).resume
    client.match(cores(1), name="missed")
    second = connect(serve.address).watch_jobs(resume=resume)
    names = {next_job(second).job.name, next_job(second).job.name}
    assert names == {"sent", "missed"}


def test_a_stream_begins_anew_after_the_server_was_restarted(
    client: Client, connect: Connect, serve: Serve
) -> None:
    client.match(cores(1), name="lost")
    jobs, nodes_ = client.watch_jobs(), client.watch_nodes()
    assert [type(next(jobs)), type(next(jobs))] == [Reset, JobChange]
    assert [type(next(nodes_)) for _ in range(3)] == [Reset, NodeChange, NodeChange]
    serve.stop()
    serve.start()
    assert next(jobs) == Reset()
    fresh = connect(serve.address)
    fresh.load(a_cluster(nodes=1, cores=4))
    fresh.match(cores(1), name="new")
    found = [next(jobs) for _ in range(2)]
    assert [type(each) for each in found] == [Reset, JobChange]
    assert isinstance(found[1], JobChange)
    assert found[1].job.name == "new"
    found_nodes = next(nodes_), next_node(nodes_)
    assert found_nodes[0] == Reset()
    assert found_nodes[1].name == "node0"


def test_what_survived_a_restart_is_reported_anew(
    dsn: str, tmp_path: Path, connect: Connect
) -> None:
    with Serve(tmp_path, "--dsn", dsn) as serve:
        client = connect(serve.address)
        client.load(a_cluster(nodes=1, cores=4))
        client.match(cores(1), name="kept")
        stream = client.watch_jobs()
        assert [type(next(stream)), next_job(stream).job.name] == [Reset, "kept"]
        serve.stop()
        serve.start()
        assert [type(next(stream)), next_job(stream).job.name] == [Reset, "kept"]


def test_jobs_of_other_queues_are_left_out(client: Client) -> None:
    client.match(cores(1))
    stream = client.watch_jobs(queue="missing")
    assert next(stream) == Reset()
    client.match(cores(1))
    client.load(a_cluster(nodes=1, cores=1))
    assert next(stream) == Reset()


def test_a_stream_that_is_refused_says_so(tmp_path: Path, connect: Connect) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("alice 0123456789abcdef\n")
    tokens.chmod(0o600)
    with Serve(tmp_path, "--token-file", tokens) as serve, pytest.raises(Denied):
        next(connect(serve.address).watch_jobs())


def test_a_stream_that_is_left_is_given_up_at_the_server(
    client: Client, connect: Connect, line: Line
) -> None:
    """A client can leave many streams without running out of them."""
    far = connect(line.address)
    for _ in range(200):
        stream = far.watch_jobs()
        assert next(stream) == Reset()
        stream.close()
    assert line.calls == 1


def test_closing_a_client_ends_its_streams(client: Client) -> None:
    received: list[object] = []
    began = threading.Event()

    def listen() -> None:
        for change in client.watch_jobs():
            received.append(change)
            began.set()

    listener = threading.Thread(target=listen)
    listener.start()
    assert began.wait(10)
    client.close()
    listener.join(10)
    assert not listener.is_alive()
    assert received == [Reset()]
