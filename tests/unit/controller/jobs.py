"""The Job controller as schedulers see it: makes pods, counts how they end, finishes Jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from fluxnetes.kube.objects.base import Condition
from fluxnetes.kube.objects.jobs import Job, JobStatus
from fluxnetes.kube.objects.pods import Pod
from tests.unit.cluster.builders import pod_of

if TYPE_CHECKING:
    from tests.unit.controller.cluster import Cluster


class JobController:
    """One look at one Job."""

    def __init__(self, cluster: Cluster, job: Job) -> None:
        self._cluster = cluster
        self._job = job
        owned = (p for p in cluster.pods.values() if _is_of(p, job))
        self._pods = list(owned)
        self._live = [p for p in self._pods if not p.is_over and not _goes(p)]

    def look(self) -> None:
        job = self._job
        if job.end is not None:
            self._clear_away()
            return
        status = self._counted()
        if job.spec.suspend:
            self._clear_away()
            self._live.clear()
            status = replace(status, active=0, start_time=None)
        self._say(status)
        if not self._finish(status) and not job.spec.suspend:
            self._make(status)

    def _clear_away(self) -> None:
        for pod in self._live:
            self._cluster.delete_pod(pod.metadata.uid, counts=False)

    def _say(self, status: JobStatus) -> None:
        if status != self._job.status:
            self._job = self._cluster.put(replace(self._job, status=status))

    def _counted(self) -> JobStatus:
        """Pods that are over are counted once, and stay to be looked at."""
        tally = self._cluster.tally.setdefault(self._job.metadata.uid, {})
        for pod in self._pods:
            if pod.is_over:
                tally[pod.metadata.uid] = pod.status.phase == "Succeeded"
        done, known = sum(tally.values()), self._job.status
        if len(tally) - done > known.failed:
            self._cluster.failures[self._job.metadata.uid] = self._cluster.now
        return replace(
            self._job.status,
            active=len(self._live),
            succeeded=done,
            failed=len(tally) - done,
            start_time=self._job.status.start_time or self._cluster.moment,
        )

    def _finish(self, status: JobStatus) -> bool:
        spec = self._job.spec
        end = None
        if status.failed > (6 if spec.backoff_limit is None else spec.backoff_limit):
            end = Condition("Failed", "True", "BackoffLimitExceeded")
        elif self._is_late(status):
            end = Condition("Failed", "True", "DeadlineExceeded")
        elif spec.completions is None:
            if status.succeeded and not self._live:
                end = Condition("Complete", "True")
        elif status.succeeded >= spec.completions:
            end = Condition("Complete", "True")
        if end is not None:
            self._clear_away()
            self._say(replace(status, active=0, conditions=(*status.conditions, end)))
        return end is not None

    def _is_late(self, status: JobStatus) -> bool:
        deadline = self._job.spec.active_deadline_seconds
        if deadline is None or status.start_time is None:
            return False
        return self._cluster.now - status.start_time.timestamp() >= deadline

    def _make(self, status: JobStatus) -> None:
        spec = self._job.spec
        wanted = spec.parallelism
        if spec.completions is not None:
            wanted = min(wanted, spec.completions - status.succeeded)
        elif status.succeeded:
            wanted = 0
        for pod in self._live[max(0, wanted) :]:
            self._cluster.delete_pod(pod.metadata.uid, counts=False)
        if self._hesitates():
            return
        numbers = self._free_numbers()
        for _ in range(wanted - len(self._live)):
            self._make_one(next(numbers))

    def _hesitates(self) -> bool:
        failed = self._cluster.failures.get(self._job.metadata.uid, 0)
        return self._cluster.now < failed + self._cluster.hesitation

    def _free_numbers(self) -> Iterator[int | None]:
        spec, number = self._job.spec, 0
        used = {_number(p) for p in self._live}
        used |= {_number(p) for p in self._pods if p.status.phase == "Succeeded"}
        while True:
            if spec.completion_mode != "Indexed":
                yield None
            elif number not in used:
                yield number
            number += 1

    def _make_one(self, number: int | None) -> None:
        cluster = self._cluster
        cluster.made += 1
        name = f"{self._job.metadata.name}-{cluster.made}"
        pod = pod_of(self._job, name, uid=f"pod-{cluster.made}", index=number, cpu=cluster.usual)
        cluster.put(pod)


def _is_of(pod: Pod, job: Job) -> bool:
    owner = pod.metadata.controller
    return owner is not None and owner.uid == job.metadata.uid


def _goes(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def _number(pod: Pod) -> int:
    text = pod.metadata.labels.get("batch.kubernetes.io/job-completion-index", "-1")
    return int(text)
