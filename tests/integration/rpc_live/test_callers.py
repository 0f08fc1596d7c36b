"""Which callers are authenticated, what is denied, and what callers are given."""

from __future__ import annotations

import asyncio
from pathlib import Path

import grpc
import pytest

from fluxnetes.client import (
    Busy,
    Client,
    Denied,
    State,
    UnknownJob,
    Unsatisfiable,
    WrongState,
)
from fluxnetes.graph.pools import pool_graph
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.store.database import Database
from fluxnetes.store.embedded.server import EmbeddedServer
from fluxnetes.store.store import Store
from tests.integration.controller.objects import a_pod
from tests.integration.controller.space import Space
from tests.integration.controller.stage import Stage
from tests.integration.rpc.allocations import vertices
from tests.integration.rpc.dialects import OldClient
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.jobspecs import nodes, slots
from tests.integration.rpc.waiting import until
from tests.integration.rpc_live.leading import ADA, BOB, Leading
from tests.integration.rpc_live.looking import CPU, check_fits, on, pods

SHOWN = (("authorization", f"Bearer {ADA}"),)


class Shown(OldClient):
    """An old client behind something that shows a token for it."""

    def send(self, method: str, message: object, timeout: float = 30.0) -> object:
        call = self._calls[method]
        found, done = call.with_call(message, timeout=timeout, metadata=SHOWN)
        self.metadata = {str(key): str(value) for key, value in done.trailing_metadata() or ()}
        return found


def test_a_caller_without_a_token_is_refused(leader: Leading) -> None:
    for token in ("", "0123456789abcdef-eve"):
        with Client(leader.address, token=token) as unknown:
            with pytest.raises(Denied, match="a token is needed") as refused:
                unknown.match(pods(1, 1000))
            assert refused.value.code is grpc.StatusCode.UNAUTHENTICATED
            with pytest.raises(Denied):
                next(unknown.watch_nodes())
    old = OldClient("fluxcli", leader.address)
    with pytest.raises(grpc.RpcError) as refused_too:
        old("Match", ps={"id": "a", "cpu": 1}, count=1)
    assert refused_too.value.code() is grpc.StatusCode.UNAUTHENTICATED
    old.close()


def test_the_cluster_is_what_callers_see(client: Client, stage: Stage) -> None:
    status = client.status()
    assert (status.source, status.queue, status.durable) == ("live", True, True)
    assert {node.name for node in client.nodes()} == set(stage.nodes())
    assert all(on(client, name) == (CPU, 0) for name in stage.nodes())


def test_the_user_of_a_job_is_the_caller_of_its_token(client: Client, leader: Leading) -> None:
    assert client.match(pods(1, 1000)).user == "ada"
    with Client(leader.address, token=BOB) as bob:
        with pytest.raises(Denied, match="the name of ada"):
            bob.submit(pods(1, 1000), user="ada")
        job = bob.submit(pods(1, 1000), walltime=60)
        assert (job.user, bob.job(job.id).user) == ("bob", "bob")
        bob.cancel(job.id)


def test_the_graph_is_the_clusters_and_cannot_be_changed(client: Client, leader: Leading) -> None:
    with pytest.raises(Denied, match="add or remove nodes there"):
        client.load(a_cluster(1, 1))
    with pytest.raises(Denied, match="add or remove nodes there"):
        client.grow("{}")
    with pytest.raises(Denied, match="add or remove nodes there"):
        client.shrink("/cluster0/zone-0/node-0")
    old = Shown("jobspec", leader.address)
    assert old("Init", jgf=a_cluster(1, 1)).status == 2
    assert "INIT_DENIED" in str(old("Init", jgf=a_cluster(1, 1)))
    assert old.metadata["fluxnetes-outcome"] == "denied"
    for method in ("Grow", "Shrink"):
        with pytest.raises(grpc.RpcError) as refused:
            old(method)
        assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
    assert client.status().nodes == 3
    old.close()


def test_a_match_is_given_nodes_until_there_are_none(client: Client) -> None:
    given = [client.match(pods(2, 8000)) for _ in range(3)]
    assert sorted(job.nodes[0].node for job in given) == ["node-0", "node-1", "node-2"]
    assert all([share.tasks for share in job.nodes] == [2] for job in given)
    with pytest.raises(Busy):
        client.match(pods(1, 1))
    with pytest.raises(Unsatisfiable):
        client.match(pods(1, CPU + 1))
    check_fits(client.nodes())
    client.cancel(given[0].id)
    assert client.match(pods(1, CPU)).nodes[0].node == given[0].nodes[0].node


