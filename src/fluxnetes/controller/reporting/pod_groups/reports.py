"""Decides which PodGroups are written, and when: those that a group of the controller names.

A change of a group marks its PodGroups; once a second what is known of them is computed anew from
the groups as they then are. So nothing is lost, and a gang whose 1,000 pods begin to run within a
second costs one write.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from fluxnetes.cluster.groups import LABELLED, GroupKey, WorkloadGroup
from fluxnetes.controller.reporting.pod_groups.sync import PodGroupSync
from fluxnetes.controller.reporting.pod_groups.view import (
    JobFacts,
    PodGroupKey,
    PodGroupView,
    combined,
    keys_of,
    view_of,
)
from fluxnetes.controller.state import ControllerState

_SECONDS = 0.02
"""Maximum time per tick (a second) for computing views, so that rounds are not delayed."""


@dataclass(slots=True, eq=False)
class PodGroupReports:
    """Says what is known of each PodGroup; `sync` writes it."""

    shared: ControllerState
    sync: PodGroupSync
    _keys: dict[GroupKey, tuple[PodGroupKey, ...]] = field(default_factory=dict)
    """The PodGroups that each group names, of those that name any."""
    _groups: dict[PodGroupKey, dict[GroupKey, None]] = field(default_factory=dict)
    """The groups that name each PodGroup."""
    _reasons: dict[GroupKey, str] = field(default_factory=dict)
    """Why groups wait, as it was said last."""
    _changed: dict[PodGroupKey, None] = field(default_factory=dict)
    """A set in order of insertion."""
    _absent: set[PodGroupKey] = field(default_factory=set)
    """PodGroups that did not exist when they were to be written, and of whose creation no group is
    informed."""

    # -- what happens --------------------------------------------------------------------------

    def names_any(self, group: WorkloadGroup) -> bool:
        """Whether a group names a PodGroup, which may not exist."""
        return group.key in self._keys

    def changed(self, group: WorkloadGroup) -> None:
        """Something happened to a group."""
        keys, before = keys_of(group), self._keys.get(group.key, ())
        if keys != before:
            self._leave(group.key, before)
            for key in keys:
                self._groups.setdefault(key, {})[group.key] = None
            if keys:
                self._keys[group.key] = keys
        for key in keys:
            self._changed[key] = None

    def waits(self, group: WorkloadGroup, reason: str) -> None:
        """Why a group waits, in words."""
        self._reasons[group.key] = reason
        self.changed(group)

    def waits_no_longer(self, group: WorkloadGroup) -> None:
        """A group has nodes, or has ended, or is gone."""
        if self._reasons.pop(group.key, None) is not None:
            self.changed(group)

    def gone(self, group: WorkloadGroup) -> None:
        """Nothing of a group is left."""
        self._leave(group.key, self._keys.get(group.key, ()))
        self._reasons.pop(group.key, None)

    def _leave(self, group: GroupKey, keys: tuple[PodGroupKey, ...]) -> None:
        self._keys.pop(group, None)
        for key in keys:
            self._groups.get(key, {}).pop(group, None)
            self._changed[key] = None

    # -- in turn -------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Say what is known of the PodGroups that changed, as many as there is time for."""
        for key in [each for each in self._absent if self.sync.objects.find(each) is not None]:
            self._absent.discard(key)
            self._changed[key] = None
        until = time.perf_counter() + _SECONDS
        for key in self._take_changed():
            self._report(key)
            if time.perf_counter() > until:
                return

    def _take_changed(self) -> Iterator[PodGroupKey]:
        while self._changed:
            key = next(iter(self._changed))
            del self._changed[key]
            yield key

    def _report(self, key: PodGroupKey) -> None:
        known = (self.shared.model.groups.get(each) for each in self._groups.get(key, ()))
        groups = [group for group in known if group is not None]
        if not groups:
            self._groups.pop(key, None)
            self._absent.discard(key)
        if self.sync.objects.find(key) is None:
            # A group that is named by its PodGroup is looked at when that comes; others are not.
            if any(group.key.kind != LABELLED for group in groups):
                self._absent.add(key)
            self.sync.forget(key)
            return
        views = [self._view(group) for group in groups]
        self.sync.want(key, combined(views) if views else PodGroupView())
        if not views:
            self.sync.forget(key)

    def _view(self, group: WorkloadGroup) -> PodGroupView:
        facts = self._facts(group)
        blocked = group.not_queued
        is_refused = blocked is not None and blocked.is_refused
        return view_of(group, facts, self._reasons.get(group.key, ""), is_refused=is_refused)

    def _facts(self, group: WorkloadGroup) -> JobFacts | None:
        """Of the job of a group, or of its last one while no other pods have come."""
        if group.parts:
            job = self.shared.job(group.parts[0])
            return JobFacts(job.state, job.submitted)
        closed = group.closed
        if closed is None or closed.state is None:
            return None
        return JobFacts(closed.state) if all(map(group.is_closed_to, group.pods)) else None
