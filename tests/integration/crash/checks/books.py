"""Nothing leaked, nothing queued twice: what the tables and the FluxJobs say when all is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fluxnetes.queue.states import ENDED
from tests.integration.crash.checks.crowds import crowded_out
from tests.integration.crash.checks.evidence import Evidence, Row
from tests.integration.crash.checks.unanswered import unanswered_pods
from tests.integration.crash.works import Fate, Kind, Work

_STATES = {
    Fate.SUCCEEDS: "completed",
    Fate.FAILS: "failed",
    Fate.OVERRUNS: "timed out",
    Fate.IMPOSSIBLE: "pending",
}
_ENDED = {state.value for state in ENDED}


def leaks(evidence: Evidence) -> list[str]:
    """What is left of jobs that are over."""
    tables = [f"{count} rows are left in {name}" for name, count in evidence.left.items() if count]
    waits = {work.name for work in evidence.works if work.fate is Fate.IMPOSSIBLE}
    alive = [r for r in evidence.rows if r.state not in _ENDED and r.name not in waits]
    return tables + [f"job {row.id} of {row.workload} is {row.state}" for row in alive]


def wrong_jobs(evidence: Evidence) -> list[str]:
    """Work that was queued twice or never, or of which the queue says something else."""
    by_name: dict[str, list[Row]] = {}
    for row in evidence.rows:
        by_name.setdefault(row.name, []).append(row)
    crowded, unanswered = crowded_out(evidence), unanswered_pods(evidence)
    found = []
    for work in evidence.works:
        rows = by_name.pop(work.name if not _is_lone_pod(work.kind) else f"{work.name}-0", [])
        again = work.name in crowded.restarted or bool(unanswered[work.name])
        found += _wrong_count(work, rows, again)
        if rows and work.name not in crowded.failed:
            found += _wrong_state(work, rows[0])
    return found + [f"{name} was queued, but never submitted" for name in by_name]


def _wrong_count(work: Work, rows: list[Row], again: bool) -> list[str]:
    """Once, or perhaps more often: pods that a Job makes in place of others may find their seats
    taken, and are then queued by themselves."""
    if not work.is_ours:
        return [f"{work.name} is not ours, and was queued" for _ in rows]
    may_want_more = work.is_job and (again or work.rounds > 1 or work.fate is Fate.FAILS)
    is_missing = not rows and work.fate is not Fate.DELETED
    if is_missing or (len(rows) > 1 and not may_want_more):
        return [f"{work.name} was queued {len(rows)} times{_listed(rows)}"]
    return []


def _wrong_state(work: Work, row: Row) -> list[str]:
    expected = _STATES.get(work.fate, row.state)
    if row.state == expected:
        return []
    return [f"{work.name} ({work.fate.value}): the queue says {row.state}, {row.reason!r}"]


def wrong_fluxjobs(evidence: Evidence) -> list[str]:
    """Workloads with more than one FluxJob, with none, or with one that tells another end."""
    counts = Counter(each.workload for each in evidence.fluxjobs)
    found = [f"{workload} has {n} FluxJobs" for workload, n in counts.items() if n > 1]
    reported = {each.name for each in evidence.fluxjobs}
    for work in evidence.works:
        needed = work.is_ours and not _is_lone_pod(work.kind) and work.fate is not Fate.DELETED
        if needed and work.name not in reported:
            found.append(f"{work.name} has no FluxJob")
    states = {row.id: row.state for row in evidence.rows}
    return found + [
        f"the FluxJob of {each.name} says {each.state}, the queue {states[each.id]}"
        for each in evidence.fluxjobs
        if each.id in states and states[each.id] != each.state
    ]


def _is_lone_pod(kind: Kind) -> bool:
    return kind is Kind.SINGLE


def _listed(rows: Iterable[Row]) -> str:
    words = "; ".join(f"{row.id}: {row.state}, {row.reason!r}" for row in rows)
    return f" ({words})" if words else ""
