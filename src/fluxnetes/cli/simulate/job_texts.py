"""Names of jobs and reasons in forecasts, in the words of the users of the queue.

The queue of a Kubernetes cluster counts millicores and MiB and knows jobs by number. Its users know
cpus and the names of their objects, and read the same here as in a FluxJob. A queue of gRPC callers
is written as its callers see it.
"""

from __future__ import annotations

from fluxnetes.cluster.groups import GroupKey
from fluxnetes.cluster.reason_text import KubernetesReasonText
from fluxnetes.common.reasons.text import ReasonText
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.jobs import Origin
from fluxnetes.service.views.reason_text import CallerReasonText


class JobTexts:
    """Writes about the jobs of one stored queue."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._objects = {
            job.id: GroupKey.of(job.submission.workload).name_for("")
            for job in snapshot.jobs
            if job.submission.origin is Origin.CLUSTER
        }
        is_of_cluster = bool(self._objects)
        text: ReasonText = (
            KubernetesReasonText(self._objects.get) if is_of_cluster else CallerReasonText()
        )
        self.render = text.render

    def name(self, job: int) -> str:
        """A job by its number, as in the JSON, and by the object that it stands for."""
        name = self._objects.get(job)
        return f"job {job}" if name is None else f"job {job} ({name})"
