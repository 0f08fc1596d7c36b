"""Writes the condition of waiting pods: why they wait, and until when.

    conditions.want("default/train", pods, "Held", "held by its user")

It is the condition PodScheduled=False, which `kubectl describe`, dashboards and autoscalers read
for any scheduler. The API server sets it to True when the pod is bound.

Each condition is a write that changes a pod, and every watcher of pods is notified of it. So there
are few: none for pods that wait only a moment, none where the pod already has the same message,
only for the first pods of a group (a gang of 3,000 waits for one reason, and its FluxJob shows it
once), at most every 15 seconds per pod, and a limited number per second in all.

One reason is for programs: for every pod with `Unschedulable`, an autoscaler buys a place. So all
pods of a group get that reason, gated ones too, and all lose it when nodes would not help any more;
only its message is kept up to date on the first ones alone. A large group is written some pods at
a time, and other groups have their turn in between.

A condition must never be written after the bind: it would say of a running pod that it waits. So
each write names the version of the pod that it is about, and pods are read from the informer's
cache (`find`) at the last moment.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
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
UNSCHEDULABLE = "Unschedulable"
"""The reason on which autoscalers buy nodes."""
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
    growth_a_second: float = 50.0
    """The same of those that make or end a pod `Unschedulable`: what kube-scheduler writes at
    most. A gang of 3,000 pods has it within a minute."""
    of_a_group: int = 20
    """Maximum pods of a group with a condition: the first ones. All have it for autoscalers."""


PodKeys = Callable[[], Iterable[Key]]
"""The pods of a group that wait now; thousands of them are only looked at when need be."""


@dataclass(slots=True)
class _Wanted:
    """What the pods of one group are to say."""

    pods: PodKeys
    keys: tuple[Key, ...]
    """Those for which it was wanted last."""
    reason: str
    message: str
    since: float
    """When the group began to wait."""
    changed: float
    """When the reason, the message or the pods last changed."""
    written: float = float("-inf")
    patched: dict[Key, str] = field(default_factory=dict)
    """The version of each pod that was given this condition: the informer lags behind."""

    def change(self, keys: tuple[Key, ...], reason: str, message: str, now: float) -> None:
        self.keys, self.reason, self.message, self.changed = keys, reason, message, now
        self.patched.clear()


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

    def want(self, group: str, pods: PodKeys, reason: str, message: str) -> None:
        """These pods wait for this; repeating the same costs no write."""
        most = None if reason == UNSCHEDULABLE else self._limits.of_a_group
        keys, message = tuple(islice(pods(), most)), message[:LONGEST_MESSAGE]
        known, now = self._wanted.get(group), time.monotonic()
        if known is None:
            self._wanted[group] = _Wanted(pods, keys, reason, message, now, now)
            self._delays.add(group, self._limits.after)
            return
        known.pods = pods
        if (known.keys, known.reason, known.message) != (keys, reason, message):
            known.change(keys, reason, message, now)
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
        wanted, most = self._wanted.get(group), self._limits.of_a_group
        if wanted is None:
            return
        due = list(islice(self._lacking(wanted), most))
        for key, is_first in due:
            await self._throttle.turn(wanted.changed)
            if self._wanted.get(group) is not wanted:
                return  # the group waits no longer
            pod = self._lacks(key, wanted, is_first=is_first)  # it may have changed meanwhile
            if pod is not None:
                await self._patch(group, pod, wanted)
                await asyncio.sleep(1 / self._rate(pod, wanted))
        if len(due) == most:
            self._delays.add(group)  # after the groups that are due by now

    def _rate(self, pod: Pod, wanted: _Wanted) -> float:
        is_growth = UNSCHEDULABLE in (wanted.reason, _said(pod)[0])
        return self._limits.growth_a_second if is_growth else self._limits.a_second

    async def _patch(self, group: str, pod: Pod, wanted: _Wanted) -> None:
        self.writes += 1
        wanted.patched[pod.key] = pod.metadata.resource_version
        wanted.written = time.monotonic()
        patch, (namespace, name) = _patch(pod, wanted.reason, wanted.message), pod.key
        try:
            await self._client.patch(PODS, name, patch, namespace, "status")
        except Conflict:  # it has changed, and the informer will show how
            self._delays.add(group, self._limits.after)
        except NotFound:
            pass
        except TemporaryError:
            wanted.patched.pop(pod.key, None)
            raise
        except KubeError as error:
            _log.warning("cannot write the condition of pod %s/%s: %s", *pod.key, error)

    def _lacking(self, wanted: _Wanted) -> Iterator[tuple[Key, bool]]:
        """The pods that are to get a condition, and whether each is among the first."""
        for number, key in enumerate(wanted.pods()):
            is_first = number < self._limits.of_a_group
            if self._lacks(key, wanted, is_first=is_first) is not None:
                yield key, is_first

    def _lacks(self, key: Key, wanted: _Wanted, *, is_first: bool) -> Pod | None:
        """The pod, if it waits and is to have this condition, which it does not have yet."""
        pod = self._find(key)
        if pod is None or pod.spec.node_name or pod.is_over or pod.metadata.deletion_timestamp:
            return None
        if wanted.patched.get(key) == pod.metadata.resource_version:
            return None
        reason, message = _said(pod)
        if reason == wanted.reason:
            return pod if is_first and message != wanted.message else None
        # Of gated pods the API server says that they are gated, which is all that people need.
        is_for_people = is_first and not pod.spec.scheduling_gates
        is_for_programs = UNSCHEDULABLE in (wanted.reason, reason)
        return pod if is_for_people or is_for_programs else None


def _condition(pod: Pod) -> Condition | None:
    return next((c for c in pod.status.conditions if c.type == POD_SCHEDULED), None)


def _said(pod: Pod) -> tuple[str, str]:
    """The reason and the message of a pod's condition; empty: it does not say that it waits."""
    known = _condition(pod)
    if known is None or known.status != "False":
        return "", ""
    return known.reason, known.message


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
