"""The status of a PodGroup is written when our view changes, and at no other time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import msgspec
import pytest

from fluxnetes.common.backoff import RetryTiming
from fluxnetes.controller.reporting.pod_groups.sync import PodGroupSync, PodGroupSyncTiming
from fluxnetes.controller.reporting.pod_groups.view import (
    PodGroupApi,
    PodGroupKey,
    PodGroupObjects,
    PodGroupView,
)
from fluxnetes.controller.reporting.throttle import WriteThrottle
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import Conflict, Forbidden, NotFound, Unreachable
from fluxnetes.kube.objects.base import Key, Resource
from fluxnetes.kube.objects.podgroups import PodGroup, PodGroupStatus
from fluxnetes.kube.patches import ObjectPatch
from fluxnetes.queue.states import JobState
from tests.unit.cluster.builders import a_pod_group

KEY = PodGroupKey(PodGroupApi.PLUGINS, "default", "g")
QUICK = PodGroupSyncTiming(settle=0.001, first_reason=0.002, reason=0.05, a_second=1e6)
WAITS = PodGroupView(JobState.PENDING, pods=2, live=2, reason="busy")
RUNS = PodGroupView(JobState.RUNNING, pods=2, live=2, bound=2, running=2)


@dataclass
class Server:
    """PodGroups that are patched, and the informer that shows them at once."""

    groups: dict[Key, PodGroup] = field(default_factory=dict)
    patches: list[dict[str, Any]] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)

    async def patch(
        self, resource: Resource[Any], name: str, patch: ObjectPatch, namespace: str, sub: str
    ) -> None:
        assert sub == "status"
        if self.errors:
            raise self.errors.pop(0)
        self.patches.append(patch.content["status"])
        self.write((namespace, name), patch.content["status"])

    def write(self, key: Key, status: dict[str, Any]) -> None:
        """We, or another controller, write a status."""
        before = msgspec.to_builtins(self.groups[key].status)
        now = msgspec.convert({**before, **status}, PodGroupStatus)
        self.groups[key] = msgspec.structs.replace(self.groups[key], status=now)

    def make(self, uid: str = "u") -> None:
        group = a_pod_group("g", 2)
        metadata = msgspec.structs.replace(group.metadata, uid=uid)
        self.groups[group.key] = msgspec.structs.replace(group, metadata=metadata)

    def phases(self) -> list[str]:
        return [each["phase"] for each in self.patches if "phase" in each]


@pytest.fixture
def server() -> Server:
    server = Server()
    server.make()
    return server


@asynccontextmanager
async def syncing(
    server: Server, throttle: WriteThrottle | None = None
) -> AsyncIterator[PodGroupSync]:
    objects = PodGroupObjects({}, server.groups)
    sync = PodGroupSync(
        cast(KubeClient, server),
        throttle or WriteThrottle(),
        objects,
        QUICK,
        RetryTiming(initial_delay=0.001, max_delay=0.002),
    )
    task = asyncio.create_task(sync.run())
    try:
        yield sync
    finally:
        task.cancel()
        await asyncio.wait([task])


async def rest(sync: PodGroupSync) -> None:
    """Until nothing is to be written any more."""
    async with asyncio.timeout(5):
        while len(sync._delays):
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.005)


async def test_many_changes_are_one_write(server: Server) -> None:
    async with syncing(server) as sync:
        sync.want(KEY, WAITS)
        sync.want(KEY, RUNS)
        sync.want(KEY, RUNS)
        await rest(sync)
        sync.want(KEY, RUNS)
        await rest(sync)
    assert server.phases() == ["Running"]


async def test_what_another_controller_writes_is_left_alone_until_our_view_changes(
    server: Server,
) -> None:
    async with syncing(server) as sync:
        sync.want(KEY, RUNS)
        await rest(sync)
        server.write(("default", "g"), {"phase": "Scheduling"})
        sync.want(KEY, RUNS)
        await rest(sync)
        assert server.phases() == ["Running"]
        sync.want(KEY, replace(RUNS, succeeded=1, running=1))
        await rest(sync)
    assert server.phases() == ["Running", "Running"]


async def test_a_pod_group_that_is_made_again_is_written_again(server: Server) -> None:
    async with syncing(server) as sync:
        sync.want(KEY, RUNS)
        await rest(sync)
        server.make(uid="another")
        sync.want(KEY, RUNS)
        await rest(sync)
    assert server.phases() == ["Running", "Running"]


async def test_a_pod_group_that_comes_late_is_written_then(server: Server) -> None:
    server.groups.clear()
    async with syncing(server) as sync:
        sync.want(KEY, RUNS)
        await rest(sync)
        server.make()
        sync.want(KEY, RUNS)
        await rest(sync)
    assert server.phases() == ["Running"]


@pytest.mark.parametrize("error", [Unreachable("away"), Conflict("changed")])
async def test_a_write_that_may_work_later_is_tried_again(server: Server, error: Exception) -> None:
    server.errors = [error]
    async with syncing(server) as sync:
        sync.want(KEY, RUNS)
        await rest(sync)
    assert server.phases() == ["Running"]


@pytest.mark.parametrize("error", [NotFound("gone"), Forbidden("no permission")])
async def test_a_write_that_is_refused_is_not_repeated(
    server: Server, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    server.errors = [error]
    async with syncing(server) as sync:
        sync.want(KEY, RUNS)
        await rest(sync)
        sync.want(KEY, RUNS)
        await rest(sync)
        assert server.patches == []
        server.errors = [error]
        sync.want(KEY, WAITS)
        await rest(sync)
    logged = [each for each in caplog.records if each.levelname == "WARNING"]
    assert len(logged) == (1 if isinstance(error, Forbidden) else 0)


async def test_the_last_view_is_written_even_if_it_is_forgotten_at_once(server: Server) -> None:
    async with syncing(server) as sync:
        sync.want(KEY, RUNS)
        sync.forget(KEY)
        await rest(sync)
        assert sync._wanted == {}
    assert server.phases() == ["Running"]


async def test_nothing_is_written_while_pods_are_being_bound(server: Server) -> None:
    is_idle = False
    async with syncing(server, WriteThrottle(lambda: is_idle)) as sync:
        sync.want(KEY, WAITS)
        await asyncio.sleep(0.1)
        assert server.patches == []
        sync.want(KEY, RUNS)
        is_idle = True
        await rest(sync)
        async with asyncio.timeout(5):
            while not server.patches:
                await asyncio.sleep(0.001)
    assert server.phases() == ["Running"], "the view as it is by then"
