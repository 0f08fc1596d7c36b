"""Nothing lost, nothing doubled: every piece of work ended as designed, once.

Where others' pods crowded ours out, a Job may have run some of its pods again, and of pods that
no controller recreates it is only checked that they ended. And the Job controller creates a pod
twice if it got no answer to the first create.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeAlias

from tests.integration.crash.checks.crowds import Crowded, crowded_out
from tests.integration.crash.checks.evidence import Evidence
from tests.integration.crash.checks.unanswered import unanswered_pods
from tests.integration.crash.record import KubeJob, Pod, Seen, last
from tests.integration.crash.record import pods as pods_of
from tests.integration.crash.works import Fate, Work

OVERRUN = 90.0
"""Seconds by which a walltime may be overrun. The controllers of Kubernetes end a Job when they
notice its deadline, half a minute after an outage; failing that we do, a minute later."""

Complaints: TypeAlias = Iterator[str]


def wrong_ends(evidence: Evidence) -> list[str]:
    """Work that did not end as designed, or more than once."""
    crowded, unanswered = crowded_out(evidence), unanswered_pods(evidence)
    final = [seen.thing for seen in last(evidence.record).values()]
    found = []
    for work in evidence.works:
        pods = [each for each in final if isinstance(each, Pod) and each.work == work.name]
        jobs = [each for each in final if isinstance(each, KubeJob) and each.work == work.name]
        complaints = list(_judge(work, pods, jobs, crowded))
        if work.is_job and work.name not in crowded.restarted:
            complaints += _no_more_pods(work, pods, unanswered[work.name])
        found += [f"{work.name} ({work.fate.value}): {each}" for each in complaints]
    return found


def long_overruns(evidence: Evidence) -> list[str]:
    """Work that ran on long after its walltime was over."""
    limits = {w.name: w.walltime + OVERRUN for w in evidence.works if w.fate is Fate.OVERRUNS}
    began: dict[str, float] = {}
    found = []
    for seen, pod in pods_of(evidence.record):
        if pod.work not in limits:
            continue
        if pod.phase == "Running" and not pod.is_gone:
            began.setdefault(pod.uid, seen.at)
        elif pod.uid in began:
            ran = seen.at - began.pop(pod.uid)
            if ran > limits[pod.work]:
                found.append(f"{pod.name} ran for {ran:.1f} s, its walltime over for long")
    return found


def missed_changes(record: tuple[Seen, ...], versions: dict[str, int]) -> list[str]:
    """Whether the record has come as far as what the API server shows at last."""
    known = last(record)
    return [
        f"{uid} is at version {version}, which the record does not have"
        for uid, version in versions.items()
        if uid not in known or known[uid].version != version
    ]


# --- judging -----------------------------------------------------------------------------------


def _judge(work: Work, pods: list[Pod], jobs: list[KubeJob], crowded: Crowded) -> Complaints:
    if work.name in crowded.failed:
        yield from _pods_hold_nothing(pods)
    elif not work.is_job:
        yield from _JUDGES_OF_PODS[work.fate](work, pods)
    else:
        yield from _JUDGES_OF_JOBS[work.fate](work, pods, jobs)


def _pods_hold_nothing(pods: list[Pod]) -> Complaints:
    """Those that were never bound stay to be looked at."""
    yield from (f"pod {pod.name} is {_state_of(pod)}" for pod in pods if pod.holds)


def _state_of(pod: Pod) -> str:
    return "gone" if pod.is_gone else f"{pod.phase} {pod.reason}".strip()


def _all_pods(work: Work, pods: list[Pod], wanted: str, reason: str = "") -> Complaints:
    """All its pods, and no others, ended like this."""
    if len(pods) != work.pods:
        yield f"{len(pods)} pods instead of {work.pods}"
    for pod in pods:
        if pod.is_gone or (pod.phase, pod.reason) != (wanted, reason):
            yield f"pod {pod.name} is {_state_of(pod)}"


def _pods_succeed(work: Work, pods: list[Pod]) -> Complaints:
    yield from _all_pods(work, pods, "Succeeded")


def _pods_fail(work: Work, pods: list[Pod]) -> Complaints:
    yield from _all_pods(work, pods, "Failed")


def _pods_overrun(work: Work, pods: list[Pod]) -> Complaints:
    yield from _all_pods(work, pods, "Failed", "DeadlineExceeded")


def _pods_never_start(work: Work, pods: list[Pod]) -> Complaints:
    yield from (f"pod {pod.name} was bound to {pod.node}" for pod in pods if pod.node)


def _pods_go(work: Work, pods: list[Pod]) -> Complaints:
    yield from (f"pod {pod.name} is {_state_of(pod)}" for pod in pods if not pod.is_gone)


def _one_job(jobs: list[KubeJob], end: str, reason: str = "") -> Complaints:
    if len(jobs) != 1:
        yield f"{len(jobs)} Jobs instead of one"
    for job in jobs:
        if job.is_gone or job.end != end or (reason and job.reason != reason):
            state = "gone" if job.is_gone else f"{job.end or 'not over'} {job.reason}".strip()
            yield f"the Job is {state}"


def _job_succeeds(work: Work, pods: list[Pod], jobs: list[KubeJob]) -> Complaints:
    yield from _one_job(jobs, "Complete")
    for job in jobs:
        if job.succeeded < work.completions or job.failed:
            yield f"{job.succeeded} of {work.completions} succeeded, {job.failed} failed"


def _job_fails(work: Work, pods: list[Pod], jobs: list[KubeJob]) -> Complaints:
    yield from _one_job(jobs, "Failed")


def _job_overruns(work: Work, pods: list[Pod], jobs: list[KubeJob]) -> Complaints:
    yield from _one_job(jobs, "Failed", "DeadlineExceeded")


def _job_goes(work: Work, pods: list[Pod], jobs: list[KubeJob]) -> Complaints:
    yield from (f"the Job is {job.end or 'there'}" for job in jobs if not job.is_gone)
    yield from _pods_go(work, pods)


def _no_more_pods(work: Work, pods: list[Pod], unanswered: int) -> Complaints:
    """Nothing ran again that had no need to, and no index more than once."""
    ran = sum(bool(pod.node) for pod in pods)
    if ran > work.completions + unanswered:
        yield f"{ran} pods ran, where {work.completions} would have done"
    done = Counter(pod.index for pod in pods if pod.phase == "Succeeded" and pod.index)
    again = [index for index, times in done.items() if times > 1]
    if len(again) > unanswered:
        yield f"indexes were completed more than once: {', '.join(sorted(again))}"


_JUDGES_OF_PODS: dict[Fate, Callable[[Work, list[Pod]], Complaints]] = {
    Fate.SUCCEEDS: _pods_succeed,
    Fate.FAILS: _pods_fail,
    Fate.OVERRUNS: _pods_overrun,
    Fate.IMPOSSIBLE: _pods_never_start,
    Fate.DELETED: _pods_go,
}
_JUDGES_OF_JOBS: dict[Fate, Callable[[Work, list[Pod], list[KubeJob]], Complaints]] = {
    Fate.SUCCEEDS: _job_succeeds,
    Fate.FAILS: _job_fails,
    Fate.OVERRUNS: _job_overruns,
    Fate.DELETED: _job_goes,
}
