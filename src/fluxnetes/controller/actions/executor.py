"""Carries out actions on the cluster, with retries.

An action that fails temporarily is retried until it works or is no longer requested; one that fails
permanently is reported. Binds have connections and workers of their own, so that nothing else
delays them.

Every action names the uid of its object, so a later object of the same name is safe. Every action
may be done twice: after a request without an answer it is unknown whether it was done.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, Protocol

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.adapters.owners import OWNERS
from fluxnetes.cluster.labels.names import GATES, JOB, TASK
from fluxnetes.controller.actions.queue import ActionQueue
from fluxnetes.controller.actions.types import Action, BindPod, ChangeWorkload, EndPod
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import Conflict, InvalidObject, NotFound, PermanentError, TemporaryError
from fluxnetes.kube.http.transport import Lane
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.kube.patches import edits, merge

_log = logging.getLogger("fluxnetes.controller")

BIND_WORKERS = Lane.BINDS.value
"""As many as there are connections for binds."""
OTHER_WORKERS = 8
"""The number of workers for all other actions."""
_FIRST_RETRY_DELAY = 0.05
_LONGEST_RETRY_DELAY = 5.0
_HOLD_BACK_DELAY = 0.02
"""Seconds between two checks whether a bind that is held back may go on."""


class WriteLease(Protocol):
    """Whether, and for how long, this controller is sure to lead."""

    def may_write(self) -> bool: ...

    def sure_for(self) -> float | None:
        """Seconds; None: without a limit."""
        ...


class ActionObserver(Protocol):
    """Is informed of the outcome of actions."""

    def pod_bound(self, bind: BindPod) -> None: ...

    def action_failed(self, action: Action, why: str) -> None:
        """It failed for good."""
        ...


@dataclass(slots=True, eq=False)
class Executor:
    """Workers for binds, and workers for the other actions."""

    client: KubeClient
    actions: ActionQueue
    lease: WriteLease
    observer: ActionObserver
    hold_back: Callable[[str], bool]
    """Whether the usage of a node changed since the queue was last informed: binds to it wait."""

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as workers:
            for _ in range(BIND_WORKERS):
                workers.create_task(self._work(self.actions.take_bind))
            for _ in range(OTHER_WORKERS):
                workers.create_task(self._work(self.actions.take_other))

    async def _work(self, take: Callable[[], Awaitable[Hashable]]) -> None:
        while True:
            key = await take()
            try:
                await self._do(key)
            finally:
                self.actions.release(key)

    async def _do(self, key: Hashable) -> None:
        """Do what is requested for an object until it is done, or no longer requested."""
        retry_delay = _FIRST_RETRY_DELAY
        while (action := self.actions.requested.get(key)) is not None:
            if isinstance(action, BindPod) and self.hold_back(action.node):
                await asyncio.sleep(_HOLD_BACK_DELAY)
                continue
            try:
                await self._attempt(action)
            except TemporaryError as error:
                _log.debug("%s: %s; retrying in %.1f s", action, error, retry_delay)
                await asyncio.sleep(retry_delay)
                retry_delay = min(2 * retry_delay, _LONGEST_RETRY_DELAY)
                continue
            except PermanentError as error:
                if not isinstance(error, (NotFound, Conflict)):
                    self.observer.action_failed(action, str(error))
            if self.actions.finish(key, action):
                return

    async def _attempt(self, action: Action) -> None:
        """Do it while this controller is sure to lead; a request that is cut off may be done."""
        if not self.lease.may_write():
            raise TemporaryError("this controller is not sure to lead")
        try:
            async with asyncio.timeout(self.lease.sure_for()):
                await self._act(action)
        except TimeoutError:
            raise TemporaryError("it took longer than this controller is sure to lead") from None

    async def _act(self, action: Action) -> None:
        if isinstance(action, BindPod):
            await self._bind(action)
        elif isinstance(action, ChangeWorkload):
            await self._change(action)
        else:
            await self._end_pod(action)

    async def _bind(self, action: BindPod) -> None:
        self.actions.bind_started(action)
        try:
            if action.gates:
                await self._remove_gates(action)
            await self._send_bind(action)
        finally:
            self.actions.bind_ended(action)
        self.observer.pod_bound(action)

    async def _send_bind(self, action: BindPod) -> None:
        try:
            await self.client.bind(
                action.name,
                action.namespace,
                uid=action.uid,
                node=action.node,
                annotations={JOB: str(action.job), TASK: str(action.task)},
            )
        except Conflict:  # an earlier attempt, whose answer was lost, may have worked
            pod = await self.client.get(PODS, action.name, action.namespace)
            if pod.metadata.uid != action.uid or pod.spec.node_name != action.node:
                raise

    async def _remove_gates(self, action: BindPod) -> None:
        """Remove all gates, unless there is one that is not ours.

        The pod may have other gates than it was seen with, or none: those that it has count then.
        """
        try:
            await self._patch_gates(action, action.gates)
        except (InvalidObject, Conflict):
            pod = await self.client.get(PODS, action.name, action.namespace)
            gates = tuple(gate.name for gate in pod.spec.scheduling_gates)
            if pod.metadata.uid != action.uid or not all(gate in GATES for gate in gates):
                raise
            if gates:
                await self._patch_gates(action, gates)

    async def _patch_gates(self, action: BindPod, gates: tuple[str, ...]) -> None:
        """Remove the gates if they are still these."""
        test = [{"name": gate} for gate in gates]
        operations: list[dict[str, Any]] = [
            {"op": "test", "path": "/metadata/uid", "value": action.uid},
            {"op": "test", "path": "/spec/schedulingGates", "value": test},
            {"op": "remove", "path": "/spec/schedulingGates"},
        ]
        await self.client.patch(PODS, action.name, edits(operations), action.namespace)

    async def _change(self, action: ChangeWorkload) -> None:
        owner = OWNERS.get(action.kind)
        resource = ADAPTERS[action.kind].resource if owner is None else owner
        metadata = {**action.content.get("metadata", {}), "uid": action.uid}
        content = {**action.content, "metadata": metadata}
        await self.client.patch(resource, action.name, merge(content), action.namespace)

    async def _end_pod(self, action: EndPod) -> None:
        if action.delete:
            await self.client.delete(
                PODS, action.name, action.namespace, uid=action.uid, version=action.version
            )
            return
        metadata = {"uid": action.uid, "resourceVersion": action.version}
        content = {"metadata": metadata, "spec": {"activeDeadlineSeconds": 1}}
        await self.client.patch(PODS, action.name, merge(content), action.namespace)