def test_a_job_that_is_queued_behind_pods_starts_when_they_are_gone(
    client: Client, space: Space
) -> None:
    space.create(a_pod("big").with_cpu(16).times(3))
    space.until_bound("big-0", "big-1", "big-2")
    job = client.submit(pods(2, 9000), walltime=60)
    assert job.state is State.PENDING and client.explain(job.id).reason
    space.delete("Pod", "big-0", "big-1")
    until(lambda: client.job(job.id).state is State.ALLOCATED)
    client.finish(job.id)


def test_what_kubernetes_has_is_not_for_callers_to_change(
    client: Client, space: Space, leader: Leading
) -> None:
    """Only an administrator sees it."""
    space.create(a_pod("mine").with_cpu(1))
    space.until_bound("mine")
    [share] = [share for node in client.nodes() for share in node.shares]
    with Client(leader.address, token=BOB) as bob:
        assert not [share for node in bob.nodes() for share in node.shares]
        with pytest.raises(UnknownJob):
            bob.job(share.job)
    with pytest.raises(WrongState, match="change that instead"):
        client.cancel(share.job)
    assert space.node_of("mine")


# -- old dialects --------------------------------------------------------------------------------


def test_fluences_client_is_given_nodes_by_the_names_that_kubernetes_knows(
    leader: Leading, client: Client, stage: Stage
) -> None:
    old = Shown("fluxcli", leader.address)
    answer = old("Match", ps={"id": "a", "cpu": 2, "memory": 1 << 30}, count=10)
    assert sum(each.tasks for each in answer.nodelist) == 10
    assert {each.nodeID for each in answer.nodelist} <= set(stage.nodes())
    job = client.job(answer.jobID)
    amounts = [share.amounts for share in job.nodes]
    assert sum(each["cpu"] for each in amounts) == 20_000
    assert sum(each["memory"] for each in amounts) == 10_240
    old("Cancel", jobID=answer.jobID)
    old.close()


def test_an_allocation_names_nodes_as_every_old_parser_looks_for_them(
    leader: Leading, client: Client, stage: Stage
) -> None:
    """The sidecars take a node's name, Fluxqueue its basename."""
    old = Shown("jobspec", leader.address)
    for asked in (slots(3, 2), nodes(2, 4)):
        answer = old("Match", jobspec=asked)
        found = [each for each in vertices(answer.allocation) if each["type"] == "node"]
        assert {each["name"] for each in found} <= set(stage.nodes())
        assert all(each["basename"] == each["name"] for each in found)
        given = {share.node for share in client.job(answer.jobid).nodes}
        assert {each["name"] for each in found} == given
        old("Cancel", jobID=answer.jobid)
    old.close()


# -- options -------------------------------------------------------------------------------------


def test_a_port_that_is_taken_is_refused_without_ado(stage: Stage, leader: Leading) -> None:
    other = Leading(stage, "other")
    other.address = leader.address
    assert "cannot listen" in other.fail()


def test_tokens_that_every_user_can_read_are_refused(
    stage: Stage, leader: Leading, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ada {ADA}\n")
    tokens.chmod(0o644)
    said = Leading(stage, "other", "--serve-tokens", str(tokens)).fail()
    assert "--serve" in said and "chmod o=" in said


def test_the_store_of_a_standalone_queue_is_refused(stage: Stage, leader: Leading) -> None:
    folder = stage.folder / "of-a-service"
    asyncio.run(_serve_once(folder))
    said = Leading(stage, "other", "--store-folder", str(folder)).fail()
    assert "is that of `fluxnetes serve`" in said


async def _serve_once(folder: Path) -> None:
    """Keep a queue in a folder, as `fluxnetes serve --queue` does."""
    store = Store(Database(server=EmbeddedServer(folder)))
    try:
        await store.open()
        lease = await store.take("service")
        assert lease is not None
        await store.keep_system(pool_graph({"n1": {"core": 4}}), SchedulerConfig(), lease.fence)
        await store.release(lease)
    finally:
        await store.close()
