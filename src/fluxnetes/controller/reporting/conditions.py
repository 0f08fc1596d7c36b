"""Writes the condition of waiting pods: why they wait, and until when.

    conditions.want("default/train", pods, "Unschedulable", "all 8 nodes are busy until 12:30")

It is the condition PodScheduled=False, which `kubectl describe`, dashboards and autoscalers read
for any scheduler. The API server sets it to True when the pod is bound.

Each condition is a write that changes a pod, and every watcher of pods is notified of it. So there
are few: none for pods that wait only a moment, none where the pod already has the same message,
only for the first pods of a group (a gang of 3,000 waits for one reason, and its FluxJob shows it
once), at most every 15 seconds per pod, and a limited number per second in all.

A condition must never be written after the bind: it would say of a running pod that it waits. So
each write names the version of the pod that it is about, and pods are read from the informer's
cache (`find`) at the last moment.
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
"""Maximum characters of a message; longer ones are cut."""

_log = logging.getLogger("fluxnetes.controller")


@dataclass(frozen=True, slots=True)
class ConditionLimits:
    """Limits on the number of conditions."""

    after: float = 2.0
    """Seconds that a group waits before its first condition."""
    again: float = 15.0
    """Seconds between two conditions of a pod."""
    a_second: float = 20.0
    """Maximum conditions per second, of all pods."""
    of_a_group: int = 20
    """Maximum pods of a group with a condition: the first ones."""


@dataclass(slots=True)
class _Wanted:
    pods: tuple[Key, ...]
    reason: str
    message: str
    since: float
    written: float = float("-inf")


class ConditionWriter:
    """Writes conditions while `run` runs."""

    def __init__(
        self,
        client: KubeClient,
        throttle: WriteThrottle,
        find: Callable[[Key], Pod | None],
        limits: ConditionLimits | None = None,
        timing: RetryTiming | None = None,
    ) -> None:
        self._client = client
        self._throttle = throttle
        self._find = find
        self._limits = limits or ConditionLimits()
        self._timing = timing or RetryTiming()
        self._wanted: dict[str, _Wanted] = {}
        self._delays: DelayQueue[str] = DelayQueue()
        self.writes = 0

    def want(self, group: str, pods: Sequence[Key], reason: str, message: str) -> None:
        """These pods wait for this; repeating the same costs nothing."""
        first = tuple(islice(pods, self._limits.of_a_group))
        message = message[:LONGEST_MESSAGE]
        known, now = self._wanted.get(group), time.monotonic()
        if known is None:
            self._wanted[group] = _Wanted(first, reason, message, now)
            self._delays.add(group, self._limits.after)
        elif (known.pods, known.reason, known.message) != (first, reason, message):
            known.pods, known.reason, known.message = first, reason, message
            due = max(known.since + self._limits.after, known.written + self._limits.again)
            self._delays.add(group, max(due - now, 0.0))

    def forget(self, group: str) -> None:
        """A group waits no longer."""
        self._wanted.pop(group, None)

    async def run(self) -> None:
        """Write conditions until cancelled."""
        backoff = Backoff("writing conditions of pods", self._timing)
        while True:
            group = await self._delays.next()
            try:
                await self._write(group)
            except TemporaryError as error:
                self._delays.add(group)
                await backoff.pause(str(error))
            else:
                backoff.over()

    async def _write(self, group: str) -> None:
        wanted = self._wanted.get(group)
        if wanted is None:
            return
        for key in wanted.pods:
            if self._wanted.get(group) is not wanted:
                return  # the group waits no longer
            if self._waiting(key, wanted) is not None:
                await self._throttle.turn(time.monotonic())
                await self._patch(group, key, wanted)
                await asyncio.sleep(1 / self._limits.a_second)

    async def _patch(self, group: str, key: Key, wanted: _Wanted) -> None:
        pod = self._waiting(key, wanted)  # it may have changed while this waited for its turn
        if pod is None:
            return
        self.writes += 1
        wanted.written = time.monotonic()
        patch, (namespace, name) = _patch(pod, wanted.reason, wanted.message), key
        try:
            await self._client.patch(PODS, name, patch, namespace, "status")
        except Conflict:  # it has changed, and the informer will show how
            self._delays.add(group, self._limits.after)
        except NotFound:
            pass
        except TemporaryError:
            raise
        except KubeError as error:
            _log.warning("cannot write the condition of pod %s/%s: %s", *key, error)

    def _waiting(self, key: Key, wanted: _Wanted) -> Pod | None:
        """The pod, if it waits and does not have this condition yet."""
        pod = self._find(key)
        if pod is None or pod.spec.node_name or pod.is_over or pod.metadata.deletion_timestamp:
            return None
        known = _condition(pod)
        if known is None or known.status != "False":
            return pod
        return None if (known.reason, known.message) == (wanted.reason, wanted.message) else pod


def _condition(pod: Pod) -> Condition | None:
    return next((c for c in pod.status.conditions if c.type == POD_SCHEDULED), None)


def _patch(pod: Pod, reason: str, message: str) -> ObjectPatch:
    known = _condition(pod)
    condition: dict[str, Any] = {
        "type": POD_SCHEDULED,
        "status": "False",
        "reason": reason,
        "message": message,
    }
    if known is None or known.status != "False":
        condition["lastTransitionTime"] = datetime.now(UTC).replace(microsecond=0)
    metadata = {"uid": pod.metadata.uid, "resourceVersion": pod.metadata.resource_version}
    return strategic({"metadata": metadata, "status": {"conditions": [condition]}})
