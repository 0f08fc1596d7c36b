"""Compares the ends of jobs with what Kubernetes says of them.

The recorder watches the cluster in place of the controller, and misses nothing: it notes the last
state of every Job and pod, and what was deleted. It knows no groups, parts or seats, and takes from
the queue only which object a job stands for, and how it ended. The truth:

- a Job that is Complete has completed, one that Failed has failed or, at its deadline, timed out;
- a Job that was deleted before that was cancelled, and one that still lives has not ended;
- a pod by itself by its phase; one that was deleted did not complete, whatever phase its kubelet
  wrote before it was gone.
"""

from __future__ import annotations

from collections.abc import Iterator

from fluxnetes.controller.decisions import is_withdrawn
from fluxnetes.kube.cache import ChangeKind
from fluxnetes.kube.objects.jobs import Job
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import ENDED, JobState
from tests.unit.controller.cluster import Cluster, News

_ALL_BUT_COMPLETED = ENDED - {JobState.COMPLETED}


class TruthRecorder:
    """Sees everything that happens in a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._last: dict[str, Job | Pod] = {}
        self._deleted: set[str] = set()
        self._had_gap = False
        cluster.witness = self._see

    def _see(self, news: News) -> None:
        if isinstance(news.object, Job | Pod):
            uid = news.object.metadata.uid
            self._last[uid] = news.object
            if news.change is ChangeKind.DELETED:
                self._deleted.add(uid)

    def expect_lost_time(self) -> None:
        """No controller sees what happens for a while: how a thing ended that is gone by then."""
        self._had_gap = True

    def contradictions(self, jobs: list[QueueJob]) -> list[str]:
        """Jobs of the queue that ended otherwise than what they stand for."""
        return [
            f"job {job.id} for {job.submission.workload} is {job.state.value} ({job.reason}); "
            f"by Kubernetes it is {' or '.join(sorted(state.value for state in truth))}"
            for job, truth in self._judged(jobs)
            if job.state in ENDED and job.state is not JobState.REJECTED and job.state not in truth
        ]

    def _judged(self, jobs: list[QueueJob]) -> Iterator[tuple[QueueJob, frozenset[JobState]]]:
        for job in jobs:
            if is_withdrawn(job):
                continue  # another job stands for the same
            kind, *_, uid = job.submission.workload.split("/")
            last = self._last.get(uid)
            unseen = {JobState.CANCELLED} if self._had_gap and uid in self._deleted else set()
            if kind == "Job" and isinstance(last, Job):
                yield job, self._truth_of_job(last) | unseen
            elif kind == "Pod" and isinstance(last, Pod):
                yield job, self._truth_of_pod(last) | unseen

    def _truth_of_job(self, job: Job) -> frozenset[JobState]:
        end = job.end
        if end is not None:
            if end.type == "Complete":
                return frozenset({JobState.COMPLETED})
            is_late = end.reason == "DeadlineExceeded"
            return frozenset({JobState.TIMED_OUT if is_late else JobState.FAILED})
        if job.metadata.uid not in self._deleted:
            return frozenset()
        done = job.spec.completions is None or self._succeeded(job) >= job.spec.completions
        # Deleted within the moment between the end of its last pod and the word of its controller.
        return frozenset({JobState.CANCELLED, *([JobState.COMPLETED] if done else [])})

    def _succeeded(self, job: Job) -> int:
        """How many pods of a Job succeeded, whether it has counted them or not."""
        uid, pods = job.metadata.uid, (p for p in self._last.values() if isinstance(p, Pod))
        owners = (p.metadata.controller for p in pods if p.status.phase == "Succeeded")
        return max(job.status.succeeded, sum(o is not None and o.uid == uid for o in owners))

    def _truth_of_pod(self, pod: Pod) -> frozenset[JobState]:
        if pod.status.phase == "Succeeded":
            # One that succeeds while it is deleted may be gone before a controller looks.
            is_going = pod.metadata.deletion_timestamp is not None
            return frozenset({JobState.COMPLETED, *([JobState.CANCELLED] if is_going else [])})
        if pod.status.phase == "Failed" and pod.metadata.deletion_timestamp is None:
            is_late = pod.status.reason == "DeadlineExceeded"
            return frozenset({JobState.TIMED_OUT if is_late else JobState.FAILED})
        return _ALL_BUT_COMPLETED if pod.metadata.uid in self._deleted else frozenset()
