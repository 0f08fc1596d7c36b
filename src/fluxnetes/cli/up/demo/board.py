"""Derives the state of each entry of the demo from its FluxJob and its pods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from fluxnetes.cli.up.demo.workload import DemoEntry
from fluxnetes.cluster.labels.names import GROUP
from fluxnetes.common.reasons import ReasonCode
from fluxnetes.kube.objects.fluxjobs import FluxJob, Wrapped
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.states import ENDED, JobState

JOB_NAME = "batch.kubernetes.io/job-name"

_ENDED = {state.value for state in ENDED}
_UNSATISFIABLE = ReasonCode.UNSATISFIABLE.value
_RUNNING = JobState.RUNNING.value


@dataclass(frozen=True, slots=True)
class DemoRow:
    """One entry of the demo, as the board shows it."""

    name: str
    state: str = "submitted"
    pods: str = ""
    """While it runs: running pods / all pods."""
    nodes: str = ""
    eta: datetime | None = None
    why: str = ""
    code: str = ""
    """The code of the reason."""

    @property
    def is_known(self) -> bool:
        """Whether the queue has seen it."""
        return self.state != "submitted"

    @property
    def is_settled(self) -> bool:
        """Whether nothing more will become of it: it ended, or no node can serve it."""
        return self.state in _ENDED or self.code == _UNSATISFIABLE


def rows(
    entries: Iterable[DemoEntry], jobs: Iterable[FluxJob], pods: Iterable[Pod]
) -> list[DemoRow]:
    """A row for each entry, in their order."""
    records = {(job.spec.type, job.spec.name): job for job in jobs}
    running = _running(pods)
    return [
        _row(entry, records.get((int(entry.kind), entry.name)), running.get(_key(entry), 0))
        for entry in entries
    ]


def _row(entry: DemoEntry, record: FluxJob | None, running: int) -> DemoRow:
    if record is None or not record.status.state:
        return DemoRow(entry.name)
    status = record.status
    return DemoRow(
        entry.name,
        status.state,
        pods=f"{running}/{status.size}" if status.state == _RUNNING else "",
        nodes=status.columns.nodes,
        eta=status.eta,
        why=status.reason,
        code=status.reason_code,
    )


def _running(pods: Iterable[Pod]) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for pod in pods:
        labels = pod.metadata.labels
        for label in (GROUP, JOB_NAME):
            if label in labels and pod.status.phase == "Running":
                key = (label, labels[label])
                counts[key] = counts.get(key, 0) + 1
    return counts


def _key(entry: DemoEntry) -> tuple[str, str]:
    return (GROUP if entry.kind is Wrapped.GROUP else JOB_NAME, entry.name)
