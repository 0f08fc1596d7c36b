"""A kind that moves from version to version: what the server has is found, and found again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fluxnetes.kube.auth.access import find_access
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.informer import Informer
from fluxnetes.kube.objects.base import Resource
from fluxnetes.kube.objects.namespaces import NAMESPACES
from fluxnetes.kube.objects.podgroups import NATIVE_POD_GROUPS, Gang, NativePodGroup
from fluxnetes.kube.patches import merge
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.components import API_SERVER
from fluxnetes.plane.plane import ControlPlane
from fluxnetes.plane.versions import PINNED
from tests.integration.bare import a_bare_plane, server_arguments
from tests.integration.kube.faults import QUICK, Answer, connect, listed, refuse, say, tell
from tests.integration.kube.test_informer import Listener, listening
from tests.integration.kube.test_informer_faults import Story

BETA, ALPHA = NATIVE_POD_GROUPS


def a_group(name: str, version: int) -> dict[str, Any]:
    """A PodGroup as both versions have it."""
    metadata = {"name": name, "namespace": "default", "uid": name, "resourceVersion": str(version)}
    return {"metadata": metadata, "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}}


def has(*versions: str) -> Answer:
    """The versions of the API group."""
    return say(msgspec.json.encode({"versions": [{"version": each} for each in versions]}))


def kinds(*plurals: str) -> Answer:
    """The kinds of a version."""
    return say(msgspec.json.encode({"resources": [{"name": each} for each in plurals]}))


@asynccontextmanager
async def following(*script: Answer) -> AsyncIterator[Story]:
    """An informer of native PodGroups on a server with this script."""
    async with connect(*script) as (client, server):
        story = Story(Informer(client, NATIVE_POD_GROUPS, timing=QUICK), server)
        try:
            yield story
        finally:
            await story.close()


def paths(story: Story) -> list[str]:
    return [asked.path.removeprefix("/apis/scheduling.k8s.io") for asked in story.server.asked]


GONE = refuse(404, "NotFound")


async def test_a_group_without_any_version_is_asked_for_again() -> None:
    async with following(
        GONE, has("v1", "v1alpha2"), kinds("podgroups"), listed(a_group("g", 1), version=3)
    ) as story:
        assert await story.batch() == ["added g 1"]
        assert paths(story) == ["", "", "/v1alpha2", "/v1alpha2/podgroups"]


async def test_the_problem_names_the_versions_that_would_do() -> None:
    async with following(has("v1", "v1alpha2"), kinds("workloads"), GONE) as story:
        changes = asyncio.ensure_future(story.batch())
        async with asyncio.timeout(10):
            while story.informer.problem is None:
                await asyncio.sleep(0.001)
        changes.cancel()
        await asyncio.wait([changes])
        assert (
            "understood (v1beta1, v1alpha2); of those it serves: v1alpha2" in story.informer.problem
        )


async def test_an_upgrade_that_removes_the_version_leads_to_the_next_one() -> None:
    """The objects are the same ones, but may say other things: all count as changed."""
    async with following(
        has("v1alpha2"),
        kinds("podgroups"),
        listed(a_group("g", 1), version=3),
        tell(then="break"),
        GONE,
        has("v1beta1"),
        kinds("podgroups", "podgroups/status"),
        listed(a_group("g", 1), version=9),
    ) as story:
        assert await story.batch() == ["added g 1"]
        assert story.informer.resource is ALPHA
        assert await story.batch() == ["changed g 1"]
        assert story.informer.resource is BETA
        (group,) = story.informer.objects.values()
        assert isinstance(group, BETA.type)


async def test_a_group_that_loses_all_versions_has_no_objects_any_more() -> None:
    async with following(
        has("v1alpha2"), kinds("podgroups"), listed(a_group("g", 1), version=3), GONE, GONE
    ) as story:
        await story.batch()
        assert await story.batch() == ["deleted g 1"]
        assert story.names() == []


# --- with real servers -------------------------------------------------------------------------


@pytest.fixture
def upgradable(binaries: PlaneBinaries, tmp_path: Path) -> Iterator[ControlPlane]:
    """A bare API server of the default version."""
    with a_bare_plane(tmp_path / "plane", binaries) as plane:
        yield plane


async def test_native_groups_are_followed_through_an_upgrade_of_the_server(
    upgradable: ControlPlane, newest_binaries: PlaneBinaries
) -> None:
    def upgrade() -> None:
        upgradable.processes[API_SERVER].stop()
        upgradable.replace_programs(newest_binaries, {API_SERVER: server_arguments(PINNED[-1])})
        upgradable.start_component(API_SERVER)

    # The programs die with the thread that started them, so it lives as long as the test.
    with ThreadPoolExecutor(1) as thread:
        async with KubeClient(find_access(upgradable.kubeconfig)) as client:
            made = await client.create(NAMESPACES, {"metadata": {"generateName": "test-"}})
            namespace = made.metadata.name
            informer = Informer(client, NATIVE_POD_GROUPS, timing=QUICK)
            async with listening(informer) as listener:
                await _make_and_delete(client, ALPHA, namespace, listener)
                await asyncio.get_running_loop().run_in_executor(thread, upgrade)
                await _make_and_delete(client, BETA, namespace, listener)
                assert informer.resource is BETA
        thread.submit(upgradable.stop).result()


async def _make_and_delete(
    client: KubeClient, resource: Resource[NativePodGroup], namespace: str, listener: Listener
) -> None:
    """A group of that version is seen, and seen to go.

    A group that stayed could not be read after the upgrade: that is why versions are removed only
    while they are alpha.
    """
    name = resource.version
    group = {"metadata": {"name": name}, "spec": a_group(name, 1)["spec"]}
    await client.create(resource, group, namespace)
    await listener.wait_for(f"added {name}")
    (seen,) = listener.informer.objects.values()
    assert seen.spec.scheduling_policy.gang == Gang(2)
    await _release(client, resource, namespace, name)
    await client.delete(resource, name, namespace)
    await listener.wait_for(f"deleted {name}")


async def _release(
    client: KubeClient, resource: Resource[NativePodGroup], namespace: str, name: str
) -> None:
    """Remove the finalizer, which a controller of Kubernetes would do."""
    await client.patch(resource, name, merge({"metadata": {"finalizers": []}}), namespace)
