"""What is asked again when an answer is lost, and what is not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest

from fluxnetes.client import Client, Patience, Unavailable, UnknownJob
from fluxnetes.client.retrying import SAFE
from fluxnetes.v1 import jobs_pb2, resources_pb2
from tests.integration.client.conftest import Connect
from tests.integration.client.jobs import cores
from tests.integration.client.line import Line
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.process import Serve

PATIENCE = Patience(timeout=20.0)


class Under:
    """A call that is under way."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found = self._call()
        except Exception as error:
            self._error = error

    @property
    def is_waiting(self) -> bool:
        return self._thread.is_alive()

    def result(self) -> Any:
        self._thread.join(30)
        assert not self._thread.is_alive()
        if self._error is not None:
            raise self._error
        return self._found


@pytest.fixture
def line(serve: Serve) -> Iterator[Line]:
    with Line(serve.address) as line:
        yield line


@pytest.fixture
def far(client: Client, line: Line, connect: Connect) -> Client:
    """A client at the end of the line, which is up; `client` is beside it, at the server."""
    far = connect(line.address, patience=PATIENCE)
    assert far.status().nodes == client.status().nodes
    return far


def until_running(client: Client, jobs: int) -> None:
    """Until the server has so many jobs."""
    for _ in client.watch_jobs():
        if client.status().jobs.get("running", 0) == jobs:
            return


def lost(line: Line, call: Callable[[], Any], meanwhile: Callable[[], Any]) -> Under:
    """A call that was done, and whose answer never came: the line was cut before."""
    line.is_deaf = True
    under = Under(call)
    meanwhile()
    line.is_deaf = False
    line.cut()
    return under


def test_a_match_whose_answer_was_lost_is_done_once(
    client: Client, far: Client, line: Line
) -> None:
    under = lost(line, lambda: far.match(cores(1)), lambda: until_running(client, 1))
    assert under.result().id == 1
    assert client.status().jobs == {"running": 1}


def test_a_match_is_done_once_though_the_server_was_killed_before_it_answered(
    dsn: str, tmp_path: Path, connect: Connect
) -> None:
    with Serve(tmp_path, "--dsn", dsn) as serve, Line(serve.address) as line:
        near, far = connect(serve.address, patience=PATIENCE), connect(line.address)
        near.load(a_cluster(nodes=2, cores=4))
        far.status()

        def kill() -> None:
            until_running(near, 1)
            serve.kill()

        under = lost(line, lambda: far.match(cores(3), name="once"), kill)
        serve.start()
        job = under.result()
        assert (job.id, job.name, job.nodes[0].amounts) == (1, "once", {"core": 3})
        assert near.status().jobs == {"running": 1}


def test_an_update_whose_answer_was_lost_is_not_made_again(
    client: Client, far: Client, line: Line
) -> None:
    made = client.match(cores(1), format="jgf")
    client.cancel(made.id)
    under = lost(
        line,
        lambda: far.update(5, made.allocation, at=0, duration=60),
        lambda: until_running(client, 1),
    )
    with pytest.raises(Unavailable):
        under.result()
    assert client.job(5).id == 5


@pytest.mark.parametrize("missing_ok", [True, False])
def test_a_cancel_is_made_again_unless_it_must_find_its_job(
    client: Client, far: Client, line: Line, missing_ok: bool
) -> None:
    job = client.match(cores(1)).id
    under = lost(
        line,
        lambda: far.cancel(job, missing_ok=missing_ok),
        lambda: until_running(client, 0),
    )
    if missing_ok:
        under.result()
    else:
        with pytest.raises(Unavailable):
            under.result()
    with pytest.raises(UnknownJob):
        client.cancel(job, missing_ok=False)


def test_a_question_waits_for_a_server_that_comes_back(
    far: Client, line: Line, serve: Serve
) -> None:
    serve.kill()
    before = line.calls
    under = Under(far.status)
    while line.calls == before:  # it called, and found no server
        assert under.is_waiting
    serve.start()
    assert under.result().source == "none"


class Stopping(grpc.GenericRpcHandler):
    """Cancels its first call, as a server does that stops while a call is under way."""

    def __init__(self) -> None:
        self.calls = 0

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes]:
        return grpc.unary_unary_rpc_method_handler(self._answer)

    def _answer(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        self.calls += 1
        if self.calls == 1:
            context.abort(grpc.StatusCode.CANCELLED, "")
        return b""


@pytest.fixture
def stopping() -> Iterator[tuple[Stopping, str]]:
    handler = Stopping()
    server = grpc.server(ThreadPoolExecutor(1), handlers=[handler])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield handler, f"127.0.0.1:{port}"
    server.stop(0)


def test_a_call_that_a_stopping_server_cancelled_is_made_again_if_that_is_safe(
    connect: Connect, stopping: tuple[Stopping, str]
) -> None:
    handler, address = stopping
    client = connect(address, patience=PATIENCE)
    assert client.status().nodes == 0
    assert handler.calls == 2
    handler.calls = 0
    with pytest.raises(Unavailable):
        client.start(1)
    assert handler.calls == 1


def test_what_is_asked_again_is_what_can_be_asked_twice() -> None:
    services = (jobs_pb2.DESCRIPTOR, resources_pb2.DESCRIPTOR)
    methods = [m for each in services for s in each.services_by_name.values() for m in s.methods]
    found = {m.name for m in methods if not m.server_streaming}
    assert found - SAFE == {"Update", "Start", "Finish", "Load", "Grow", "Shrink"}
    assert found > SAFE
