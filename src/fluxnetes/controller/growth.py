"""Resumes Jobs that lack nodes, so that an autoscaler sees their pods.

A Job that waits suspended has no pods, and autoscalers count pods. Where its queue says so
(`QueueConfig.resume_for_growth`), a Job that lacks nodes is resumed while it waits. Only our
scheduler binds its pods, so they wait like those of a Job that was never suspended, and the queue
decides as before.

A Job with a deadline stays suspended, since its deadline would run. It is not suspended again when
it lacks nodes no longer: that would delete its pods.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import WorkloadGroup
from fluxnetes.controller.actions.queue import ActionQueue
from fluxnetes.controller.deadlines import release
from fluxnetes.controller.reporting.events import EventRecorder, about
from fluxnetes.controller.state import ControllerState
from fluxnetes.queue.jobs import QueueJob

_AFTER = 5
"""Seconds for which a Job waits suspended: most start sooner, and a Job may have 10,000 pods."""
_NOTE = "Resumed while it waits: it lacks nodes, for which an autoscaler looks at its pods"


@dataclass(frozen=True, slots=True)
class GrowthResumer:
    """Resumes what lacks nodes and has no pods."""

    shared: ControllerState
    actions: ActionQueue
    events: EventRecorder

    def lacks_nodes(self, group: WorkloadGroup, job: QueueJob) -> None:
        """A group waits for nothing but nodes, and its queue may grow."""
        # One that nothing can serve was never eligible.
        since = job.submitted if job.eligible is None else job.eligible
        if self.shared.now - since < _AFTER or not self._may_resume(group, job):
            return
        for uid, workload in group.workloads.items():
            adapter = ADAPTERS[group.kinds[uid]]
            if adapter.is_waiting_for_us(workload):
                for action in release(self.shared, group, uid):
                    self.actions.request(action)
                self.events.record(about(adapter.resource, workload), "Resumed", _NOTE)

    def _may_resume(self, group: WorkloadGroup, job: QueueJob) -> bool:
        queues = self.shared.scheduler.config.queues
        is_on = any(each.name == job.queue and each.resume_for_growth for each in queues)
        return is_on and not any(
            ADAPTERS[group.kinds[uid]].counts_while_waiting(workload)
            for uid, workload in group.workloads.items()
        )
