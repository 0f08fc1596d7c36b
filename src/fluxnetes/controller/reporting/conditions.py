"""The condition of a pod that waits: why, and until when.

    conditions.want("default/train", pods, "Unschedulable", "all 8 nodes are busy until 12:30")

It is the condition PodScheduled=False, which `kubectl describe`, dashboards and autoscalers look at
for any scheduler. The API server turns it to True by itself when a pod is bound.

Each is a write that changes a pod, which everybody who watches pods hears of. So there are few:
none for pods that wait a moment only, none where the words are there already, for a group those of
its first pods (a gang of 3,000 waits for one reason, and its FluxJob tells it once), each pod at
most every quarter of a minute, and so many a second in all.

A condition must never come after the bind: it would say of a running pod that it waits. So each
write names the version of the pod that it is about, and the pods come from the informer (`find`)
at the last moment.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from fluxnetes.common.backoff import Backoff, RetryTiming
from fluxnetes.controller.reporting.delay_queue import DelayQueue
from fluxnetes.controller.reporting.throttle import WriteThrottle
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import Conflict, KubeError, NotFound, TemporaryError
from fluxnetes.kube.objects.base import Condition, Key
from fluxnetes.kube.objects.pods import PODS, Pod
from fluxnetes.kube.patches import ObjectPatch, strategic

POD_SCHEDULED = "PodScheduled"
LONGEST_MESSAGE = 1024

_log = logging.getLogger("fluxnetes.controller")


@dataclass(frozen=True, slots=True)
class ConditionLimits:
    """How many conditions are enough."""

    after: float = 2.0
    """Seconds that a group waits before anything is said."""
    again: float = 15.0
    """Seconds between two conditions of a pod."""
    a_second: float = 20.0
    """In all."""
    of_a_group: int = 20
    """Pods, the first ones."""


@dataclass(slots=True)
class _Wanted:
    pods: tuple[Key, ...]
    reason: str
    message: str
    since: float
    said: float = float("-inf")


class ConditionWriter:
    """Says why pods wait, as long as `run` runs."""

    def __init__(
        self,
        client: KubeClient,
        throttle: WriteThrottle,
        find: Callable[[Key], Pod | None],
        measure: ConditionLimits | None = None,
        timing: RetryTiming | None = None,
    ) -> None:
        self._client = client
        self._courtesy = throttle
        self._find = find
        self._measure = measure or ConditionLimits()
        self._timing = timing or RetryTiming()
        self._wanted: dict[str, _Wanted] = {}
        self._agenda: DelayQueue[str] = DelayQueue()
        self.writes = 0

    def want(self, group: str, pods: Sequence[Key], reason: str, message: str) -> None:
        """These pods wait for this; the same again costs nothing."""
        first = tuple(islice(pods, self._measure.of_a_group))
        message = message[:LONGEST_MESSAGE]
        known, now = self._wanted.get(group), time.monotonic()
        if known is None:
            self._wanted[group] = _Wanted(first, reason, message, now)
            self._agenda.add(group, self._measure.after)
        elif (known.pods, known.reason, known.message) != (first, reason, message):
            known.pods, known.reason, known.message = first, reason, message
            due = max(known.since + self._measure.after, known.said + self._measure.again)
            self._agenda.add(group, max(due - now, 0.0))

    def forget(self, group: str) -> None:
        """It waits no longer."""
        self._wanted.pop(group, None)

    async def run(self) -> None:
        """Say it, until cancelled."""
        backoff = Backoff("writing conditions of pods", self._timing)
        while True:
            group = await self._agenda.next()
            try:
                await self._say(group)
            except TemporaryError as error:
                self._agenda.add(group)
                await backoff.pause(str(error))
            else:
                backoff.over()

    async def _say(self, group: str) -> None:
        wanted = self._wanted.get(group)
        if wanted is None:
            return
        for key in wanted.pods:
            if self._wanted.get(group) is not wanted:
                return  # it waits no longer
            if self._waiting(key, wanted) is not None:
                await self._courtesy.turn(time.monotonic())
                await self._patch(group, key, wanted)
                await asyncio.sleep(1 / self._measure.a_second)

    async def _patch(self, group: str, key: Key, wanted: _Wanted) -> None:
        pod = self._waiting(key, wanted)  # as it is by now
        if pod is None:
            return
        self.writes += 1
        wanted.said = time.monotonic()
        patch, (namespace, name) = _patch(pod, wanted.reason, wanted.message), key
        try:
            await self._client.patch(PODS, name, patch, namespace, "status")
        except Conflict:  # it has changed; we shall hear of that
            self._agenda.add(group, self._measure.after)
        except NotFound:
            pass
        except TemporaryError:
            raise
        except KubeError as error:
            _log.warning("the condition of pod %s/%s is not written: %s", *key, error)

    def _waiting(self, key: Key, wanted: _Wanted) -> Pod | None:
        """The pod, if it waits and does not say so yet."""
        pod = self._find(key)
        if pod is None or pod.spec.node_name or pod.is_over or pod.metadata.deletion_timestamp:
            return None
        said = _condition(pod)
        if said is None or said.status != "False":
            return pod
        return None if (said.reason, said.message) == (wanted.reason, wanted.message) else pod


def _condition(pod: Pod) -> Condition | None:
    return next((c for c in pod.status.conditions if c.type == POD_SCHEDULED), None)


def _patch(pod: Pod, reason: str, message: str) -> ObjectPatch:
    said = _condition(pod)
    condition: dict[str, Any] = {
        "type": POD_SCHEDULED,
        "status": "False",
        "reason": reason,
        "message": message,
    }
    if said is None or said.status != "False":
        condition["lastTransitionTime"] = datetime.now(UTC).replace(microsecond=0)
    who = {"uid": pod.metadata.uid, "resourceVersion": pod.metadata.resource_version}
    return strategic({"metadata": who, "status": {"conditions": [condition]}})
