"""Gives running groups the walltime that they ask for now.

The user of a running job changes its annotation `fluxnetes.io/walltime` or, for a Job without it,
`activeDeadlineSeconds`. The queue gives the job more or less time, within the maximum of its queue,
unless that would delay jobs that were promised a start. Kubernetes has the last word: where it ends
pods at a deadline of their own, which can only fall, more time would be a false promise, and is
refused. Either way an event says so. A walltime that was refused is asked for again when its user
changes it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import WorkloadGroup
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.common.reasons import Message, Reason, ReasonCode
from fluxnetes.controller.reporting.reporter import Reporter
from fluxnetes.controller.state import ControllerState
from fluxnetes.queue.errors import QueueError, QueueRefused
from fluxnetes.queue.events import Alter
from fluxnetes.queue.states import JobState


@dataclass(slots=True, eq=False)
class WalltimeSync:
    """Keeps the walltimes of running jobs in step with what their groups ask for."""

    shared: ControllerState
    reporter: Reporter
    _refused: dict[int, int] = field(init=False, default_factory=dict)
    """The walltime that was refused last, by job."""

    def settled(self, group: WorkloadGroup) -> None:
        """A group was looked at."""
        asked = _asked(group) if group.holding else None
        if asked is None or any(self.shared.state(p) is JobState.ENDING for p in group.holding):
            return
        for part in group.holding:
            if asked == self.shared.job(part).walltime:
                self._refused.pop(part.job, None)
            elif self._refused.get(part.job) != asked:
                self._alter(group, part, asked)

    def _alter(self, group: WorkloadGroup, part: GroupPart, walltime: int) -> None:
        refused = _ended_by_kubernetes(group, part, walltime)
        if refused is None:
            try:
                self.shared.put(Alter(part.job, walltime=walltime))
            except QueueRefused as error:
                refused = error.reason or Reason.from_text(str(error), ReasonCode.INVALID)
            except QueueError as error:
                refused = Reason.from_text(str(error), ReasonCode.INVALID)
        if refused is None:
            changed = Reason.of(Message.WALLTIME_SET, walltime=walltime)
            self.reporter.walltime_changed(group, changed)
        else:
            live = self.shared.parts
            self._refused = {job: each for job, each in self._refused.items() if job in live}
            self._refused[part.job] = walltime
            self.reporter.walltime_refused(group, refused)


def _asked(group: WorkloadGroup) -> int | None:
    """The walltime that a group asks for now; None: that of its job stays as it is.

    Of several objects without the annotation some may be gone by now, so their deadlines do not
    count any more.
    """
    if group.options.walltime is not None or len(group.workloads) != 1 or group.label_errors:
        return None if group.label_errors else group.options.walltime
    ((uid, workload),) = group.workloads.items()
    walltime: int | None = ADAPTERS[group.kinds[uid]].walltime(workload)
    return walltime if group.key.kind in ADAPTERS else None


def _ended_by_kubernetes(group: WorkloadGroup, part: GroupPart, walltime: int) -> Reason | None:
    """Why Kubernetes ends some of a part before a walltime is over."""
    limits = [
        (f"pod {group.pods[uid].pod.metadata.name}", seconds)
        for uid in part.pods.values()
        if uid in group.pods
        and (seconds := group.pods[uid].pod.spec.active_deadline_seconds) is not None
    ]
    for uid, workload in group.workloads.items():
        own = ADAPTERS[group.kinds[uid]].walltime(workload)
        if own is not None:
            limits.append((f"{group.kinds[uid].lower()} {workload.metadata.name}", own))
    shortest = min(limits, key=lambda each: each[1], default=None)
    if shortest is None or shortest[1] >= walltime:
        return None
    return Reason.of(Message.KUBERNETES_ENDS_IT, object=shortest[0], seconds=shortest[1])
