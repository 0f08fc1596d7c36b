"""One leads at a time, whatever happens to it, and another takes over when it is gone."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fluxnetes.controller.leadership.election import (
    NAME,
    LeaderElection,
    LeadershipLost,
    LeaseTiming,
)
from fluxnetes.kube.auth.access import ApiAccess
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.objects.leases import LEASES
from fluxnetes.kube.patches import merge
from fluxnetes.plane.components import API_SERVER
from fluxnetes.plane.plane import ControlPlane
from tests.integration.conftest import Restart
from tests.integration.controller.counting import beside, until

QUICK = LeaseTiming(duration=1.0, deadline=0.7, retry=0.1, skew=0.1)
STEADY = LeaseTiming(duration=2.0, deadline=1.5, retry=0.1, skew=0.1)
PATIENT = LeaseTiming(duration=8.0, deadline=7.0, retry=0.1, skew=0.1)


def a_leader(
    client: KubeClient, namespace: str, name: str = "a", timing: LeaseTiming = QUICK
) -> LeaderElection:
    return LeaderElection(client, name, namespace, timing=timing)


async def test_the_first_wins_and_says_so_in_the_lease(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        leader = a_leader(client, namespace)
        assert not leader.is_sure()
        await leader.win()
        assert leader.is_sure()
        lease = (await client.get(LEASES, NAME, namespace)).spec
    assert lease.holder_identity == leader.holder == "a"
    assert lease.lease_duration_seconds == 1
    assert lease.renew_time == lease.acquire_time != ""


async def test_of_many_candidates_one_wins(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        candidates = [a_leader(client, namespace, f"c{n}", PATIENT) for n in range(8)]
        tasks = [asyncio.create_task(each.win()) for each in candidates]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0.3)
        [winner] = [each for each in candidates if each.is_sure()]
        for task in tasks:
            task.cancel()
        assert (await client.get(LEASES, NAME, namespace)).spec.holder_identity == winner.identity


async def test_who_renews_keeps_it_beyond_its_duration(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        first = a_leader(client, namespace, "a", STEADY)
        second = a_leader(client, namespace, "b", STEADY)
        await first.win()
        async with beside(first.keep()), beside(second.win()) as waiting:
            for _ in range(25):
                await asyncio.sleep(0.1)
                assert first.is_sure()
                assert not second.is_sure()
            assert not waiting.done()


async def test_who_does_not_renew_loses_it_and_is_never_sure_beside_another(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        paused, second = a_leader(client, namespace), a_leader(client, namespace, "b")
        await paused.win()
        async with beside(second.win()) as winning:
            while not winning.done():
                assert not (paused.is_sure() and second.is_sure())
                await asyncio.sleep(0.01)
        assert second.is_sure()
        lease = (await client.get(LEASES, NAME, namespace)).spec
        assert lease.holder_identity == "b"
        assert lease.lease_transitions == 2
        with pytest.raises(LeadershipLost, match="'b' leads"):  # it wakes, and finds out
            await asyncio.wait_for(paused.keep(), 10)
        assert paused.lost.is_set()


async def test_a_pause_that_no_other_noticed_costs_nothing(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        leader = a_leader(client, namespace)
        await leader.win()
        await asyncio.sleep(QUICK.duration + 0.2)
        assert not leader.is_sure()
        async with beside(leader.keep()):
            await until(leader.is_sure)


async def test_a_clock_that_is_wrong_is_not_believed(access: ApiAccess, namespace: str) -> None:
    """The time in the lease may be hours old: only whether it changes counts."""
    async with KubeClient(access) as client:
        first, second = a_leader(client, namespace), a_leader(client, namespace, "b")
        await first.win()
        old = merge({"spec": {"renewTime": "2020-01-01T00:00:00.000000Z"}})
        await client.patch(LEASES, NAME, old, namespace)
        began = time.monotonic()
        await second.win()
        assert time.monotonic() - began > QUICK.duration


async def test_release_lets_the_next_one_in_at_once(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        first = a_leader(client, namespace, "a", PATIENT)
        second = a_leader(client, namespace, "b", PATIENT)
        await first.win()
        async with beside(second.win()) as winning:
            await asyncio.sleep(0.2)
            await first.release()
            assert not first.is_sure()
            async with asyncio.timeout(2):
                await winning
        assert second.is_sure()


async def test_to_release_what_another_has_takes_nothing_away(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        first, second = a_leader(client, namespace), a_leader(client, namespace, "b")
        await first.win()
        await second.win()
        await first.release()
        assert (await client.get(LEASES, NAME, namespace)).spec.holder_identity == "b"


async def test_a_restart_under_the_same_name_leads_at_once(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        await a_leader(client, namespace, "a", PATIENT).win()
        async with asyncio.timeout(2):
            await a_leader(client, namespace, "a", PATIENT).win()


async def test_a_lease_that_is_edited_or_deleted_is_kept(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        leader = a_leader(client, namespace, timing=PATIENT)
        await leader.win()
        async with beside(leader.keep()) as keeping:
            note = merge({"metadata": {"annotations": {"seen": "yes"}}})
            before = (await client.patch(LEASES, NAME, note, namespace)).spec.renew_time

            async def is_renewed() -> bool:
                return (await client.get(LEASES, NAME, namespace)).spec.renew_time != before

            await until(is_renewed)
            await client.delete(LEASES, NAME, namespace)
            await asyncio.sleep(0.5)
            assert (await client.get(LEASES, NAME, namespace)).spec.holder_identity == "a"
            assert not keeping.done()


async def test_a_server_that_is_away_for_a_moment_is_waited_for(
    access: ApiAccess, namespace: str, restart: Restart
) -> None:
    timing = LeaseTiming(duration=60.0, deadline=50.0, retry=0.1, skew=1.0)
    async with KubeClient(access) as client:
        leader = a_leader(client, namespace, timing=timing)
        await leader.win()
        before = (await client.get(LEASES, NAME, namespace)).spec.renew_time
        async with beside(leader.keep()) as keeping:
            await restart()

            async def is_renewed() -> bool:
                return (await client.get(LEASES, NAME, namespace)).spec.renew_time > before

            await until(is_renewed)
            assert leader.is_sure()
            assert not keeping.done()


async def test_a_server_that_hangs_too_long_ends_it_in_time(
    access: ApiAccess, namespace: str, plane: ControlPlane
) -> None:
    async with KubeClient(access) as client:
        timing = LeaseTiming(duration=3.0, deadline=0.7, retry=0.1, skew=0.1)
        leader = a_leader(client, namespace, timing=timing)
        await leader.win()
        won = time.monotonic()
        with hanging(plane):
            with pytest.raises(LeadershipLost, match=r"could not renew"):
                await asyncio.wait_for(leader.keep(), 10)
            assert time.monotonic() - won < timing.duration - timing.skew
            assert leader.lost.is_set()
            assert not leader.is_sure()


@contextmanager
def hanging(plane: ControlPlane) -> Iterator[None]:
    """The API server takes connections and never answers."""
    process = plane.processes[API_SERVER].pid
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def test_a_candidate_needs_a_name(access: ApiAccess) -> None:
    with pytest.raises(ValueError, match="identity"):
        LeaderElection(KubeClient(access), "", "default")
