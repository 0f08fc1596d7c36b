"""Controllers that are killed, that wait, and that take over."""

from __future__ import annotations

import time

import grpc
import pytest
from grpc_health.v1 import health_pb2

from fluxnetes.client import Client, JobChange, State, Unavailable
from fluxnetes.client.retrying import Patience
from tests.integration.controller.space import Space
from tests.integration.controller.stage import Stage
from tests.integration.rpc.waiting import until
from tests.integration.rpc_live.leading import ADA, WITHIN, Leading
from tests.integration.rpc_live.looking import CPU, a_borrower, on, pods, until_on, until_over
from tests.integration.rpc_live.test_callers import Shown

SERVING = health_pb2.HealthCheckResponse.SERVING


def is_healthy(address: str) -> bool:
    """As a probe asks, which has no token."""
    with grpc.insecure_channel(address) as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            health_pb2.HealthCheckRequest.SerializeToString,
            health_pb2.HealthCheckResponse.FromString,
        )
        answer = check(health_pb2.HealthCheckRequest(), timeout=10, wait_for_ready=True)
        return bool(answer.status == SERVING)


def test_after_kill_9_allocations_are_there_and_leases_begin_anew(
    leader: Leading, space: Space, stage: Stage
) -> None:
    with Client(leader.address, token=ADA, patience=Patience(40.0)) as client:
        used, unused = client.match(pods(1, 3000)), client.match(pods(1, 2000))
        waits = client.submit(pods(3, CPU - 1), walltime=60)
        space.create(a_borrower("borrower", used, 3000))
        [node] = [share.node for share in used.nodes]
        until_on(client, node, CPU - 5000, 0)
        leader.kill()
        time.sleep(WITHIN)  # longer than the lease
        leader.start()
        leader.until_it_leads()
        again = time.monotonic()
        assert client.job(used.id).nodes == used.nodes
        assert client.job(unused.id).state is State.RUNNING
        assert client.job(waits.id).state is State.PENDING
        until_on(client, node, CPU - 5000, 0)
        assert until_over(client, unused.id).state is State.CANCELLED
        assert time.monotonic() - again > WITHIN / 2
        assert client.job(used.id).state is State.RUNNING
        client.cancel(used.id)
        until_on(client, node, CPU - 3000, 3000)
        space.delete("Pod", "borrower")
        until(lambda: client.job(waits.id).state is State.ALLOCATED)
        client.cancel(waits.id)


def test_one_that_does_not_lead_says_so_and_takes_over_when_the_first_is_killed(
    leader: Leading, stage: Stage
) -> None:
    dialects = ("--serve-dialect", "podspec", "--serve-dialect", "fluxcli")
    with Leading(stage, "second", *dialects) as second:
        assert is_healthy(leader.address) and not is_healthy(second.address)
        with Client(second.address, token=ADA, patience=Patience(0.5)) as client:
            with pytest.raises(Unavailable, match="does not lead") as away:
                client.match(pods(1, 1000))
            assert away.value.code is grpc.StatusCode.UNAVAILABLE
        with Client(leader.address, token=ADA) as client:
            job = client.match(pods(1, 1000))
        leader.kill()
        second.until_it_leads()
        until(lambda: is_healthy(second.address))
        with Client(second.address, token=ADA) as client:
            assert client.job(job.id).nodes == job.nodes
            client.cancel(job.id)
            check_podspec(second, stage)
        leader.start()
        assert not is_healthy(leader.address)
        assert second.stop() == 0
        leader.until_it_leads()
    until(lambda: is_healthy(leader.address))


def check_podspec(second: Leading, stage: Stage) -> None:
    """The other dialect that shares a name, which only one of them can speak at a time."""
    old = Shown("podspec", second.address)
    answer = old("Match", podspec={"id": "a", "cpu": 4}, count=3, jobName="train")
    assert answer.allocated and sum(each.tasks for each in answer.nodelist) == 3
    assert {each.nodeID for each in answer.nodelist} <= set(stage.nodes())
    with pytest.raises(grpc.RpcError, match="needs 3 pods of 16000 cpu; 2 fit now") as busy:
        old("Match", podspec={"id": "b", "cpu": 16}, count=3, reserve=True)
    assert busy.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED  # it is to be retried
    old("Cancel", fluxID=answer.fluxID)
    old.close()


def test_a_watcher_gets_changes_after_a_restart_too(leader: Leading) -> None:
    with Client(leader.address, token=ADA, patience=Patience(40.0)) as client:
        stream = client.watch_jobs()
        next(stream)
        leader.kill()
        leader.start()
        leader.until_it_leads()
        job = client.match(pods(1, 1000))
        seen = next(c for c in stream if isinstance(c, JobChange) and c.job.id == job.id)
        assert seen.job.user == "ada"
        client.cancel(job.id)
        assert on(client, job.nodes[0].node) == (CPU, 0)
