"""What the API server shows, into the world.

One task a kind follows an informer and puts what changes into the world at once; the round that
comes next finds it there. Only nodes wait for the round: they change the graph, and the graph must
not change while the queue thinks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.pods.volumes import StorageObjects
from fluxnetes.common.backoff import RetryTiming
from fluxnetes.kube.cache import ChangeKind, ObjectChange
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.informer import Informer
from fluxnetes.kube.objects.base import Resource
from fluxnetes.kube.objects.nodes import NODES, Node
from fluxnetes.kube.objects.podgroups import NATIVE_POD_GROUPS, POD_GROUPS
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.kube.objects.priorities import PRIORITY_CLASSES
from fluxnetes.kube.objects.volumes import CLAIMS, STORAGE_CLASSES, VOLUMES

_log = logging.getLogger("fluxnetes.controller")

OPTIONAL = (POD_GROUPS, NATIVE_POD_GROUPS)
"""Kinds that a cluster may do without."""

_Take = Callable[[list[ObjectChange[Any]]], None]
"""Takes what came out of an informer in one go."""

_RELAXED = RetryTiming(
    initial_delay=1.0, max_delay=30.0, log_interval=float("inf"), log_level=logging.DEBUG
)
"""A kind that is not served today may be tomorrow; there is no hurry, and nothing to complain."""


_A_MOMENT = 0.02


class Watchers:
    """All informers, and where their changes go."""

    def __init__(self, client: KubeClient, model: ClusterModel, wake: asyncio.Event) -> None:
        self.model = model
        self.nodes: dict[str, Node | None] = {}
        """Nodes that changed since the last round; None: gone."""
        self.wake = wake
        self._takers: list[tuple[Informer[Any], _Take]] = []

        def follow(resource: Resource[Any], take: _Take) -> Informer[Any]:
            timing = _RELAXED if resource in OPTIONAL else None
            informer = Informer(client, resource, timing=timing)
            self._takers.append((informer, take))
            return informer

        follow(NODES, self._take_nodes)
        for kind, adapter in ADAPTERS.items():
            follow(adapter.resource, _taker(partial(model.put_workload, kind), model.drop_workload))
        for resource in OPTIONAL:
            follow(resource, _taker(model.put_pod_group, model.drop_pod_group))
        self.storage = StorageObjects(
            claims=follow(CLAIMS, self._take_storage).objects,
            volumes=follow(VOLUMES, self._take_storage).objects,
            classes=follow(STORAGE_CLASSES, self._take_storage).objects,
        )
        classes = follow(PRIORITY_CLASSES, lambda _: model.touch_classified())
        model.priority_classes = classes.objects
        self.pods = follow(PODS, _taker(model.put_pod, model.drop_pod))

    async def run(self) -> None:
        """Follow everything until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for informer, take in self._takers:
                tasks.create_task(self._follow(informer, take))

    async def complete(
        self, *kinds: Resource[Any], meanwhile: Callable[[], None] = lambda: None
    ) -> None:
        """Until everything of some kinds, or of all, has been seen once; kinds that are not served
        do not count. `meanwhile` is called whenever more has come."""
        awaited = [each for each, _ in self._takers if not kinds or each.resource in kinds]
        while not all(map(self._is_known, awaited)):
            with suppress(TimeoutError):  # that a kind is not served wakes nobody
                async with asyncio.timeout(_A_MOMENT):
                    await self.wake.wait()
            self.wake.clear()
            meanwhile()

    def _is_known(self, informer: Informer[Any]) -> bool:
        if informer.is_complete:
            return True
        return informer.resource in OPTIONAL and informer.problem is not None

    async def _follow(self, informer: Informer[Any], take: _Take) -> None:
        async for changes in informer.changes():
            take(changes)
            self.wake.set()

    # -- what does not go into the world at once -----------------------------------------------

    def _take_nodes(self, changes: list[ObjectChange[Node]]) -> None:
        for change in changes:
            node = change.object
            self.nodes[node.metadata.name] = None if change.kind is ChangeKind.DELETED else node

    def _take_storage(self, changes: list[ObjectChange[Any]]) -> None:
        """A claim is bound, perhaps, for which somebody waits."""
        self.model.touch_claimants()

    def take_nodes(self) -> tuple[list[Node], list[str]]:
        """Nodes that came or changed, and names of those that are gone."""
        nodes, self.nodes = self.nodes, {}
        there = [node for node in nodes.values() if node is not None]
        return there, [name for name, node in nodes.items() if node is None]


def _taker(put: Callable[[Any], None], drop: Callable[[Any], None]) -> _Take:
    """Puts into the world what is there, and drops what is gone."""

    def take(changes: list[ObjectChange[Any]]) -> None:
        for change in changes:
            if change.kind is ChangeKind.DELETED:
                drop(change.object)
            else:
                put(change.object)

    return take
