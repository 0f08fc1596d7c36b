"""Views of jobs, with little in them."""

from __future__ import annotations

from typing import Any

from fluxnetes.controller.reporting.fluxjob_view import FluxJobView
from fluxnetes.kube.objects.fluxjobs import Wrapped
from fluxnetes.queue.states import JobState


def a_view(namespace: str, name: str, **fields: Any) -> FluxJobView:
    """A job of two pods that waits."""
    given = {
        "kind": Wrapped.JOB,
        "state": JobState.PENDING,
        "reason": "all nodes are busy",
        "queue": "default",
        "position": 3,
        "eta": 2_000_000_000,
        "walltime": 600,
        "size": 2,
        "job_id": 7,
        **fields,
    }
    return FluxJobView(namespace, name, **given)
