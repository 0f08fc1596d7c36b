"""FluxJobs on a real API server: they say what is wanted, and cost few writes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from fluxnetes.common.backoff import RetryTiming
from fluxnetes.controller.leadership.crd import install_crd, manifest
from fluxnetes.controller.reporting.fluxjob_sync import FluxJobSync, FluxJobSyncTiming
from fluxnetes.controller.reporting.fluxjob_view import FluxJobView
from fluxnetes.controller.reporting.throttle import WriteThrottle
from fluxnetes.kube.auth.access import ApiAccess
from fluxnetes.kube.client import KubeClient, Scope
from fluxnetes.kube.objects.base import Owner
from fluxnetes.kube.objects.definitions import DEFINITIONS
from fluxnetes.kube.objects.fluxjobs import FLUX_JOBS, FluxJob, Wrapped
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.kube.patches import merge
from fluxnetes.queue.states import JobState
from tests.integration.conftest import Restart
from tests.integration.controller.counting import CountingClient, beside, until
from tests.integration.controller.views import a_view
from tests.integration.kube.test_client import a_pod

PACE = FluxJobSyncTiming(settle=0.1, forecast=60.0, restore=0.3, refused=0.3, sweep=0.05)
CREATED = ["POST", "PATCH status"]


@dataclass
class RunningSync:
    """A running FluxJobSync, and the requests that it costs."""

    client: CountingClient
    records: FluxJobSync
    namespace: str

    async def level(self) -> None:
        await until(self.records.is_synced)

    def say(self, key: str, view: FluxJobView) -> None:
        self.records.want(f"{self.namespace} {key}", view)

    def forget(self, key: str) -> None:
        self.records.forget(f"{self.namespace} {key}")

    async def want(self, key: str, view: FluxJobView) -> None:
        self.say(key, view)
        await self.level()

    async def read(self, name: str) -> FluxJob:
        return await self.client.get(FLUX_JOBS, name, self.namespace)

    async def names(self) -> list[str]:
        found = await self.client.list(FLUX_JOBS, Scope(self.namespace))
        return sorted(record.metadata.name for record in found.items)

    @property
    def writes(self) -> list[str]:
        return self.client.writes("fluxjobs", self.namespace)


@asynccontextmanager
async def at_work(access: ApiAccess, namespace: str, **options: Any) -> AsyncIterator[RunningSync]:
    timing = RetryTiming(initial_delay=0.02, max_delay=0.1)
    async with CountingClient(access) as client:
        given = {"pace": PACE, "timing": timing, **options}
        records = FluxJobSync(client, WriteThrottle(), **given)
        async with beside(records.run()):
            yield RunningSync(client, records, namespace)


def ended(view: FluxJobView, at: float | None = None) -> FluxJobView:
    end = int(at or time.time())
    done = replace(view, state=JobState.COMPLETED, reason="", position=None, eta=None)
    return replace(done, start=end - 60, end=end)


# --- what they say -----------------------------------------------------------------------------


async def test_a_record_says_what_was_asked_and_what_became_of_it(
    access: ApiAccess, namespace: str
) -> None:
    async with at_work(access, namespace) as shared:
        await shared.want("a", a_view(namespace, "train"))
        record = await shared.read("train-job")
    assert (record.spec.type, record.spec.name) == (Wrapped.JOB, "train")
    assert (record.spec.nodes, record.spec.duration) == (2, 600)
    status = record.status
    assert (status.submit_status, status.state) == ("statusSubmit", "pending")
    assert status.reason == status.columns.reason == "all nodes are busy"
    assert (status.queue, status.position, status.job_id) == ("default", 3, 7)
    assert status.eta is not None and status.eta.timestamp() == 2_000_000_000
    assert {c.type: c.status for c in status.conditions} == {
        "Scheduled": "False",
        "Complete": "False",
        "Failed": "False",
    }


async def test_what_is_no_longer_true_is_taken_back(access: ApiAccess, namespace: str) -> None:
    async with at_work(access, namespace) as shared:
        waits = a_view(namespace, "a")
        await shared.want("a", waits)
        runs = replace(waits, state=JobState.RUNNING, reason="", position=None, eta=None)
        await shared.want("a", replace(runs, start=100, nodes=("n1", "n1", "n2")))
        running = (await shared.read("a-job")).status
        await shared.want("a", replace(waits, walltime=None))
        again = (await shared.read("a-job")).status
    assert (running.position, running.eta, running.reason) == (None, None, "")
    assert (running.nodes, running.node_list) == (("n1", "n2"), "n[1-2]")
    assert (again.nodes, again.start, again.columns.nodes) == ((), None, "")
    assert again.walltime is None


async def test_the_time_of_a_condition_is_that_of_its_change(
    access: ApiAccess, namespace: str
) -> None:
    clock = [1000.0]
    async with at_work(access, namespace, clock=lambda: clock[0]) as shared:
        waits = a_view(namespace, "a")
        await shared.want("a", waits)
        clock[0] = 2000.0
        await shared.want("a", replace(waits, state=JobState.RUNNING, start=2000))
        conditions = (await shared.read("a-job")).status.conditions
    times = {c.type: c.last_transition_time for c in conditions}
    assert [moment.timestamp() for moment in times.values() if moment] == [2000, 1000, 1000]


async def test_a_record_belongs_to_its_workload_and_never_holds_it_up(
    access: ApiAccess, namespace: str
) -> None:
    async with at_work(access, namespace) as shared:
        pod = await shared.client.create(PODS, a_pod("a"), namespace)
        owner = Owner("v1", "Pod", "a", pod.metadata.uid)
        await shared.want("a", a_view(namespace, "a", kind=Wrapped.POD, owner=owner))
        [found] = (await shared.read("a-pod")).metadata.owner_references
    assert found == owner
    [content] = [r.body for r in shared.client.transport.writes if r.path.endswith("/fluxjobs")]
    assert content is not None and b'"blockOwnerDeletion":false' in content


# --- what they cost ----------------------------------------------------------------------------


async def test_what_comes_together_is_written_once(access: ApiAccess, namespace: str) -> None:
    async with at_work(access, namespace) as shared:
        for position in range(10):
            shared.say("a", a_view(namespace, "a", position=position))
        await shared.level()
        assert shared.writes == CREATED
        for _ in range(3):
            await shared.want("a", a_view(namespace, "a", position=9))
        assert shared.writes == CREATED
        assert (await shared.read("a-job")).status.position == 9


async def test_a_forecast_waits_and_a_state_does_not(access: ApiAccess, namespace: str) -> None:
    async with at_work(access, namespace) as shared:
        waits = a_view(namespace, "a", position=300)
        await shared.want("a", waits)
        for position in (201, 200):
            shared.say("a", replace(waits, position=position, reason=f"{position} ahead"))
            await asyncio.sleep(0.15)
        assert shared.writes == CREATED
        shared.say("a", replace(waits, state=JobState.HELD))

        async def is_held() -> bool:
            return (await shared.read("a-job")).status.state == "held"

        await until(is_held)


async def test_a_forecast_comes_in_the_end(access: ApiAccess, namespace: str) -> None:
    async with at_work(access, namespace, pace=replace(PACE, forecast=0.3)) as shared:
        waits = a_view(namespace, "a")
        await shared.want("a", waits)
        await shared.want("a", replace(waits, position=1))
        assert len(shared.writes) == 3
        assert (await shared.read("a-job")).status.position == 1


async def test_a_forecast_of_the_first_in_line_is_written_within_two_seconds(
    access: ApiAccess, namespace: str
) -> None:
    async with at_work(access, namespace) as shared:
        for number in range(100):
            shared.say(f"{number}", a_view(namespace, f"a{number}", position=number + 2))
        await shared.level()
        for number in range(100):
            shared.say(f"{number}", a_view(namespace, f"a{number}", position=number + 1))
        began = time.monotonic()
        await shared.level()
        assert time.monotonic() - began < 10.0, "the usual forecast of this test takes a minute"
        assert (await shared.read("a99-job")).status.position == 100


async def test_after_a_restart_nothing_is_written_twice(access: ApiAccess, namespace: str) -> None:
    views = [a_view(namespace, "a"), ended(a_view(namespace, "b"))]
    for writes in (2 * CREATED, []):
        async with at_work(access, namespace) as shared:
            for view in views:
                shared.say(view.name, view)
            shared.records.settle()
            await shared.level()
            await asyncio.sleep(0.2)
            assert sorted(shared.writes) == sorted(writes)


async def test_records_outlive_a_restart_of_the_server(
    access: ApiAccess, namespace: str, restart: Restart
) -> None:
    async with at_work(access, namespace) as shared:
        await shared.want("a", a_view(namespace, "a"))
        restarting = asyncio.ensure_future(restart())
        shared.say("a", a_view(namespace, "a", state=JobState.HELD))
        shared.say("b", a_view(namespace, "b"))
        await restarting
        await shared.level()
        assert (await shared.read("a-job")).status.state == "held"
        assert (await shared.read("b-job")).status.state == "pending"


# --- when they go ------------------------------------------------------------------------------


async def test_a_record_is_kept_for_a_while_after_the_end(
    access: ApiAccess, namespace: str
) -> None:
    clock = [time.time()]
    async with at_work(access, namespace, clock=lambda: clock[0], keep=100.0) as shared:
        view = ended(a_view(namespace, "a"), clock[0])
        await shared.want("a", view)
        shared.forget("a")
        shared.records.settle()
        clock[0] += 90
        await asyncio.sleep(0.2)
        assert await shared.names() == ["a-job"]
        clock[0] += 20
        await until(lambda: shared.writes[-1] == "DELETE")
        await shared.level()
        await shared.want("a", view)
        assert await shared.names() == []


async def test_an_ended_record_goes_in_time_even_if_it_is_still_wanted(
    access: ApiAccess, namespace: str
) -> None:
    clock = [time.time()]
    async with at_work(access, namespace, clock=lambda: clock[0], keep=100.0) as shared:
        await shared.want("a", ended(a_view(namespace, "a"), clock[0]))
        clock[0] += 110
        await until(lambda: shared.writes[-1] == "DELETE")


async def test_the_end_is_reported_even_if_it_is_forgotten_in_the_same_moment(
    access: ApiAccess, namespace: str
) -> None:
    async with at_work(access, namespace) as shared:
        await shared.want("a", a_view(namespace, "a"))
        shared.say("a", ended(a_view(namespace, "a")))
        shared.forget("a")
        await shared.level()
        assert (await shared.read("a-job")).status.state == "completed"


async def test_what_is_forgotten_before_its_end_goes_at_once(
    access: ApiAccess, namespace: str
) -> None:
    async with at_work(access, namespace) as shared:
        await shared.want("a", a_view(namespace, "a"))
        shared.forget("a")
        await shared.level()
        assert await shared.names() == []


async def test_orphans_go_and_only_they(access: ApiAccess, namespace: str) -> None:
    """The controller was away while one of its workloads went."""
    async with at_work(access, namespace) as shared:
        for name in ("gone", "here"):
            shared.say(name, a_view(namespace, name))
        await shared.want("over", ended(a_view(namespace, "over")))
        await shared.client.create(FLUX_JOBS, {"metadata": {"name": "not-ours"}}, namespace)
    async with at_work(access, namespace) as shared:
        shared.say("here", a_view(namespace, "here"))
        await asyncio.sleep(0.3)
        assert "gone-job" in await shared.names()
        shared.records.settle()
        await until(lambda: shared.writes == ["DELETE"])
        await shared.level()
        assert await shared.names() == ["here-job", "not-ours", "over-job"]


# --- when others interfere ---------------------------------------------------------------------


async def test_a_record_that_is_deleted_comes_back_while_its_job_lives(
    access: ApiAccess, namespace: str
) -> None:
    async with at_work(access, namespace) as shared:
        await shared.want("a", a_view(namespace, "a"))
        await shared.want("b", ended(a_view(namespace, "b")))
        for name in ("a-job", "b-job"):
            await shared.client.delete(FLUX_JOBS, name, namespace)

        async def is_back() -> bool:
            return await shared.names() == ["a-job"]

        await asyncio.sleep(0.1)
        await until(is_back)
        await asyncio.sleep(0.5)
        assert await shared.names() == ["a-job"]


async def test_a_status_that_is_edited_is_put_right(access: ApiAccess, namespace: str) -> None:
    async with at_work(access, namespace) as shared:
        await shared.want("a", a_view(namespace, "a"))
        wrong = merge({"status": {"state": "running"}})
        await shared.client.patch(FLUX_JOBS, "a-job", wrong, namespace, "status")

        async def is_right() -> bool:
            return (await shared.read("a-job")).status.state == "pending"

        await until(is_right)


async def test_a_name_that_another_has_is_left_to_it(access: ApiAccess, namespace: str) -> None:
    async with at_work(access, namespace) as shared:
        theirs = await shared.client.create(FLUX_JOBS, {"metadata": {"name": "a-job"}}, namespace)
        await shared.want("a", a_view(namespace, "a"))
        [other] = [name for name in await shared.names() if name != "a-job"]
        assert other.startswith("a-") and other.endswith("-job")
        assert (await shared.read(other)).status.state == "pending"
        assert await shared.read("a-job") == theirs


async def test_a_new_workload_takes_the_name_of_one_that_is_over(
    access: ApiAccess, namespace: str
) -> None:
    async with at_work(access, namespace) as shared:
        await shared.want("Job/a/1", ended(a_view(namespace, "a")))
        shared.forget("Job/a/1")
        await shared.want("Job/a/2", a_view(namespace, "a"))
        assert await shared.names() == ["a-job"]
        assert (await shared.read("a-job")).status.state == "pending"


async def test_a_new_run_of_what_is_over_has_a_record_of_its_own(
    access: ApiAccess, namespace: str
) -> None:
    async with at_work(access, namespace) as shared:
        await shared.want("a", ended(a_view(namespace, "a")))
        old = await shared.read("a-job")
        await shared.want("a", a_view(namespace, "a", job_id=8))
        new = await shared.read("a-job")
    assert new.metadata.uid != old.metadata.uid
    assert (new.status.state, new.status.end) == ("pending", None)


async def test_a_workload_made_anew_under_its_name_does_not_inherit_the_record(
    access: ApiAccess, namespace: str
) -> None:
    """It would be deleted with the workload that it belonged to."""
    async with at_work(access, namespace) as shared:
        for uid in ("first", "second"):
            owner = Owner("batch/v1", "Job", "a", uid)
            await shared.want("a", a_view(namespace, "a", owner=owner))
        [found] = (await shared.read("a-job")).metadata.owner_references
    assert found.uid == "second"


async def test_two_live_groups_of_one_name_have_a_record_each(
    access: ApiAccess, namespace: str
) -> None:
    async with at_work(access, namespace) as shared:
        await shared.want("one dialect", a_view(namespace, "g", kind=Wrapped.GROUP))
        await shared.want("another dialect", a_view(namespace, "g", kind=Wrapped.GROUP))
        assert len(await shared.names()) == 2


async def test_a_namespace_that_is_gone_stops_nothing_else(
    access: ApiAccess, namespace: str
) -> None:
    async with at_work(access, namespace) as shared:
        shared.say("lost", a_view("no-such-namespace", "lost"))
        shared.say("a", a_view(namespace, "a"))

        async def is_there() -> bool:
            return await shared.names() == ["a-job"]

        await until(is_there)


# --- the definition ----------------------------------------------------------------------------


async def test_the_definition_of_fluxqueue_is_taken_over(access: ApiAccess) -> None:
    """It names a webhook for conversion that is not served."""
    service = {"namespace": "fluxqueue", "name": "webhook", "path": "/convert"}
    webhook = {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}
    conversion = {"strategy": "Webhook", "webhook": webhook}
    name = manifest()["metadata"]["name"]
    async with KubeClient(access) as client:
        theirs = merge({"spec": {"conversion": conversion}})
        await client.patch(DEFINITIONS, name, theirs)
        await install_crd(client)
        await install_crd(client)
        found = await client.get(DEFINITIONS, name)
    assert found.spec.conversion.strategy == "None"
    assert found.is_established


async def test_an_unknown_type_is_refused(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        content = {"metadata": {"name": "a"}, "spec": {"type": len(Wrapped)}}
        try:
            await client.create(FLUX_JOBS, content, namespace)
        except Exception as error:
            assert "spec.type" in str(error)
        else:
            raise AssertionError("it was taken")
