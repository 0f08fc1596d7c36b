"""Watches the API server, and passes what changes on to the cluster model.

One task per kind follows an informer and puts its changes into the model at once; the next round
finds them there. Only nodes wait for the round: they change the graph, which must not change during
a cycle of the queue.
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
from fluxnetes.controller.observation import WatchedKind
from fluxnetes.kube.cache import ChangeKind, ObjectChange
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.informer import Informer
from fluxnetes.kube.objects.base import Resource
from fluxnetes.kube.objects.nodes import NODES, Node
from fluxnetes.kube.objects.podgroups import NATIVE_POD_GROUPS, POD_GROUPS, VOLCANO_POD_GROUPS
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.kube.objects.priorities import PRIORITY_CLASSES
from fluxnetes.kube.objects.volumes import CLAIMS, STORAGE_CLASSES, VOLUMES

_log = logging.getLogger("fluxnetes.controller")

OPTIONAL = (POD_GROUPS, NATIVE_POD_GROUPS, VOLCANO_POD_GROUPS)
"""Kinds that a cluster may not serve, or that the controller may not be allowed to read."""
SERVICES = tuple(adapter.resource for adapter in ADAPTERS.values() if adapter.is_service)
"""Kinds that the controller may not be allowed to read; their pods then stand for themselves."""

_Handler = Callable[[list[ObjectChange[Any]]], None]
"""Handles a batch of changes from an informer."""

_RELAXED = RetryTiming(
    initial_delay=1.0, max_delay=30.0, log_interval=float("inf"), log_level=logging.DEBUG
)
"""A kind that is not served now may be installed later; that is neither urgent nor a problem."""

_CHECK_INTERVAL = 0.02
"""Seconds between two checks whether all kinds were listed."""


class Watchers:
    """All informers, and the handlers of their changes."""

    def __init__(self, client: KubeClient, model: ClusterModel, wake: asyncio.Event) -> None:
        """`wake` is set whenever something changed."""
        self.model = model
        self.wake = wake
        self._changed_nodes: dict[str, Node | None] = {}
        """Nodes that changed since the last round; None: gone."""
        self._tasks: asyncio.TaskGroup | None = None
        self._running: dict[Informer[Any], asyncio.Task[None]] = {}
        self._handlers: list[tuple[Informer[Any], _Handler]] = []

        def watch(resource: Resource[Any], handle: _Handler) -> Informer[Any]:
            timing = _RELAXED if resource in (*OPTIONAL, *SERVICES) else None
            informer = Informer(client, resource, timing=timing)
            self._handlers.append((informer, handle))
            return informer

        watch(NODES, self._nodes_changed)
        for kind, adapter in ADAPTERS.items():
            watch(
                adapter.resource,
                _one_by_one(partial(model.put_workload, kind), model.drop_workload),
            )
        for resource in (POD_GROUPS, NATIVE_POD_GROUPS, VOLCANO_POD_GROUPS):
            watch(resource, _one_by_one(model.put_pod_group, model.drop_pod_group))
        self.storage = StorageObjects(
            claims=watch(CLAIMS, self._storage_changed).objects,
            volumes=watch(VOLUMES, self._storage_changed).objects,
            classes=watch(STORAGE_CLASSES, self._storage_changed).objects,
        )
        classes = watch(PRIORITY_CLASSES, lambda _: model.priority_classes_changed(classes.objects))
        self.pods = watch(PODS, _one_by_one(model.put_pod, model.drop_pod))

    async def run(self) -> None:
        """Watch all kinds until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            for informer, handle in self._handlers:
                self._running[informer] = tasks.create_task(self._watch(informer, handle))

    def required(self) -> list[WatchedKind]:
        """The watches of all kinds that every cluster serves. Part of `WatchedKinds`."""
        served = (each for each, _ in self._handlers if each.resource not in OPTIONAL)
        return [each for each in served if each.resource not in SERVICES or not each.is_refused]

    def unwatched(self) -> set[str]:
        """Kinds of workloads that the server does not let us read."""
        return {
            each.resource.kind
            for each, _ in self._handlers
            if each.resource in SERVICES and each.is_refused and not each.is_complete
        }

    def list_again(self, kind: WatchedKind) -> None:
        """List all objects of a kind, and watch it from there. Part of `WatchedKinds`."""
        for informer, handle in self._handlers:
            if informer is kind:
                informer.forget_version()
                if self._tasks is not None:
                    before = self._running[informer]
                    before.cancel()
                    follow = self._watch(informer, handle, after=before)
                    self._running[informer] = self._tasks.create_task(follow)

    async def complete(
        self, *kinds: Resource[Any], meanwhile: Callable[[], None] = lambda: None
    ) -> None:
        """Wait until all objects of some kinds, or of all kinds, were listed.

        Optional kinds that are not served do not count. `meanwhile` is called whenever more came.
        """
        awaited = [each for each, _ in self._handlers if not kinds or each.resource in kinds]
        while not all(map(self._is_complete, awaited)):
            with suppress(TimeoutError):  # a kind that is not served does not set `wake`
                async with asyncio.timeout(_CHECK_INTERVAL):
                    await self.wake.wait()
            self.wake.clear()
            meanwhile()

    def _is_complete(self, informer: Informer[Any]) -> bool:
        if informer.is_complete:
            return True
        if informer.resource in SERVICES:  # else a passing problem would end what runs
            return informer.is_refused
        return informer.resource in OPTIONAL and informer.problem is not None

    async def _watch(
        self, informer: Informer[Any], handle: _Handler, after: asyncio.Task[None] | None = None
    ) -> None:
        if after is not None:
            await asyncio.wait([after])
        async for changes in informer.changes():
            handle(changes)
            self.wake.set()

    def _storage_changed(self, changes: list[ObjectChange[Any]]) -> None:
        """A claim may have been bound for which a group waits."""
        self.model.storage_changed()

    # -- nodes, which wait for the round -------------------------------------------------------

    def _nodes_changed(self, changes: list[ObjectChange[Node]]) -> None:
        for change in changes:
            node, is_gone = change.object, change.kind is ChangeKind.DELETED
            self._changed_nodes[node.metadata.name] = None if is_gone else node

    def take_nodes(self) -> tuple[list[Node], list[str]]:
        """Nodes that are new or changed since the last call, and the names of those that are
        gone."""
        nodes, self._changed_nodes = self._changed_nodes, {}
        changed = [node for node in nodes.values() if node is not None]
        return changed, [name for name, node in nodes.items() if node is None]


def _one_by_one(put: Callable[[Any], None], drop: Callable[[Any], None]) -> _Handler:
    """Handles a batch object by object."""

    def handle(changes: list[ObjectChange[Any]]) -> None:
        for change in changes:
            if change.kind is ChangeKind.DELETED:
                drop(change.object)
            else:
                put(change.object)

    return handle
