"""Reports to users, on a real API server: that they come, and how little they cost."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from fluxnetes.common.backoff import RetryTiming
from fluxnetes.controller.reporting.conditions import ConditionLimits
from fluxnetes.controller.reporting.events import EventLimits, EventRecorder, about
from fluxnetes.controller.reporting.reports import Reports, report_to
from fluxnetes.controller.reporting.throttle import WriteThrottle
from fluxnetes.kube.auth.access import ApiAccess
from fluxnetes.kube.client import KubeClient, Scope
from fluxnetes.kube.objects.events import EVENTS, Event, Reference
from fluxnetes.kube.objects.fluxjobs import FLUX_JOBS, Wrapped
from fluxnetes.kube.objects.nodes import NODES
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.queue.states import JobState
from tests.integration.conftest import Restart
from tests.integration.controller.counting import CountingClient, beside, until
from tests.integration.controller.views import a_view
from tests.integration.kube.test_client import a_pod

QUICK = RetryTiming(initial_delay=0.02, max_delay=0.1)
BRISK = ConditionLimits(after=0.1, again=0.5, a_second=1000.0, of_a_group=3)


def a_recorder(
    client: KubeClient, throttle: WriteThrottle | None = None, **limits: Any
) -> EventRecorder:
    return EventRecorder(
        client, throttle or WriteThrottle(), "host-1", EventLimits(**limits), QUICK
    )


def a_reference(namespace: str, name: str = "a") -> Reference:
    return Reference("v1", "Pod", name, f"uid-of-{name}", namespace)


async def events(client: KubeClient, namespace: str) -> list[Event]:
    return (await client.list(EVENTS, Scope(namespace))).items


async def notes(client: KubeClient, namespace: str) -> list[str]:
    return sorted(event.note for event in await events(client, namespace))


# --- events ------------------------------------------------------------------------------------


async def test_an_event_is_about_its_pod_and_from_the_scheduler_that_it_asked_for(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        pod = await client.create(PODS, a_pod("a"), namespace)
        recorder = a_recorder(client)
        async with beside(recorder.run()):
            recorder.record(about(PODS, pod), "Scheduled", "on n1", reporter="FluxionScheduler")
            await recorder.drained()
        [event] = await events(client, namespace)
    assert event.regarding == about(PODS, pod)
    assert (event.type, event.reason, event.note) == ("Normal", "Scheduled", "on n1")
    assert event.reporting_controller == "FluxionScheduler"
    assert event.reporting_instance == "host-1"


async def test_an_event_about_a_node_has_a_place_too(access: ApiAccess) -> None:
    async with KubeClient(access) as client:
        node = await client.get(NODES, "node-0")
        recorder = a_recorder(client)
        async with beside(recorder.run()):
            recorder.record(about(NODES, node), "Closed", "it is closed", type="Warning")
            await recorder.drained()
        assert recorder.sent == 1
        assert [e.reason for e in await events(client, "default")].count("Closed") == 1


async def test_the_same_words_are_reported_once(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        recorder = a_recorder(client)
        async with beside(recorder.run()):
            for _ in range(3):
                for name in "ab":
                    recorder.record(a_reference(namespace, name), "FailedScheduling", "busy")
            recorder.record(a_reference(namespace), "FailedScheduling", "down")
            await recorder.drained()
        assert await notes(client, namespace) == ["busy", "busy", "down"]
        assert recorder.folded == 4


async def test_words_that_always_change_are_reported_a_few_times(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        recorder = a_recorder(client, different=3)
        async with beside(recorder.run()):
            for number in range(9):
                recorder.record(a_reference(namespace), "FailedScheduling", f"{number} are free")
            recorder.record(a_reference(namespace), "Scheduled", "on n1")
            await recorder.drained()
        assert await notes(client, namespace) == [*(f"{n} are free" for n in range(3)), "on n1"]


async def test_the_same_words_are_reported_again_after_a_while(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        recorder = a_recorder(client, same_again=0.05)
        async with beside(recorder.run()):
            recorder.record(a_reference(namespace), "FailedScheduling", "busy")
            await asyncio.sleep(0.1)
            recorder.record(a_reference(namespace), "FailedScheduling", "busy")
            await recorder.drained()
        assert await notes(client, namespace) == ["busy", "busy"]


async def test_long_notes_and_names_are_cut(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        recorder = a_recorder(client)
        async with beside(recorder.run()):
            recorder.record(a_reference(namespace, "n" * 253), "Long", "n" * 5000)
            await recorder.drained()
        [event] = await events(client, namespace)
    assert len(event.note) == 1024
    assert event.note.endswith("...")


async def test_when_too_many_wait_the_oldest_go(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        recorder = a_recorder(client, in_line=3)
        for number in range(5):
            recorder.record(a_reference(namespace), "Many", f"{number}")
        async with beside(recorder.run()):
            await recorder.drained()
        assert await notes(client, namespace) == ["2", "3", "4"]
        assert recorder.dropped == 2


async def test_events_give_way_to_binds_but_not_for_ever(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        busy = WriteThrottle(idle=lambda: False, stale=0.5)
        recorder = a_recorder(client, busy)
        async with beside(recorder.run()):
            recorder.record(a_reference(namespace), "Late", "late")
            await asyncio.sleep(0.3)
            assert recorder.sent == 0
            await until(lambda: recorder.sent == 1)


async def test_who_may_not_write_tells_nothing(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        recorder = a_recorder(client, WriteThrottle(may_write=lambda: False, stale=0.0))
        async with beside(recorder.run()):
            recorder.record(a_reference(namespace), "Never", "never")
            await asyncio.sleep(0.2)
        assert await events(client, namespace) == []


async def test_what_the_server_refuses_stops_nothing_else(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        recorder = a_recorder(client, at_once=1)
        async with beside(recorder.run()):
            recorder.record(a_reference("no-such-namespace"), "Lost", "lost")
            recorder.record(a_reference(namespace), "Sent", "sent")
            await recorder.drained()
        assert await notes(client, namespace) == ["sent"]
        assert recorder.dropped == 1


async def test_events_outlive_a_restart_of_the_server(
    access: ApiAccess, namespace: str, restart: Restart
) -> None:
    async with KubeClient(access) as client:
        recorder = a_recorder(client)
        async with beside(recorder.run()):
            restarting = asyncio.ensure_future(restart())
            for number in range(20):
                recorder.record(a_reference(namespace, f"p{number}"), "Reported", f"{number:02}")
                await asyncio.sleep(0.02)
            await restarting
            await recorder.drained()
        assert await notes(client, namespace) == [f"{number:02}" for number in range(20)]
        assert recorder.dropped == 0


async def test_events_for_a_server_that_stays_away_are_given_up(access: ApiAccess) -> None:
    nowhere = replace(access, server="https://127.0.0.1:1")
    async with KubeClient(nowhere) as client:
        recorder = a_recorder(client, give_up=0.2)
        async with beside(recorder.run()):
            recorder.record(a_reference("default"), "Lost", "lost")
            await recorder.drained()
        assert (recorder.sent, recorder.dropped) == (0, 1)


# --- all of it ---------------------------------------------------------------------------------


async def test_drain_writes_what_is_left_while_binds_go_on(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        reports = report_to(client, "host-1", lambda _: None, idle=lambda: False)
        async with beside(reports.run()):
            reports.events.record(a_reference(namespace), "Last", "last")
            reports.fluxjobs.want("Job/a", a_view(namespace, "a"))
            assert await reports.drain(5.0)
        assert await notes(client, namespace) == ["last"]
        [record] = (await client.list(FLUX_JOBS, Scope(namespace))).items
        assert record.status.state == "pending"


async def test_drain_ends_when_its_time_is_over(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        reports: Reports = report_to(client, "host-1", lambda _: None, may_write=lambda: False)
        async with beside(reports.run()):
            reports.events.record(a_reference(namespace), "Last", "last")
            assert not await reports.drain(0.2)


async def test_a_gang_of_20_that_starts_at_once_costs_two_writes_and_an_event_a_pod(
    access: ApiAccess, namespace: str
) -> None:
    async with CountingClient(access) as client:
        reports = report_to(client, "host-1", lambda _: None)
        waits = a_view(namespace, "g", kind=Wrapped.GROUP, size=20)
        nodes = tuple(f"node-{n}" for n in range(20))
        async with beside(reports.run()):
            reports.fluxjobs.want("g", replace(waits, state=JobState.GATHERING))
            reports.fluxjobs.want("g", waits)
            for node in nodes:
                reports.events.record(a_reference(namespace, node), "Scheduled", f"on {node}")
            starts = replace(waits, state=JobState.ALLOCATED, position=None, eta=None, start=100)
            reports.fluxjobs.want("g", replace(starts, nodes=nodes))
            await until(lambda: reports.fluxjobs.is_synced() and reports.events.sent == 20)
        assert client.writes("fluxjobs", namespace) == ["POST", "PATCH status"]
        assert client.writes("events", namespace) == ["POST"] * 20
        record = await client.get(FLUX_JOBS, "g-group", namespace)
        assert record.status.node_list == "node-[0-19]"
