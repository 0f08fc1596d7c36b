"""The informer, on a real API server that is killed now and then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from fluxnetes.kube.auth.access import ApiAccess
from fluxnetes.kube.client import EVERYTHING, KubeClient, Scope
from fluxnetes.kube.errors import Expired
from fluxnetes.kube.informer import Informer
from fluxnetes.kube.objects.base import Object, Resource
from fluxnetes.kube.objects.podgroups import POD_GROUPS
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.kube.patches import merge
from fluxnetes.kube.watch import watch
from tests.integration.conftest import Restart
from tests.integration.kube.faults import QUICK
from tests.integration.kube.test_client import make

DEFINITIONS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    Object,
    namespaced=False,
)


class Listener:
    """The changes that an informer has reported, and a way to wait for more."""

    def __init__(self, informer: Informer[Any]) -> None:
        self.informer = informer
        self.changes: list[str] = []
        self._news = asyncio.Condition()

    async def listen(self) -> None:
        async for batch in self.informer.changes():
            async with self._news:
                self.changes += [f"{c.kind.value} {c.object.metadata.name}" for c in batch]
                self._news.notify_all()

    async def wait_for(self, *changes: str) -> None:
        """Until all of these have been reported."""
        async with asyncio.timeout(60), self._news:
            await self._news.wait_for(lambda: set(changes) <= set(self.changes))

    async def wait_until_complete(self) -> None:
        async with asyncio.timeout(60), self._news:
            await self._news.wait_for(lambda: self.informer.is_complete)


@asynccontextmanager
async def listening(informer: Informer[Any]) -> AsyncIterator[Listener]:
    """Listen to it as long as the block lasts."""
    listener = Listener(informer)
    task = asyncio.create_task(listener.listen())
    try:
        yield listener
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_the_phases_of_a_pod_are_reported(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        await make(client, "before", namespace)
        informer = Informer(client, PODS, Scope(namespace), timing=QUICK)
        async with listening(informer) as listener:
            await listener.wait_for("added before")
            pod = await make(client, "a", namespace)
            await client.bind("a", namespace, uid=pod.metadata.uid, node="node-0")
            await listener.wait_for("changed a")
            assert informer.objects[namespace, "a"].spec.node_name == "node-0"
            await client.delete(PODS, "a", namespace, grace=0)
            await listener.wait_for("deleted a")
            assert list(informer.objects) == [(namespace, "before")]


async def test_what_happens_while_the_server_is_killed_and_started_is_reported_once(
    restart: Restart, access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        informer = Informer(client, PODS, Scope(namespace), timing=QUICK)
        async with listening(informer) as listener:
            await listener.wait_until_complete()
            for round_ in range(3):
                await make(client, f"a-{round_}", namespace)
                await restart()
                await make(client, f"b-{round_}", namespace)
                await listener.wait_for(f"added a-{round_}", f"added b-{round_}")
            there = (await client.list(PODS, Scope(namespace))).items
            assert sorted(informer.objects) == sorted(pod.key for pod in there)
            assert len(listener.changes) == len(set(listener.changes)) == 6


async def test_a_moment_that_the_server_has_forgotten_is_expired(
    restart: Restart, access: ApiAccess
) -> None:
    """What was before its own start a server does not know."""
    await restart()
    async with KubeClient(access) as client:
        with pytest.raises(Expired):
            async for _ in watch(client, PODS, EVERYTHING, "1", QUICK):
                pass


async def test_a_kind_is_followed_as_soon_as_it_is_installed(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        informer = Informer(client, POD_GROUPS, timing=QUICK)
        async with listening(informer) as listener:
            while informer.problem is None:
                await asyncio.sleep(0.01)
            assert "list podgroups" in informer.problem
            await client.create(DEFINITIONS, definition())
            await listener.wait_until_complete()
            group = {"metadata": {"name": "g"}, "spec": {"minMember": 3}}
            await client.create(POD_GROUPS, group, namespace)
            await listener.wait_for("added g")
            assert informer.objects[namespace, "g"].spec.min_member == 3
            await client.patch(POD_GROUPS, "g", merge({"spec": {"minMember": 4}}), namespace)
            await listener.wait_for("changed g")
            await client.delete(DEFINITIONS, "podgroups.scheduling.x-k8s.io")


def definition() -> dict[str, Any]:
    """PodGroups, as little of them as will do."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": POD_GROUPS.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    api = "https://github.com/kubernetes-sigs/scheduler-plugins"
    return {
        "metadata": {
            "name": f"{POD_GROUPS.plural}.{POD_GROUPS.group}",
            "annotations": {"api-approved.kubernetes.io": api},
        },
        "spec": {
            "group": POD_GROUPS.group,
            "names": {"kind": POD_GROUPS.kind, "plural": POD_GROUPS.plural},
            "scope": "Namespaced",
            "versions": [version],
        },
    }
