"""Events: what happened to an object, where `kubectl describe` shows it.

    recorder.tell(about(PODS, pod), "Scheduled", "assigned to node-3", reporter="fluxnetes")

Telling costs microseconds, never waits and never fails: it only puts the event in line. A few
workers send what is in line, and give way to binds (`courtesy`). Events are news, not records, so
they may be lost: when the line is full the oldest goes, and when the server is away for long those
that it should have had are given up. Both are counted, and said in the log.

The same words about the same object are told once in ten minutes, and for one reason no more than
a few different ones (`folding`). So a job that waits can be reported after every cycle. Times and
counts that always move are better kept out of the words; they are in the FluxJob.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from fluxnetes.common.backoff import Backoff, RetryTiming
from fluxnetes.controller.reporting.dedup import EventDedup
from fluxnetes.controller.reporting.throttle import WriteThrottle
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import AlreadyExists, KubeError, TemporaryError
from fluxnetes.kube.objects.base import Object, Resource
from fluxnetes.kube.objects.events import EVENTS, Reference
from fluxnetes.kube.objects.times import micro_time

T = TypeVar("T", bound=Object)

LONGEST_NOTE = 1024
"""The server refuses longer ones."""
_LONGEST_NAME = 230
"""Of the object, in the name of the event; the rest is a number."""
_NAMESPACE_OF_OTHERS = "default"
"""Where events are kept about what belongs to no namespace."""
_SAY_AGAIN = 30.0

_log = logging.getLogger("fluxnetes.controller")


def about(resource: Resource[T], thing: T) -> Reference:
    """A reference to an object."""
    who = thing.metadata
    return Reference(resource.api_version, resource.kind, who.name, who.uid, who.namespace)


@dataclass(frozen=True, slots=True)
class EventLimits:
    """How much is kept for how long."""

    in_line: int = 10_000
    at_once: int = 4
    same_again: float = 600.0
    """Seconds in which the same words about the same object are told once..."""
    different: int = 10
    """...and at most so many different ones for one reason."""
    give_up: float = 60.0
    """Seconds after which an event that the server could not take is forgotten."""


@dataclass(frozen=True, slots=True)
class _Told:
    """An event in line."""

    regarding: Reference
    reason: str
    note: str
    type: str
    reporter: str
    action: str
    number: int
    """Nanoseconds since 1970: when it happened, and what tells it from all others."""
    since: float

    def body(self, instance: str) -> dict[str, Any]:
        who = self.regarding
        return {
            "metadata": {
                "name": f"{who.name[:_LONGEST_NAME]}.{self.number:x}",
                "namespace": who.namespace or _NAMESPACE_OF_OTHERS,
            },
            "regarding": who,
            "type": self.type,
            "reason": self.reason,
            "note": self.note,
            "action": self.action,
            "eventTime": micro_time(datetime.fromtimestamp(self.number / 1e9, UTC)),
            "reportingController": self.reporter,
            "reportingInstance": instance,
        }


class EventRecorder:
    """Sends events, as long as `run` runs."""

    def __init__(
        self,
        client: KubeClient,
        throttle: WriteThrottle,
        instance: str,
        limits: EventLimits | None = None,
        timing: RetryTiming | None = None,
    ) -> None:
        self._client = client
        self._courtesy = throttle
        self._instance = instance[:128]
        self._limits = limits or EventLimits()
        self._timing = timing or RetryTiming()
        self._line: asyncio.Queue[_Told] = asyncio.Queue(self._limits.in_line)
        kept = self._limits
        self._folding = EventDedup(kept.same_again, kept.different, kept.in_line)
        self._number = 0
        self._complained = float("-inf")
        self.sent = 0
        self.folded = 0
        """How many were not sent because there was no news in them."""
        self.dropped = 0

    def tell(
        self,
        regarding: Reference,
        reason: str,
        note: str,
        *,
        type: Literal["Normal", "Warning"] = "Normal",
        reporter: str = "fluxnetes",
        action: str = "Scheduling",
    ) -> None:
        """Put an event in line. `reporter` is the scheduler that the pod asked for."""
        now = time.monotonic()
        note = _cut(note)
        if not self._folding.is_news((regarding.uid or regarding.name, reason), note, now):
            self.folded += 1
            return
        if self._line.full():
            self._line.get_nowait()
            self._line.task_done()
            self._drop(f"more than {self._limits.in_line} wait to be sent")
        self._number = max(self._number + 1, time.time_ns())
        told = _Told(regarding, reason, note, type, reporter, action, self._number, now)
        self._line.put_nowait(told)

    async def run(self) -> None:
        """Send, until cancelled."""
        async with asyncio.TaskGroup() as workers:
            for _ in range(self._limits.at_once):
                workers.create_task(self._work())

    async def drained(self) -> None:
        """Wait until everything that was told is sent or given up."""
        await self._line.join()

    async def _work(self) -> None:
        backoff = Backoff("sending events", self._timing)
        while True:
            told = await self._line.get()
            try:
                await self._send(told, backoff)
            finally:
                self._line.task_done()

    async def _send(self, told: _Told, backoff: Backoff) -> None:
        body = told.body(self._instance)
        while True:
            await self._courtesy.turn(told.since)
            try:
                await self._create(body)
            except TemporaryError as error:
                if time.monotonic() - told.since > self._limits.give_up:
                    return self._drop(str(error))
                await backoff.pause(str(error))
            except KubeError as error:  # of no use to anybody: the namespace is going away...
                return self._drop(str(error))
            else:
                backoff.over()
                self.sent += 1
                return None

    async def _create(self, body: Mapping[str, Any]) -> None:
        with suppress(AlreadyExists):  # an earlier try worked after all
            await self._client.create(EVENTS, body, body["metadata"]["namespace"])

    def _drop(self, why: str) -> None:
        self.dropped += 1
        now = time.monotonic()
        if now - self._complained > _SAY_AGAIN:
            self._complained = now
            _log.warning("events are dropped (%d so far): %s", self.dropped, why)


def _cut(note: str) -> str:
    return note if len(note) <= LONGEST_NOTE else note[: LONGEST_NOTE - 3] + "..."
