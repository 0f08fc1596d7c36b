"""FluxJobs, kept equal to what is wanted.

                     want, forget                      informer: what there is
                          |                                     |
                          v                                     v
      views (wanted) --> agendas --> level(key): compare --> objects (there)
                          ^              | create, patch, delete: what differs, if anything
                          +--- later ----+

Whoever knows about a group says what its record should be, as often as it likes; a workload's
reference is the key. A moment later the record is compared with the object, and only what differs
is written. So ten changes in half a second cost one write, saying the same again costs none, and
after a restart what is there already is left alone.

A place in the queue and a forecast change all the time and for all jobs at once. They have an
agenda of their own: each record at most every ten seconds, and so many a second in all. A state is
never kept waiting by them.

A record is owned by its workload, if that is one object, and goes with it. One that has ended is
kept for `keep` seconds. One that has not ended, and that nobody wants, is an orphan: its workload
went while nobody looked. It is removed, but only when `settle` has said that all that is
known is wanted.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from fluxnetes.common.backoff import Backoff, RetryTiming
from fluxnetes.controller.reporting.delay_queue import DelayQueue
from fluxnetes.controller.reporting.fluxjob_view import FluxJobView
from fluxnetes.controller.reporting.fluxjob_writer import (
    MANAGED_BY,
    US,
    FluxJobWriter,
    is_of_another,
    key_of,
)
from fluxnetes.controller.reporting.throttle import WriteThrottle
from fluxnetes.kube.cache import ChangeKind, ObjectChange
from fluxnetes.kube.client import KubeClient, Scope
from fluxnetes.kube.errors import Conflict, KubeError, NotFound, TemporaryError
from fluxnetes.kube.informer import Informer
from fluxnetes.kube.objects.fluxjobs import FLUX_JOBS, FluxJob

KEEP = 3600.0
"""Seconds that a record is kept after the end."""

_log = logging.getLogger("fluxnetes.controller")


@dataclass(frozen=True, slots=True)
class FluxJobSyncTiming:
    """Seconds, but for the last two."""

    settle: float = 0.5
    """How long a change waits for more of them."""
    forecast: float = 10.0
    """How long a new place in the queue, or a new forecast, waits at least after the last write."""
    restore: float = 5.0
    """How long a record that somebody deleted stays away: its workload may be going too."""
    refused: float = 30.0
    """How long one that the server refused stays as it is."""
    sweep: float = 10.0
    """How often we look for records whose time is over."""
    at_once: int = 3
    forecasts_a_second: float = 20.0


@dataclass(slots=True)
class _Wanted:
    view: FluxJobView
    since: float
    """When there first was something to write that is not written."""
    written: FluxJobView | None = None
    """What the server was told last, by us and since we started."""
    written_at: float = float("-inf")
    is_closed: bool = False
    """It has ended and somebody deleted its record; it will not come back."""


class FluxJobSync:
    """Our FluxJobs, as long as `run` runs."""

    def __init__(
        self,
        client: KubeClient,
        throttle: WriteThrottle,
        *,
        keep: float = KEEP,
        pace: FluxJobSyncTiming | None = None,
        timing: RetryTiming | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client, self._filing = client, FluxJobWriter(client)
        self._courtesy = throttle
        self._keep, self._clock = keep, clock
        self._pace = pace or FluxJobSyncTiming()
        self._timing = timing or RetryTiming()
        self._wanted: dict[str, _Wanted] = {}
        self._there: dict[str, FluxJob] = {}
        self._changes: DelayQueue[str] = DelayQueue()
        self._forecasts: DelayQueue[str] = DelayQueue()
        self._busy: set[str] = set()
        """Keys that a worker is at."""
        self._is_listed = asyncio.Event()
        self._is_settled = False

    @property
    def writes(self) -> int:
        """How many writes it took so far."""
        return self._filing.writes

    # --- what is wanted ------------------------------------------------------------------------

    def want(self, key: str, view: FluxJobView) -> None:
        """This is what is to be said of the workload from now on."""
        known = self._wanted.get(key)
        if known is None:
            if not self._has_expired(view.end):
                self._wanted[key] = _Wanted(view, time.monotonic())
                self._changes.add(key, self._pace.settle)
        elif known.view != view:
            if known.view is known.written:
                known.since = time.monotonic()
            known.view = view
            known.is_closed = known.is_closed and view.is_over
            self._plan(key, known)

    def forget(self, key: str) -> None:
        """Nobody speaks for it any more: if it has ended it is kept for a while, else it goes."""
        if not self._has_ended(key):
            self._drop(key)

    def settle(self) -> None:
        """All that is known is wanted now; what else there is may go."""
        self._is_settled = True

    def hurry(self) -> None:
        """Write what is to be written without waiting for more."""
        self._changes.hurry()
        self._forecasts.hurry()

    def is_level(self) -> bool:
        """Whether all that is wanted is written."""
        return not (self._busy or self._changes or self._forecasts)

    def _has_ended(self, key: str) -> bool:
        known = self._wanted.get(key)
        return known is not None and known.view.is_over

    def _drop(self, key: str) -> None:
        if self._wanted.pop(key, None) is not None:
            self._changes.add(key)

    def _plan(self, key: str, known: _Wanted) -> None:
        before, now = known.written, time.monotonic()
        if before is None or before.without_forecast != known.view.without_forecast:
            self._changes.add(key, self._pace.settle)
        else:
            left = known.written_at + self._pace.forecast - now
            self._forecasts.add(key, max(left, self._pace.settle))

    # --- what is done about it -----------------------------------------------------------------

    async def run(self) -> None:
        """Keep them equal, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow())
            await self._is_listed.wait()
            for _ in range(self._pace.at_once):
                tasks.create_task(self._work(self._changes))
            tasks.create_task(self._work(self._forecasts, 1 / self._pace.forecasts_a_second))
            tasks.create_task(self._sweep())

    async def _work(self, delays: DelayQueue[str], pause: float = 0.0) -> None:
        backoff = Backoff("writing FluxJobs", self._timing)
        while True:
            key = await delays.next()
            if pause:  # there is always something newer to say, so nothing gets stale
                await self._courtesy.turn(time.monotonic())
            try:
                has_written = await self._level(key)
            except TemporaryError as error:
                delays.add(key)
                await backoff.pause(str(error))
            except (Conflict, NotFound):  # not the object that we knew, or no namespace for it
                self._there.pop(key, None)
                delays.add(key, self._pace.restore)
            except KubeError as error:
                _log.warning("the record of %s is not written: %s", key, error)
                delays.add(key, self._pace.refused)
            else:
                backoff.over()
                await asyncio.sleep(pause if has_written else 0)

    async def _level(self, key: str) -> bool:
        """Make the object what it should be; whether that took a write."""
        if key in self._busy:
            self._changes.add(key, self._pace.settle)
            return False
        self._busy.add(key)
        wanted = self._wanted.get(key)
        try:
            return await (self._bury(key) if wanted is None else self._write(key, wanted))
        finally:
            self._busy.discard(key)
            if self._wanted.get(key) is not wanted:  # forgotten meanwhile, or wanted again
                self._changes.add(key)

    async def _write(self, key: str, wanted: _Wanted) -> bool:
        there, view = self._there.get(key), wanted.view
        has_changed = there is None or self._filing.differs(there, view, self._clock())
        if has_changed and not wanted.is_closed:
            await self._courtesy.turn(wanted.since)
            view = wanted.view  # as it is by now
            if there is not None and is_of_another(there, view):
                await self._filing.remove(there)
                there = None
            if there is None:
                there = self._there[key] = await self._filing.make(key, view, self._is_live)
            self._there[key] = await self._filing.update(there, view, self._clock())
        wanted.written, wanted.written_at = view, time.monotonic()
        return has_changed

    def _is_live(self, key: str) -> bool:
        return key in self._wanted and not self._has_ended(key)

    async def _bury(self, key: str) -> bool:
        """Take away what nobody wants, unless it has ended not long ago."""
        there = self._there.get(key)
        if there is None or self._is_kept(there):
            return False
        await self._courtesy.turn(time.monotonic())
        await self._filing.remove(there)
        self._there.pop(key, None)
        return True

    # --- what there is -------------------------------------------------------------------------

    async def _follow(self) -> None:
        ours = Scope(labels=f"{MANAGED_BY}={US}")
        async for batch in Informer(self._client, FLUX_JOBS, ours, timing=self._timing).changes():
            for change in batch:
                self._see(change)
            self._is_listed.set()

    def _see(self, change: ObjectChange[FluxJob]) -> None:
        found, key = change.object, key_of(change.before or change.object)
        known, wanted = self._there.get(key), self._wanted.get(key)
        if change.kind is ChangeKind.DELETED:
            if known is not None and known.metadata.uid == found.metadata.uid:
                self._lose(key, wanted)
        elif key and (known is None or _is_newer(found, known)):
            self._there[key] = found
            if wanted is not None and not self._is_own_doing(key, wanted, found):
                self._changes.add(key, self._pace.settle)

    def _is_own_doing(self, key: str, wanted: _Wanted, found: FluxJob) -> bool:
        """Whether we hear only what we just wrote."""
        if key in self._busy:
            return True
        before = wanted.written
        return before is not None and not self._filing.differs(found, before, self._clock())

    def _lose(self, key: str, wanted: _Wanted | None) -> None:
        """Somebody deleted it, or the garbage collector did because its workload is gone."""
        del self._there[key]
        if wanted is not None:
            wanted.is_closed = wanted.view.is_over
            self._changes.add(key, self._pace.restore)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self._pace.sweep)
            over = [k for k, w in self._wanted.items() if self._has_expired(w.view.end)]
            for key in over:
                self._drop(key)
            if self._is_settled:
                for key in self._there.keys() - self._wanted.keys():
                    if not self._is_kept(self._there[key]):
                        self._changes.add(key)

    def _is_kept(self, record: FluxJob) -> bool:
        end = record.status.end
        return end is not None and not self._has_expired(end.timestamp())

    def _has_expired(self, end: float | None) -> bool:
        return end is not None and end + self._keep < self._clock()


def _is_newer(one: FluxJob, other: FluxJob) -> bool:
    """By their versions, which are numbers that grow."""
    return int(one.metadata.resource_version) > int(other.metadata.resource_version)
