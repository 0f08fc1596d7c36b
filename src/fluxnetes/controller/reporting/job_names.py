"""Writes reasons for users of Kubernetes, who know jobs by the names of their objects.

Another job is `job/prepare`, with its namespace where that is another one than the reader's. A job
of a gRPC caller has no object; it is named as its caller named it.
"""

from __future__ import annotations

from functools import partial

from fluxnetes.cluster.groups import GroupKey
from fluxnetes.cluster.reason_text import KubernetesReasonText
from fluxnetes.common.reasons import Reason
from fluxnetes.controller.state import ControllerState
from fluxnetes.queue.jobs import Origin, QueueJob

_FORGOTTEN = "a job that ended earlier"


def text_for(shared: ControllerState, reason: Reason | None, namespace: str) -> str:
    """A reason in words, for a reader in a namespace."""
    return KubernetesReasonText(partial(_name, shared, namespace)).render(reason)


def _name(shared: ControllerState, namespace: str, id: int) -> str:
    job = shared.scheduler.jobs.get(id)
    if job is not None and job.submission.origin is not Origin.CLUSTER:
        return f"job {job.submission.name or id} of a gRPC caller"
    key = _key(shared, id, job)
    return _FORGOTTEN if key is None else key.name_for(namespace)


def _key(shared: ControllerState, id: int, job: QueueJob | None) -> GroupKey | None:
    """The group that a job stands for, or stood for."""
    if job is not None:
        return GroupKey.of(job.submission.workload)
    # The queue forgets old jobs; others may still depend on the last one of each name.
    return next((GroupKey(*key) for key, last in shared.last_job.items() if last == id), None)
