"""Records Kubernetes events, which `kubectl describe` shows with an object.

    recorder.record(about(PODS, pod), "Scheduled", "assigned to node-3", reporter="fluxnetes")

To record an event takes microseconds, never waits and never fails: the event is only put in a
queue. A few workers send the queued events, with lower priority than binds (`throttle`). Events are
not durable, so they may be lost: when the queue is full the oldest is dropped, and when the API
server is away for long its events are given up. Both are counted and logged.

The same note about the same object is recorded once in ten minutes, and for one reason only a few
different notes (`dedup`). So a waiting job can be reported after every cycle. Times and counts that
always change should be left out of a note; the FluxJob shows them.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, TypeVar

from fluxnetes.common.backoff import Backoff, RetryTiming
from fluxnetes.controller.reporting.dedup import EventDedup
from fluxnetes.controller.reporting.throttle import WriteThrottle
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import AlreadyExists, KubeError, TemporaryError
from fluxnetes.kube.objects.base import Object, Resource
from fluxnetes.kube.objects.events import EVENTS, Reference
from fluxnetes.kube.objects.times import micro_time

T = TypeVar("T", bound=Object)
EventType: TypeAlias = Literal["Normal", "Warning"]

LONGEST_NOTE = 1024
"""Maximum characters of a note; the API server refuses longer ones."""
_LONGEST_NAME = 230
"""Maximum characters of the object's name in the event's name; the rest is a number."""
_NAMESPACE_OF_OTHERS = "default"
"""The namespace of events about objects without a namespace."""
_LOG_AGAIN = 30.0
"""Minimum seconds between two warnings about dropped events."""

_log = logging.getLogger("fluxnetes.controller")


def about(resource: Resource[T], object: T) -> Reference:
    """A reference to an object."""
    it = object.metadata
    return Reference(resource.api_version, resource.kind, it.name, it.uid, it.namespace)


@dataclass(frozen=True, slots=True)
class EventLimits:
    """Limits of the recorder."""

    in_line: int = 10_000
    """Maximum events in the queue."""
    at_once: int = 4
    """The number of workers that send events."""
    same_again: float = 600.0
    """Seconds in which the same note about the same object is recorded once..."""
    different: int = 10
    """...and at most this many different notes for one reason."""
    give_up: float = 60.0
    """Seconds after which an event that the API server could not take is dropped."""


@dataclass(frozen=True, slots=True)
class _QueuedEvent:
    """An event that waits to be sent."""

    regarding: Reference
    reason: str
    note: str
    type: str
    reporter: str
    action: str
    number: int
    """Nanoseconds since 1970: when it happened, and unique among our events."""
    since: float

    def body(self, instance: str) -> dict[str, Any]:
        regarding = self.regarding
        return {
            "metadata": {
                "name": f"{regarding.name[:_LONGEST_NAME]}.{self.number:x}",
                "namespace": regarding.namespace or _NAMESPACE_OF_OTHERS,
            },
            "regarding": regarding,
            "type": self.type,
            "reason": self.reason,
            "note": self.note,
            "action": self.action,
            "eventTime": micro_time(datetime.fromtimestamp(self.number / 1e9, UTC)),
            "reportingController": self.reporter,
            "reportingInstance": instance,
        }


class EventRecorder:
    """Sends events while `run` runs."""

    def __init__(
        self,
        client: KubeClient,
        throttle: WriteThrottle,
        instance: str,
        limits: EventLimits | None = None,
        timing: RetryTiming | None = None,
    ) -> None:
        self._client = client
        self._throttle = throttle
        self._instance = instance[:128]
        self._limits = limits or EventLimits()
        self._timing = timing or RetryTiming()
        self._queue: asyncio.Queue[_QueuedEvent] = asyncio.Queue(self._limits.in_line)
        own = self._limits
        self._dedup = EventDedup(own.same_again, own.different, own.in_line)
        self._number = 0
        self._logged = float("-inf")
        self.sent = 0
        self.folded = 0
        """The number of events that were not sent because they repeat an earlier one."""
        self.dropped = 0

    def record(
        self,
        regarding: Reference,
        reason: str,
        note: str,
        *,
        type: EventType = "Normal",
        reporter: str = "fluxnetes",
        action: str = "Scheduling",
    ) -> None:
        """Queue an event. `reporter` is the scheduler that the pod names."""
        now = time.monotonic()
        note = _cut(note)
        if not self._dedup.is_news((regarding.uid or regarding.name, reason), note, now):
            self.folded += 1
            return
        if self._queue.full():
            self._queue.get_nowait()
            self._queue.task_done()
            self._drop(f"more than {self._limits.in_line} events wait to be sent")
        self._number = max(self._number + 1, time.time_ns())
        queued = _QueuedEvent(regarding, reason, note, type, reporter, action, self._number, now)
        self._queue.put_nowait(queued)

    async def run(self) -> None:
        """Send events until cancelled."""
        async with asyncio.TaskGroup() as workers:
            for _ in range(self._limits.at_once):
                workers.create_task(self._work())

    async def drained(self) -> None:
        """Wait until all recorded events are sent or dropped."""
        await self._queue.join()

    async def _work(self) -> None:
        backoff = Backoff("sending events", self._timing)
        while True:
            event = await self._queue.get()
            try:
                await self._send(event, backoff)
            finally:
                self._queue.task_done()

    async def _send(self, event: _QueuedEvent, backoff: Backoff) -> None:
        body = event.body(self._instance)
        while True:
            await self._throttle.turn(event.since)
            try:
                await self._create(body)
            except TemporaryError as error:
                if time.monotonic() - event.since > self._limits.give_up:
                    return self._drop(str(error))
                await backoff.pause(str(error))
            except KubeError as error:  # for good, say because the namespace is being deleted
                return self._drop(str(error))
            else:
                backoff.over()
                self.sent += 1
                return None

    async def _create(self, body: Mapping[str, Any]) -> None:
        with suppress(AlreadyExists):  # an earlier attempt, whose answer was lost, worked
            await self._client.create(EVENTS, body, body["metadata"]["namespace"])

    def _drop(self, why: str) -> None:
        self.dropped += 1
        now = time.monotonic()
        if now - self._logged > _LOG_AGAIN:
            self._logged = now
            _log.warning("events are dropped (%d so far): %s", self.dropped, why)


def _cut(note: str) -> str:
    return note if len(note) <= LONGEST_NOTE else note[: LONGEST_NOTE - 3] + "..."
