"""Follows groups that run without some of their pods, and ends that if they ask for it.

A pod of a running gang is lost, by a drain for example, and no node has capacity for its
replacement. The replacement is queued as a part of its own, before all other jobs of its queue
(`submission`). Meanwhile the rest of the gang most likely waits for it, and holds its nodes. So the
job says at once that it is incomplete; and if that lasts for too long, its annotation decides:

    wait       nothing more happens (the default)
    requeue    the whole group is returned to the queue, and starts again when all of it fits
    fail       the whole group fails
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fluxnetes.cluster.demand import MissingPods, missing_pods
from fluxnetes.cluster.groups import GroupKey, WorkloadGroup
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.common.reasons import Reason, ReasonCode
from fluxnetes.controller.reconcile import Reconciler
from fluxnetes.controller.reporting.reporter import Reporter
from fluxnetes.controller.state import ControllerState
from fluxnetes.queue.events import Note, PartsLost
from fluxnetes.queue.states import JobState


@dataclass(slots=True, eq=False)
class IncompleteGroups:
    """The groups that run incomplete."""

    shared: ControllerState
    reconciler: Reconciler
    reporter: Reporter
    _since: dict[GroupKey, float] = field(init=False, default_factory=dict)
    """Since when each of them does; monotonic seconds."""

    def settled(self, group: WorkloadGroup) -> None:
        """A group was looked at."""
        if not group.parts and group.key not in self._since:
            return
        lacks = self._missing(group)
        reason = lacks.reason if lacks is not None else None
        if reason is None:
            self._since.pop(group.key, None)
        elif group.key not in self._since:
            self._since[group.key] = self.shared.clock
            self.reporter.group_incomplete(group, reason)
        self._note(group, reason)

    def check(self) -> None:
        """Act on groups that have been incomplete for too long."""
        timeout = self.shared.settings.incomplete
        for key, since in list(self._since.items()):
            group = self.shared.model.groups.get(key)
            if group is None:
                del self._since[key]
                continue
            lacks = self._missing(group)
            if lacks is None:
                del self._since[key]
                self._note(group, None)
            elif self.shared.clock - since >= timeout:
                self._act(group, lacks.reason)

    def _act(self, group: WorkloadGroup, reason: Reason) -> None:
        action = group.options.incomplete
        for part in self._running(group):
            if action == "requeue":
                self.reconciler.give_up(group, part, reason)
            elif action == "fail":
                self.shared.send(PartsLost((part.job,), reason, fail=True))
                self.shared.request_reconcile(group)

    def _missing(self, group: WorkloadGroup) -> MissingPods | None:
        """The pods that a group lacks, if it has run as a whole and is not about to end."""
        running = self._running(group)
        if len(running) < len(group.holding):
            return None
        was_whole = any(self.shared.state(part) is JobState.RUNNING for part in running)
        return missing_pods(group) if was_whole else None

    def _running(self, group: WorkloadGroup) -> list[GroupPart]:
        live = (JobState.ALLOCATED, JobState.RUNNING)
        return [p for p in group.holding if self.shared.state(p) in live and not p.returning]

    def _note(self, group: WorkloadGroup, reason: Reason | None) -> None:
        """Have the group's job say that it is incomplete, or no longer so."""
        for part in self._running(group)[:1]:
            known = self.shared.job(part).reason
            if known != reason and (reason is not None or _is_ours(known)):
                self.shared.send(Note(part.job, reason))


def _is_ours(reason: Reason | None) -> bool:
    return reason is not None and reason.code is ReasonCode.INCOMPLETE
