"""Nodes that callers are not given, and nodes that go from under them."""

from __future__ import annotations

import pytest

from fluxnetes.client import Busy, Client, NoFit, State
from fluxnetes.plane.nodes import NODES
from tests.integration.controller.stage import Stage
from tests.integration.rpc.waiting import until
from tests.integration.rpc_live.looking import CPU, check_fits, pods, until_over


def closed_to(client: Client, node: str) -> bool:
    """Whether a match on that node alone finds nothing."""
    [found] = client.nodes(node)
    return not found.up


def test_a_cordoned_node_is_not_given(client: Client, stage: Stage) -> None:
    stage.cordon("node-1")
    until(lambda: closed_to(client, "node-1"))
    job = client.match(pods(2, CPU))
    assert {share.node for share in job.nodes} == {"node-0", "node-2"}
    with pytest.raises(Busy):
        client.match(pods(1, 1))
    stage.uncordon("node-1")
    until(lambda: not closed_to(client, "node-1"))
    assert client.match(pods(1, CPU)).nodes[0].node == "node-1"


def test_a_tainted_node_is_not_given(client: Client, stage: Stage) -> None:
    """The tolerations of a caller's pods are not known."""
    stage.add_node("special", ready=True)
    taint = {"key": "gpu", "value": "only", "effect": "NoSchedule"}
    stage.api.patch(f"{NODES}/special", {"spec": {"taints": [taint]}})
    until(lambda: bool(client.nodes("special")))

    def is_refused() -> bool:
        try:
            job = client.match(pods(4, CPU))
        except NoFit:
            return True
        client.cancel(job.id)
        return False

    until(is_refused)
    job = client.match(pods(3, CPU))
    assert {share.node for share in job.nodes} == {"node-0", "node-1", "node-2"}


def test_a_node_that_comes_is_given(client: Client, stage: Stage) -> None:
    client.match(pods(3, CPU))
    waits = client.submit(pods(1, 1000), walltime=60)
    assert waits.state is State.PENDING
    stage.add_node("fourth")
    until(lambda: client.job(waits.id).state is State.ALLOCATED)
    assert client.job(waits.id).nodes[0].node == "fourth"
    client.cancel(waits.id)


def test_when_a_node_is_deleted_the_jobs_on_it_are_ending(client: Client, stage: Stage) -> None:
    stage.add_node("short-lived")
    until(lambda: bool(client.nodes("short-lived")))
    client.match(pods(3, CPU - 1))
    lost = client.match(pods(2, CPU // 2))
    assert {share.node for share in lost.nodes} == {"short-lived"}
    stage.remove_node("short-lived")
    over = until_over(client, lost.id)
    assert over.state is State.FAILED and over.reason
    until(lambda: not client.nodes("short-lived"))
    check_fits(client.nodes())


def test_what_is_left_of_an_allocation_is_free_when_one_of_its_nodes_is_gone(
    client: Client, stage: Stage
) -> None:
    stage.add_node("short-lived")
    until(lambda: bool(client.nodes("short-lived")))
    lost = client.match(pods(4, CPU))
    stage.remove_node("short-lived")
    assert until_over(client, lost.id).state is State.FAILED
    assert len(client.match(pods(3, CPU)).nodes) == 3
