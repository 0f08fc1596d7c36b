"""Whether a snapshot of a living queue says what was written down of it."""

from __future__ import annotations

from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import ENDED


def check_snapshot(found: Snapshot, kept: Snapshot) -> None:
    """Fail if a snapshot lacks anything that matters of what a store holds, or says otherwise."""
    known = {job.id: job for job in kept.jobs}
    assert _living(found) == _living(kept)
    assert all(known[job.id] == job for job in found.jobs)
    ended = {job.id: job.state for job in kept.jobs if job.state in ENDED}
    assert dict(found.outcomes) == ended
    assert _wanted(found) <= {job.id for job in found.jobs} | set(ended)
    assert {job.id for job in found.jobs if job.state in ENDED} <= _wanted(found)
    assert {a.job: a for a in found.allocations} == {a.job: a for a in kept.allocations}
    assert {w.name: w for w in found.windows} == {w.name: w for w in kept.windows}
    assert {(u.namespace, u.user): u for u in found.usage} == {
        (u.namespace, u.user): u for u in kept.usage
    }
    assert {q.queue: q for q in found.queues} == {q.queue: q for q in kept.queues}
    assert {s.budget: s for s in found.spent} == {s.budget: s for s in kept.spent}
    assert (found.step, found.arrivals) == (kept.step, kept.arrivals)


def _living(snapshot: Snapshot) -> dict[int, QueueJob]:
    return {job.id: job for job in snapshot.jobs if job.state not in ENDED}


def _wanted(snapshot: Snapshot) -> set[int]:
    """What jobs that live depend on."""
    living = _living(snapshot).values()
    return {dependency.job for job in living for dependency in job.submission.dependencies}
