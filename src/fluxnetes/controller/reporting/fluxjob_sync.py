"""Keeps FluxJobs equal to what is wanted, with as few writes as possible.

                     want, forget                      informer: FluxJobs that exist
                          |                                     |
                          v                                     v
      views (wanted) --> delay queues --> sync(key): compare --> objects (existing)
                          ^              | create, patch, delete: what differs, if anything
                          +--- later ----+

The reporter says what the FluxJob of a group should be, as often as it likes; the workload's
reference is the key. A moment later the FluxJob is compared with the object, and only differences
are written. So ten changes in half a second cost one write, repeating the same costs none, and
after a restart objects that are right are left alone.

Positions in the queue and forecasts change all the time and for all jobs at once. They have delay
queues of their own: one for the first jobs of each queue, which are written every second if need
be, and one for all others, with at most one write per FluxJob every ten seconds. Both have a
limited number of writes per second in all, and never delay a state.

A FluxJob is owned by its workload, if that is one object, and is deleted with it. One whose job has
ended is kept for `keep` seconds. One whose job has not ended, and that is not wanted, is an orphan:
its workload was deleted while no controller ran. Orphans are deleted, but only after `settle` was
called, which says that everything that is known is wanted now.
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
"""Seconds that a FluxJob is kept after its job has ended."""

_log = logging.getLogger("fluxnetes.controller")


@dataclass(frozen=True, slots=True)
class FluxJobSyncTiming:
    """In seconds, but for the last three."""

    settle: float = 0.5
    """How long a change waits for further changes."""
    forecast: float = 10.0
    """Minimum time between the last write and that of a new position or forecast."""
    near_forecast: float = 1.0
    """The same for the first jobs of a queue, and jobs in no line; see `FluxJobView.is_near`."""
    near_settle: float = 0.1
    """How long a new position or forecast of those waits for further changes: all come at once."""
    restore: float = 5.0
    """How long a deleted FluxJob is not restored: its workload may be deleted too."""
    refused: float = 30.0
    """Retry delay after the API server refused a write."""
    sweep: float = 10.0
    """Interval between searches for expired FluxJobs."""
    at_once: int = 3
    """The number of workers that write changes."""
    forecasts_a_second: float = 20.0
    """Maximum writes of forecasts per second."""
    near_forecasts_a_second: float = 200.0
    """The same for the first jobs of a queue, and jobs in no line."""


@dataclass(slots=True)
class _Wanted:
    view: FluxJobView
    since: float
    """When the first change was wanted that is not written yet."""
    written: FluxJobView | None = None
    """What was last written, since this term began."""
    written_at: float = float("-inf")
    is_closed: bool = False
    """Its job has ended and a user deleted the FluxJob; it is not restored."""


class FluxJobSync:
    """Synchronises our FluxJobs while `run` runs."""

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
        self._client, self._writer = client, FluxJobWriter(client)
        self._throttle = throttle
        self._keep, self._clock = keep, clock
        self._pace = pace or FluxJobSyncTiming()
        self._retry = timing or RetryTiming()
        self._wanted: dict[str, _Wanted] = {}
        self._existing: dict[str, FluxJob] = {}
        self._changes: DelayQueue[str] = DelayQueue()
        self._forecasts: DelayQueue[str] = DelayQueue()
        self._near_forecasts: DelayQueue[str] = DelayQueue()
        self._busy: set[str] = set()
        """Keys that a worker is processing."""
        self._has_listed = asyncio.Event()
        self._is_settled = False

    @property
    def writes(self) -> int:
        """The number of writes so far."""
        return self._writer.writes

    # --- what is wanted ------------------------------------------------------------------------

    def want(self, key: str, view: FluxJobView) -> None:
        """What the FluxJob of a workload should be from now on."""
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
        """The group is gone: delete its FluxJob, or keep it for a while if its job has ended."""
        if not self._has_ended(key):
            self._drop(key)

    def settle(self) -> None:
        """Everything that is known is wanted now; other FluxJobs of ours may be deleted."""
        self._is_settled = True

    @property
    def is_listed(self) -> bool:
        """Whether all FluxJobs that exist were seen."""
        return self._has_listed.is_set()

    def unwanted(self) -> list[str]:
        """The keys of FluxJobs that exist and are not wanted, and whose job has not ended."""
        left = self._existing.keys() - self._wanted.keys()
        return sorted(key for key in left if self._existing[key].status.end is None)

    def hurry(self) -> None:
        """Write all changes now, without waiting for more."""
        for delays in (self._changes, self._forecasts, self._near_forecasts):
            delays.hurry()

    def is_synced(self) -> bool:
        """Whether everything that is wanted is written."""
        waiting = self._changes or self._forecasts or self._near_forecasts
        return not (self._busy or waiting)

    def _has_ended(self, key: str) -> bool:
        known = self._wanted.get(key)
        return known is not None and known.view.is_over

    def _drop(self, key: str) -> None:
        if self._wanted.pop(key, None) is not None:
            self._changes.add(key)

    def _plan(self, key: str, known: _Wanted) -> None:
        before, pace = known.written, self._pace
        since_written = time.monotonic() - known.written_at
        if before is None or before.without_forecast != known.view.without_forecast:
            self._changes.add(key, pace.settle)
        elif known.view.is_near:
            left = pace.near_forecast - since_written
            self._near_forecasts.add(key, max(left, pace.near_settle))
        else:
            self._forecasts.add(key, max(pace.forecast - since_written, pace.settle))

    # --- writing -------------------------------------------------------------------------------

    async def run(self) -> None:
        """Synchronise until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch())
            await self._has_listed.wait()
            for _ in range(self._pace.at_once):
                tasks.create_task(self._work(self._changes))
            tasks.create_task(self._work(self._forecasts, 1 / self._pace.forecasts_a_second))
            pause = self._pace.at_once / self._pace.near_forecasts_a_second
            for _ in range(self._pace.at_once):
                tasks.create_task(self._work(self._near_forecasts, pause))
            tasks.create_task(self._sweep())

    async def _work(self, delays: DelayQueue[str], pause: float = 0.0) -> None:
        backoff = Backoff("writing FluxJobs", self._retry)
        while True:
            key = await delays.next()
            if pause:  # a forecast is always replaced by a newer one, so it never becomes stale
                await self._throttle.turn(time.monotonic())
            try:
                has_written = await self._sync(key)
            except TemporaryError as error:
                delays.add(key)
                await backoff.pause(str(error))
            except (Conflict, NotFound):  # not the object that we knew, or no namespace for it
                self._existing.pop(key, None)
                delays.add(key, self._pace.restore)
            except KubeError as error:
                _log.warning("cannot write the FluxJob of %s: %s", key, error)
                delays.add(key, self._pace.refused)
            else:
                backoff.over()
                await asyncio.sleep(pause if has_written else 0)

    async def _sync(self, key: str) -> bool:
        """Make the object what it should be; whether that needed a write."""
        if key in self._busy:
            self._changes.add(key, self._pace.settle)
            return False
        self._busy.add(key)
        wanted = self._wanted.get(key)
        try:
            return await (self._delete(key) if wanted is None else self._write(key, wanted))
        finally:
            self._busy.discard(key)
            if self._wanted.get(key) is not wanted:  # forgotten meanwhile, or wanted again
                self._changes.add(key)

    async def _write(self, key: str, wanted: _Wanted) -> bool:
        existing, view = self._existing.get(key), wanted.view
        has_changed = existing is None or self._writer.differs(existing, view, self._clock())
        if has_changed and not wanted.is_closed:
            await self._throttle.turn(wanted.since)
            view = wanted.view  # it may have changed while this waited for its turn
            if existing is not None and is_of_another(existing, view):
                await self._writer.remove(existing)
                existing = None
            if existing is None:
                existing = self._existing[key] = await self._writer.make(key, view, self._is_live)
            updated = await self._writer.update(existing, view, self._clock())
            if key in self._existing:  # else it was deleted before the answer came
                self._existing[key] = updated
        wanted.written, wanted.written_at = view, time.monotonic()
        return has_changed

    def _is_live(self, key: str) -> bool:
        return key in self._wanted and not self._has_ended(key)

    async def _delete(self, key: str) -> bool:
        """Delete a FluxJob that is not wanted, unless its job ended recently."""
        existing = self._existing.get(key)
        if existing is None or self._is_kept(existing):
            return False
        await self._throttle.turn(time.monotonic())
        await self._writer.remove(existing)
        self._existing.pop(key, None)
        return True

    # --- what exists ---------------------------------------------------------------------------

    async def _watch(self) -> None:
        scope = Scope(labels=f"{MANAGED_BY}={US}")
        async for batch in Informer(self._client, FLUX_JOBS, scope, timing=self._retry).changes():
            for change in batch:
                self._observe(change)
            self._has_listed.set()

    def _observe(self, change: ObjectChange[FluxJob]) -> None:
        found, key = change.object, key_of(change.before or change.object)
        known, wanted = self._existing.get(key), self._wanted.get(key)
        if change.kind is ChangeKind.DELETED:
            if known is not None and known.metadata.uid == found.metadata.uid:
                self._was_deleted(key, wanted)
        elif key and (known is None or _is_newer(found, known)):
            self._existing[key] = found
            if wanted is not None and not self._is_own_write(key, wanted, found):
                self._changes.add(key, self._pace.settle)

    def _is_own_write(self, key: str, wanted: _Wanted, found: FluxJob) -> bool:
        """Whether a change is one that we wrote ourselves."""
        if key in self._busy:
            return True
        before = wanted.written
        return before is not None and not self._writer.differs(found, before, self._clock())

    def _was_deleted(self, key: str, wanted: _Wanted | None) -> None:
        """A user deleted it, or the garbage collector did because its workload is gone."""
        del self._existing[key]
        if wanted is not None:
            wanted.is_closed = wanted.view.is_over
            self._changes.add(key, self._pace.restore)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self._pace.sweep)
            expired = [k for k, w in self._wanted.items() if self._has_expired(w.view.end)]
            for key in expired:
                self._drop(key)
            if self._is_settled:
                for key in self._existing.keys() - self._wanted.keys():
                    if not self._is_kept(self._existing[key]):
                        self._changes.add(key)

    def _is_kept(self, record: FluxJob) -> bool:
        end = record.status.end
        return end is not None and not self._has_expired(end.timestamp())

    def _has_expired(self, end: float | None) -> bool:
        return end is not None and end + self._keep < self._clock()


def _is_newer(one: FluxJob, other: FluxJob) -> bool:
    """By their resource versions, which are growing numbers."""
    return int(one.metadata.resource_version) > int(other.metadata.resource_version)
