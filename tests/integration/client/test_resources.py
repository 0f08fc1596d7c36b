"""Every call about resources, by clients that wait and by clients that await."""

from __future__ import annotations

import pytest

from fluxnetes.client import Client, Invalid, NoGraph, Pool
from tests.integration.client.conftest import Connect
from tests.integration.client.jobs import cores, free_cores, nodes
from tests.integration.rpc.graphs import a_cluster, another_node
from tests.integration.rpc.process import Serve


@pytest.fixture
def bare(serve: Serve, connect: Connect) -> Client:
    """A client of a server that was started anew, and has no graph."""
    serve.kill()
    serve.start()
    return connect(serve.address)


def test_a_server_without_a_graph_says_so(bare: Client) -> None:
    status = bare.status()
    assert (status.source, status.vertices, status.nodes, status.totals) == ("none", 0, 0, ())
    for call in (lambda: bare.match(cores(1)), bare.nodes, lambda: bare.grow(a_cluster(1, 1))):
        with pytest.raises(NoGraph, match="Init"):
            call()


def test_the_status_says_what_the_server_is_and_how_it_is(client: Client) -> None:
    client.match(cores(3))
    client.match(nodes(2), reserve=True)
    status = client.status()
    assert (status.source, status.policy, status.dialect) == ("init", "lonode", "jobspec")
    assert (status.queue, status.durable) == (False, False)
    assert (status.vertices, status.nodes, status.nodes_up) == (11, 2, 2)
    assert status.totals == (Pool("core", 8, 5, 0, 0, ""),)
    assert status.jobs == {"running": 1, "reserved": 1}
    assert status.version
    assert status.started > 1_700_000_000


def test_another_graph_is_another_beginning(client: Client) -> None:
    client.match(nodes(2))
    assert client.load(a_cluster(nodes=1, cores=2), policy="first") == 4
    assert (free_cores(client), client.status().jobs) == ({"node0": 2}, {})
    assert client.status().policy == "first"
    assert client.match(cores(1)).id == 1
    client.load(a_cluster(nodes=1, cores=2), policy="lonode")


def test_a_node_says_what_is_free_of_it_and_who_has_the_rest(client: Client) -> None:
    job = client.match(cores(3))
    first, second = client.nodes()
    assert (first.name, first.path, first.up) == ("node0", "/cluster0/node0", True)
    assert first.pools == (Pool("core", total=4, free=1, reserved=0, others=0, unit=""),)
    [share] = first.shares
    assert (share.job, share.amounts, share.reserved) == (job.id, {"core": 3}, False)
    assert second.shares == ()


def test_nodes_are_asked_for_by_name(client: Client) -> None:
    assert [node.name for node in client.nodes("node1", "missing")] == ["node1"]


def test_all_nodes_come_however_many_there_are(client: Client) -> None:
    client.load(a_cluster(nodes=2100, cores=1))
    assert [node.name for node in client.nodes()] == [f"node{n}" for n in range(2100)]


def test_the_graph_grows_and_shrinks(client: Client) -> None:
    assert client.grow(another_node(2, cores=4)) == 16
    assert free_cores(client) == {"node0": 4, "node1": 4, "node2": 4}
    assert client.shrink("/cluster0/node0", "/cluster0/node2") == 6
    assert free_cores(client) == {"node1": 4}


def test_nothing_is_taken_out_if_a_path_leads_nowhere(client: Client) -> None:
    with pytest.raises(Invalid, match="/cluster0/node9") as raised:
        client.shrink("/cluster0/node0", "/cluster0/node9")
    assert raised.value.field == "paths"
    assert len(client.nodes()) == 2
