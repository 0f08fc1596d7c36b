"""Decides which groups have a FluxJob, and updates it.

Every group has one, whether it is in the queue or not. A single pod has one only once it has waited
for some seconds: most start at once, and each FluxJob costs two writes.

The FluxJobs of a started group follow its pods. Those that the previous term left are taken over
when all groups were looked at; before that, it is unknown which of them are still wanted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fluxnetes.cluster.groups import LABELLED, POD, GroupKey, NotQueued, WorkloadGroup
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.common.reasons import Message, Reason, code_of
from fluxnetes.controller.reporting.fluxjob_builder import (
    PodPlaces,
    WaitForecast,
    places_of,
    view_of_job,
    view_of_unqueued,
)
from fluxnetes.controller.reporting.fluxjob_sync import FluxJobSync
from fluxnetes.controller.reporting.job_names import text_for
from fluxnetes.controller.state import ControllerState
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import ENDED, WAITING

_POD_WAITS_FOR = 5
"""Seconds after which a single pod that waits has a FluxJob."""


@dataclass(slots=True, eq=False)
class FluxJobReports:
    """Says what the FluxJob of each group is to be; `sync` writes it."""

    shared: ControllerState
    sync: FluxJobSync
    _pods: set[GroupKey] = field(default_factory=set)
    """Single pods that have a FluxJob."""
    _places: dict[GroupKey, PodPlaces] = field(default_factory=dict)
    """Where the pods of started groups are; a FluxJob names the nodes after the end, too."""
    _pods_changed: dict[GroupKey, None] = field(default_factory=dict)
    """Started groups whose pods may be elsewhere by now; a set in order of insertion."""
    _unseen: set[GroupKey] | None = field(default_factory=set)
    """Groups that were there when the term began, and that no round has looked at yet; None: the
    FluxJobs of the previous term are taken over."""
    _ended_before: dict[GroupKey, QueueJob] = field(default_factory=dict)
    """Jobs of single pods that ended before the term, until FluxJobs are taken over."""

    # -- what happens --------------------------------------------------------------------------

    def term_started(self, ended: Iterable[tuple[WorkloadGroup, QueueJob]]) -> None:
        """Update the FluxJobs of all groups that are queued or run, or have ended.

        The previous term may not have reported some of the ends; without this, their FluxJobs would
        say for ever that they run.
        """
        self._unseen = set(self.shared.model.groups)
        for group, job in ended:
            self.want(group, job, None)
            if group.key.kind == POD:
                self._ended_before[group.key] = job
        for group, part in self.shared.parts.values():
            self.want(group, self.shared.job(part), part)

    def group_settled(self, group: WorkloadGroup) -> None:
        """A round looked at a group; its pods may have changed."""
        if self._unseen:
            self._unseen.discard(group.key)
        if group.parts and self._has_one(group):
            self._pods_changed[group.key] = None

    def forget(self, group: WorkloadGroup) -> None:
        """Nothing of a group is left."""
        self._pods.discard(group.key)
        self._places.pop(group.key, None)
        self.sync.forget(group.reference)

    def take_pods_changed(self) -> list[GroupKey]:
        """Started groups whose pods may have changed since the last call."""
        changed, self._pods_changed = self._pods_changed, {}
        return list(changed)

    def follow_pods(self, key: GroupKey) -> None:
        """Update the nodes of a started group."""
        group = self.shared.model.groups.get(key)
        part = group.leading if group is not None else None
        if group is not None and part is not None and part.holds:
            self.want(group, self.shared.job(part), part)

    # -- at the beginning of a term ------------------------------------------------------------

    def take_over(self) -> None:
        """Once all groups were looked at: keep the FluxJobs of those that are not queued, and of
        single pods that had waited; others that are not wanted may be deleted."""
        if self._unseen is None or self._unseen or not self.sync.is_listed:
            return
        self._unseen = None
        for reference in self.sync.unwanted():
            group = self.shared.model.groups.get(GroupKey.of(reference))
            if group is not None:
                self._take_over(group)
        self._ended_before.clear()
        self.sync.settle()

    def _take_over(self, group: WorkloadGroup) -> None:
        if group.key.kind == POD:
            self._pods.add(group.key)
        ended = self._ended_before.get(group.key)
        if group.leading is not None:
            self.want(group, self.shared.job(group.leading), group.leading)
        elif group.not_queued is not None:
            self.want_unqueued(group, group.not_queued)
        elif ended is not None:
            self.want(group, ended, None)

    # -- what it says --------------------------------------------------------------------------

    def want(
        self,
        group: WorkloadGroup,
        job: QueueJob,
        part: GroupPart | None,
        forecast: WaitForecast | None = None,
    ) -> None:
        """Update the FluxJob of a group that is or was in the queue."""
        waits = job.state in WAITING
        if not (self._has_one_if_it_waits(group) if waits else self._has_one(group)):
            return
        if group.leading is not None and group.leading.job != job.id:
            return  # the FluxJob of a group with several parts is about one of them
        if group.is_deleted and group.key.kind != LABELLED:
            return  # the FluxJob was deleted with its workload
        if forecast is None:
            text = text_for(self.shared, job.reason, group.key.namespace)
            forecast = WaitForecast(text, code_of(job.reason))
        view = view_of_job(group, job, part, self._places_of(group, job, part), forecast)
        self.sync.want(group.reference, view)

    def want_unqueued(self, group: WorkloadGroup, blocked: NotQueued) -> None:
        """Update the FluxJob of a group that is not in the queue."""
        if self._has_one_if_it_waits(group) and not group.is_deleted:
            reason = reason_of(blocked)
            text = text_for(self.shared, reason, group.key.namespace)
            view = view_of_unqueued(group, blocked, WaitForecast(text, code_of(reason)))
            self.sync.want(group.reference, view)

    def _has_one(self, group: WorkloadGroup) -> bool:
        return group.key.kind != POD or group.key in self._pods

    def _has_one_if_it_waits(self, group: WorkloadGroup) -> bool:
        """The same for a group that waits; a single pod has one from now on if it has waited."""
        if not self._has_one(group) and _age(group, self.shared.now) >= _POD_WAITS_FOR:
            self._pods.add(group.key)
        return self._has_one(group)

    def _places_of(
        self, group: WorkloadGroup, job: QueueJob, part: GroupPart | None
    ) -> PodPlaces | None:
        """Where the pods of a group are or, when it ends, were."""
        if job.state in WAITING or job.state in ENDED:
            before = self._places.pop(group.key, None)
            return before if job.state in ENDED else None
        if part is not None and part.holds:
            places, before = places_of(group), self._places.get(group.key)
            if places.nodes or before is None:
                self._places[group.key] = places.after(before)
        return self._places.get(group.key)


def reason_of(blocked: NotQueued) -> Reason:
    """Why a group is not in the queue, and whether that can change by itself."""
    message = Message.REFUSED if blocked.is_refused else Message.WAITS
    return Reason.of(message, reason=blocked.reason).coded(blocked.reason.code)


def _age(group: WorkloadGroup, now: int) -> float:
    """Seconds since the pods of a group were created."""
    created = [m.pod.metadata.creation_timestamp for m in group.pods.values()]
    return max((now - each.timestamp() for each in created if each is not None), default=0.0)
