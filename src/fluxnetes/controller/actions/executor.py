"""The hands: do on the cluster what is asked for, however often it takes.

What is asked for twice while it is under way is done once. What fails for the moment is tried again
until it works or is no longer asked for; what fails for good is told. Binds have connections and
workers of their own, so that nothing else delays them.

Every deed names the uid of what it is about, so a later object of the same name is safe, and every
deed may be done twice: after "no answer" nobody knows whether it was done.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.labels.names import JOB, TASK
from fluxnetes.controller.actions.types import Action, BindPod, ChangeWorkload, EndPod
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import Conflict, InvalidObject, NotFound, PermanentError, TemporaryError
from fluxnetes.kube.http.transport import Lane
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.kube.patches import edits, merge

_log = logging.getLogger("fluxnetes.controller")

BIND_WORKERS = Lane.BINDS.value
OTHER_WORKERS = 8
ENOUGH = 4 * BIND_WORKERS
"""Binds in line that keep all workers busy while more are decided on."""
_LONGEST_PAUSE = 5.0
_JUST_NOW = 3.0
_A_MOMENT = 0.02


@dataclass(slots=True, eq=False)
class Executor:
    """Workers for binds, and workers for the rest."""

    client: KubeClient
    may_write: Callable[[], bool]
    sure_for: Callable[[], float | None] = field(default=lambda: None)
    """How many seconds we lead for sure, if we do; None: as long as we like."""
    bound: Callable[[BindPod], None] = field(default=lambda bind: None)
    """Told of every pod that was bound."""
    hold_back: Callable[[str], bool] = field(default=lambda node: False)
    """Whether something happened on a node that the queue has not heard of yet; the bind waits."""
    expects: bool = False
    """Whether more binds will be asked for in a moment."""
    failed: Callable[[Action, str], None] = field(default=lambda action, why: None)
    """Told of everything that cannot be done, and why."""
    asked: dict[Hashable, Action] = field(default_factory=dict)
    """What waits or is under way, by what it is about."""
    _binds: asyncio.Queue[Hashable] = field(default_factory=asyncio.Queue)
    _rest: asyncio.Queue[Hashable] = field(default_factory=asyncio.Queue)
    _flying: dict[str, int] = field(default_factory=dict)
    """The job of each pod whose bind is under way, by its uid."""
    _working: set[Hashable] = field(default_factory=set)
    """What somebody works on; whatever else is asked about it is theirs to do."""
    _done: dict[Hashable, tuple[Action, float]] = field(default_factory=dict)
    """What was done just now; the watch may not show it yet."""

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as workers:
            for _ in range(BIND_WORKERS):
                workers.create_task(self._work_off(self._binds))
            for _ in range(OTHER_WORKERS):
                workers.create_task(self._work_off(self._rest))

    def ask(self, action: Action) -> None:
        """Do this, unless it is being done or was done a moment ago."""
        key = _key(action)
        if key in self.asked or key in self._working:
            if self.asked.get(key) != action:
                self.asked[key] = action
            return
        done = self._done.get(key)
        if done is not None and done[0] == action and time.monotonic() - done[1] < _JUST_NOW:
            return
        self.asked[key] = action
        (self._binds if isinstance(action, BindPod) else self._rest).put_nowait(key)

    def revoke(self, uid: str) -> None:
        """A pod is not to be bound, if it is not too late."""
        self.asked.pop(_bind_key(uid), None)

    def is_binding(self, job: int) -> bool:
        """Whether a bind of a job is under way."""
        return job in self._flying.values()

    def is_flying(self, uid: str) -> bool:
        """Whether the bind of a pod is under way."""
        return uid in self._flying

    def is_idle(self) -> bool:
        """Whether no bind waits for a worker, nor is about to be asked for."""
        return self._binds.empty() and not self.expects

    def are_full(self) -> bool:
        """Whether there is enough to do for a while."""
        return self._binds.qsize() >= ENOUGH

    # -- working -------------------------------------------------------------------------------

    async def _work_off(self, queue: asyncio.Queue[Hashable]) -> None:
        while True:
            key = await queue.get()
            if key in self._working:
                continue
            self._working.add(key)
            try:
                await self._do(key)
            finally:
                self._working.discard(key)

    async def _do(self, key: Hashable) -> None:
        """Do what is asked about something until it is done, or not asked for any more."""
        pause = 0.05
        while (action := self.asked.get(key)) is not None:
            if isinstance(action, BindPod) and self.hold_back(action.node):
                await asyncio.sleep(_A_MOMENT)
                continue
            try:
                await self._once(action)
            except TemporaryError as error:
                _log.debug("%s: %s; again in %.1f s", action, error, pause)
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            except PermanentError as error:
                if not isinstance(error, (NotFound, Conflict)):
                    self.failed(action, str(error))
            if self._over(key, action):
                return

    def _over(self, key: Hashable, action: Action) -> bool:
        """It is done; False if something else is asked for meanwhile."""
        if self.asked.get(key) is not action:
            return key not in self.asked
        del self.asked[key]
        if len(self._done) > 10_000:
            self._done.clear()
        self._done[key] = (action, time.monotonic())
        return True

    async def _once(self, action: Action) -> None:
        """Do it while we lead for sure; a request that is cut off may have been done."""
        if not self.may_write():
            raise TemporaryError("we are not sure that we lead")
        try:
            async with asyncio.timeout(self.sure_for()):
                await self._act(action)
        except TimeoutError:
            raise TemporaryError("it took longer than we are sure to lead") from None

    async def _act(self, action: Action) -> None:
        if isinstance(action, BindPod):
            await self._bind(action)
        elif isinstance(action, ChangeWorkload):
            await self._change(action)
        else:
            await self._end_pod(action)

    async def _bind(self, action: BindPod) -> None:
        self._flying[action.uid] = action.job
        try:
            if action.gates:
                await self._take_off_gates(action)
            await self._send_bind(action)
        finally:
            del self._flying[action.uid]
        self.bound(action)

    async def _send_bind(self, action: BindPod) -> None:
        try:
            await self.client.bind(
                action.name,
                action.namespace,
                uid=action.uid,
                node=action.node,
                annotations={JOB: str(action.job), TASK: str(action.task)},
            )
        except Conflict:  # an earlier try, of which we got no answer, may have worked
            pod = await self.client.get(PODS, action.name, action.namespace)
            if pod.metadata.uid != action.uid or pod.spec.node_name != action.node:
                raise

    async def _take_off_gates(self, action: BindPod) -> None:
        """All gates are ours; whoever adds one meanwhile makes the test fail, and we try again."""
        test = [{"name": gate} for gate in action.gates]
        operations: list[dict[str, Any]] = [
            {"op": "test", "path": "/metadata/uid", "value": action.uid},
            {"op": "test", "path": "/spec/schedulingGates", "value": test},
            {"op": "remove", "path": "/spec/schedulingGates"},
        ]
        try:
            await self.client.patch(PODS, action.name, edits(operations), action.namespace)
        except (InvalidObject, Conflict):
            pod = await self.client.get(PODS, action.name, action.namespace)
            if pod.metadata.uid != action.uid or pod.spec.scheduling_gates:
                raise

    async def _change(self, action: ChangeWorkload) -> None:
        adapter = ADAPTERS[action.kind]
        metadata = {**action.content.get("metadata", {}), "uid": action.uid}
        content = {**action.content, "metadata": metadata}
        await self.client.patch(adapter.resource, action.name, merge(content), action.namespace)

    async def _end_pod(self, action: EndPod) -> None:
        if action.delete:
            await self.client.delete(PODS, action.name, action.namespace, uid=action.uid)
            return
        content = {"metadata": {"uid": action.uid}, "spec": {"activeDeadlineSeconds": 1}}
        await self.client.patch(PODS, action.name, merge(content), action.namespace)


def _key(action: Action) -> Hashable:
    return _bind_key(action.uid) if isinstance(action, BindPod) else action.uid


def _bind_key(uid: str) -> Hashable:
    return ("bind", uid)
