"""What callers are given and do not use is taken back; pods that use it count once."""

from __future__ import annotations

import time

import pytest

from fluxnetes.client import Client, State, UnknownJob
from tests.integration.controller.objects import a_pod
from tests.integration.controller.space import Space
from tests.integration.rpc.waiting import until
from tests.integration.rpc_live.leading import WITHIN
from tests.integration.rpc_live.looking import (
    CPU,
    a_borrower,
    check_fits,
    on,
    pods,
    until_on,
    until_over,
)


def test_a_job_that_is_neither_renewed_nor_used_expires(client: Client) -> None:
    matched, queued = client.match(pods(1, 2000)), client.submit(pods(1, 2000))
    renewed = client.match(pods(1, 2000))
    expires = client.renew(renewed.id)
    assert expires is not None and WITHIN - 2 <= expires - time.time() <= WITHIN
    ends = time.monotonic() + 1.5 * WITHIN
    while time.monotonic() < ends:
        client.renew(renewed.id)
        time.sleep(0.2)
    for job in (matched, queued):
        over = until_over(client, job.id)
        assert over.state is State.CANCELLED
        assert over.reason == f"neither renewed nor used for {WITHIN} s"
        assert over.ended is not None and over.started is not None
        assert over.ended - over.started >= WITHIN - 1  # in whole seconds
    with pytest.raises(UnknownJob):
        client.renew(matched.id)
    assert client.job(renewed.id).state is State.RUNNING


def test_what_a_pod_uses_stays_for_as_long_as_it_does_and_counts_once(
    client: Client, space: Space
) -> None:
    noted, labelled = client.match(pods(1, 2000)), client.match(pods(1, 2000))
    [node] = {share.node for job in (noted, labelled) for share in job.nodes}
    by_label = a_borrower("labelled", labelled, 2000)
    by_label.content["metadata"].pop("annotations")
    space.create(
        a_borrower("noted", noted, 2000), by_label.labelled({"fluxqueue/jobid": str(labelled.id)})
    )
    ends = time.monotonic() + 1.5 * WITHIN
    while time.monotonic() < ends:  # longer than the lease
        assert client.job(noted.id).state is client.job(labelled.id).state is State.RUNNING
        time.sleep(0.2)
    assert on(client, node) == (CPU - 4000, 0)
    space.delete("Pod", "noted", "labelled")
    for job in (noted, labelled):
        assert until_over(client, job.id).state is State.CANCELLED
    until_on(client, node, CPU, 0)


def test_a_pod_that_kube_scheduler_puts_on_the_share_is_covered_there(
    client: Client, space: Space
) -> None:
    job = client.match(pods(1, 2000))
    [node] = [share.node for share in job.nodes]
    borrower = a_pod("borrower").of_others().with_cpu(2).on(node)
    space.create(borrower.annotated({"fluxnetes.io/allocation": str(job.id)}))
    space.until_bound("borrower")
    until_on(client, node, CPU - 2000, 0)


def test_pods_beyond_the_share_are_others(client: Client, space: Space) -> None:
    job = client.match(pods(2, 1000))
    [node] = [share.node for share in job.nodes]
    space.create(a_borrower(name, job, 1000) for name in ("a", "b", "c"))
    until_on(client, node, CPU - 3000, 1000)
    check_fits(client.nodes())
    space.delete("Pod", "a")  # and the pod that exceeded the share is covered
    until_on(client, node, CPU - 2000, 0)


def test_a_pod_that_names_an_unknown_job_gains_nothing(client: Client, space: Space) -> None:
    job = client.match(pods(1, 1000))
    node = job.nodes[0].node
    client.cancel(job.id)
    space.create(a_borrower("late", job, 1000))
    until_on(client, node, CPU - 1000, 1000)


def test_what_is_cancelled_under_its_pods_is_not_given_away_before_they_are_gone(
    client: Client, space: Space
) -> None:
    """They are foreign usage from then on: a job that waits for the capacity keeps waiting."""
    job = client.match(pods(1, 10_000))
    node = job.nodes[0].node
    space.create(a_borrower("borrower", job, 10_000))
    until_on(client, node, CPU - 10_000, 0)
    waits = [client.submit(pods(1, 10_000), walltime=60) for _ in range(3)]
    client.cancel(job.id)
    check_fits(client.nodes())
    assert on(client, node) == (CPU - 10_000, 10_000)
    states = [client.job(each.id).state for each in waits]
    assert sorted(state.value for state in states) == ["allocated", "allocated", "pending"]
    space.delete("Pod", "borrower")
    until(lambda: all(client.job(each.id).state is State.ALLOCATED for each in waits))
    for each in waits:
        client.cancel(each.id)
