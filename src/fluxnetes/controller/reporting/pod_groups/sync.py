"""Writes the status of PodGroups, each when our own view of it has changed.

    want ──▶ delay queue ──▶ compare with the object ──▶ throttle ──▶ patch of the status

The reports say what is known of a PodGroup as often as they like. A moment later it is compared
with the object, and what differs is written. A view is compared with an object once: what another
controller writes there later is left alone until our view changes, or the PodGroup is another one
of that name. So two controllers that disagree write as often as pods change, and no more.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fluxnetes.common.backoff import Backoff, RetryTiming
from fluxnetes.controller.reporting.delay_queue import DelayQueue
from fluxnetes.controller.reporting.pod_groups.native import native_status
from fluxnetes.controller.reporting.pod_groups.plugins import plugins_status
from fluxnetes.controller.reporting.pod_groups.view import (
    PodGroupKey,
    PodGroupObjects,
    PodGroupView,
)
from fluxnetes.controller.reporting.throttle import WriteThrottle
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import Conflict, KubeError, NotFound, TemporaryError
from fluxnetes.kube.objects.base import Resource
from fluxnetes.kube.objects.podgroups import (
    NATIVE_POD_GROUPS,
    POD_GROUPS,
    NativePodGroup,
    PodGroup,
)
from fluxnetes.kube.patches import ObjectPatch

_log = logging.getLogger("fluxnetes.controller")


@dataclass(frozen=True, slots=True)
class PodGroupSyncTiming:
    """In seconds, but for the last."""

    settle: float = 0.5
    """How long a change waits for further changes."""
    first_reason: float = 2.0
    """How long a group waits before it is written that it does: most start at once."""
    reason: float = 15.0
    """Minimum time between two writes of which only the reason differs."""
    a_second: float = 50.0
    """Maximum writes per second, of all PodGroups."""


@dataclass(slots=True)
class _Wanted:
    view: PodGroupView
    since: float
    """When the first change was wanted that is not written yet."""
    written: tuple[str, PodGroupView] | None = None
    """What was last compared with the object, and the object's uid."""
    written_at: float = float("-inf")
    is_last: bool = False
    """No other view follows: no group names the PodGroup any more."""


class PodGroupSync:
    """Writes what is wanted while `run` runs."""

    def __init__(
        self,
        client: KubeClient,
        throttle: WriteThrottle,
        objects: PodGroupObjects,
        pace: PodGroupSyncTiming | None = None,
        timing: RetryTiming | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.objects = objects
        self._client, self._throttle, self._clock = client, throttle, clock
        self._pace = pace or PodGroupSyncTiming()
        self._timing = timing or RetryTiming()
        self._wanted: dict[PodGroupKey, _Wanted] = {}
        self._delays: DelayQueue[PodGroupKey] = DelayQueue()
        self._refused: set[str] = set()
        """Kinds of refusals that were logged."""
        self.writes = 0

    def want(self, key: PodGroupKey, view: PodGroupView) -> None:
        """What is known of a PodGroup from now on; repeating the same costs nothing."""
        known, now = self._wanted.get(key), time.monotonic()
        if known is None:
            known = self._wanted[key] = _Wanted(view, now)
        elif known.view != view or known.is_last:
            if self._is_done(known):
                known.since = now
            known.view, known.is_last = view, False
        elif not self._is_another_object(key, known):
            return
        self._delays.add(key, self._delay(known, now))

    def forget(self, key: PodGroupKey) -> None:
        """No group names the PodGroup any more; what was wanted last is still written."""
        known = self._wanted.get(key)
        if known is not None and (self._is_done(known) or self.objects.find(key) is None):
            del self._wanted[key]
        elif known is not None:
            known.is_last = True

    async def run(self) -> None:
        """Write until cancelled."""
        backoff = Backoff("writing the status of PodGroups", self._timing)
        while True:
            key = await self._delays.next()
            try:
                has_written = await self._sync(key)
            except TemporaryError as error:
                self._delays.add(key)
                await backoff.pause(str(error))
            except Conflict:  # it has changed, and the informer will show how
                self._delays.add(key, self._pace.settle)
            else:
                backoff.over()
                await asyncio.sleep(1 / self._pace.a_second if has_written else 0)

    def _delay(self, known: _Wanted, now: float) -> float:
        view, pace = known.view, self._pace
        before = known.written[1] if known.written is not None else None
        if before is not None and before.without_reason == view.without_reason and before.reason:
            return max(known.written_at + pace.reason - now, pace.settle)
        return pace.first_reason if view.reason and before is None else pace.settle

    def _is_done(self, known: _Wanted) -> bool:
        return known.written is not None and known.written[1] == known.view

    def _is_another_object(self, key: PodGroupKey, known: _Wanted) -> bool:
        found = self.objects.find(key)
        return found is not None and known.written != (found.metadata.uid, known.view)

    async def _sync(self, key: PodGroupKey) -> bool:
        """Write what differs, if anything; whether that needed a write."""
        wanted = self._wanted.get(key)
        if wanted is None or self._update(key, wanted) is None:
            self._note_written(key, wanted)
            return False
        await self._throttle.turn(wanted.since)
        update = self._update(key, wanted)  # it may have changed while this waited for its turn
        self._note_written(key, wanted)
        if update is None:
            return False
        try:
            await self._patch(key, *update)
        except (TemporaryError, Conflict):
            wanted.written = None
            self._wanted.setdefault(key, wanted)
            raise
        return True

    def _update(
        self, key: PodGroupKey, wanted: _Wanted
    ) -> tuple[Resource[Any], ObjectPatch] | None:
        """What is to be written, and to which kind."""
        found = self.objects.find(key)
        if found is None or wanted.written == (found.metadata.uid, wanted.view):
            return None
        patch = (
            native_status(found, wanted.view, self._clock())
            if isinstance(found, NativePodGroup)
            else plugins_status(found, wanted.view)
        )
        return None if patch is None else (_resource(found), patch)

    def _note_written(self, key: PodGroupKey, wanted: _Wanted | None) -> None:
        """The view was compared with the object, if there is one."""
        found = self.objects.find(key)
        if wanted is None:
            return
        if found is not None:
            wanted.written = (found.metadata.uid, wanted.view)
            wanted.written_at = time.monotonic()
        if wanted.is_last:
            self._wanted.pop(key, None)

    async def _patch(self, key: PodGroupKey, resource: Resource[Any], patch: ObjectPatch) -> None:
        self.writes += 1
        try:
            await self._client.patch(resource, key.name, patch, key.namespace, "status")
        except NotFound:
            pass  # it is gone, or its kind has no status
        except (TemporaryError, Conflict):
            raise
        except KubeError as error:
            self._log_refusal(resource, error)

    def _log_refusal(self, resource: Resource[Any], error: KubeError) -> None:
        """Log once what will be refused for all PodGroups, such as a permission that is missing."""
        what = f"{resource.api_version} {type(error).__name__}"
        level = logging.DEBUG if what in self._refused else logging.WARNING
        self._refused.add(what)
        _log.log(level, "cannot write the status of a PodGroup: %s", error)


def _resource(found: NativePodGroup | PodGroup) -> Resource[Any]:
    """The kind of a PodGroup, in the version in which it was read."""
    return next((each for each in NATIVE_POD_GROUPS if each.type is type(found)), POD_GROUPS)
