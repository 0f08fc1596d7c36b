"""Encodes changes of the queue as statements with their values, and sends them.

`encode` is pure, and reads the records at once, so that the queue may change them while the server
is still busy, and a commit that has to be sent twice is the same both times.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from fluxnetes.queue.changes import Allocation, Changes
from fluxnetes.queue.jobs import QueueJob, Submission
from fluxnetes.store.codec.reasons import write_reason
from fluxnetes.store.codec.rows import (
    Row,
    allocation_columns,
    dependency_rows,
    event_row,
    job_row,
    submission_row,
    task_rows,
    window_row,
)
from fluxnetes.store.database import Connection
from fluxnetes.store.statements import statements
from fluxnetes.store.system import WrittenSystem, state_row, system_row
from fluxnetes.store.write_cache import WriteCache

_SQL = statements("write")

_REQUEST = 1
"""The column of the request in the row of a submission."""
_LONGEST_MESSAGE = 64 << 20
"""Characters of requests after which another statement begins: Postgres closes the connection at a
message of a gigabyte, which looks like a server that is gone, and the same would be sent again."""


@dataclass(frozen=True, slots=True)
class StatementBatch:
    """One statement with all of its values."""

    statement: str
    columns: Sequence[Sequence[object]] = ()
    """The values as columns, for a statement that takes all rows at once."""
    rows: Sequence[Row] = ()
    """Or as rows, for one that takes them one by one."""


async def send(connection: Connection, writes: Iterable[StatementBatch]) -> None:
    """Run the statements, in order."""
    for write in writes:
        if write.rows:
            await connection.executemany(_SQL[write.statement], write.rows)
        else:
            await connection.execute(_SQL[write.statement], *write.columns)


def encode(changes: Changes, cache: WriteCache) -> list[StatementBatch]:
    """The statements that apply the changes to the tables."""
    jobs = changes.jobs.values()
    return [
        *_submissions(cache.new_submissions(jobs), cache),
        *_table("jobs", map(job_row, jobs)),
        *_plans(cache.with_new_plan(jobs)),
        *_commitments(cache.with_new_commitments(jobs)),
        *_allocations(changes, cache),
        *_windows(changes),
        *_accounts(changes),
        *_counters(changes),
        *_table("events", map(event_row, changes.events)),
    ]


def encode_system(kept: WrittenSystem, cache: WriteCache) -> list[StatementBatch]:
    """The statements, if any are needed, that bring the table `system` up to date."""
    before = cache.system
    if before is None or not before.has_graph_of(kept):
        return [StatementBatch("system", rows=[system_row(kept)])]
    writes = []
    if before.properties != kept.properties:
        writes.append(StatementBatch("system_properties", rows=[(kept.properties,)]))
    if (before.down, before.config) != (kept.down, kept.config):
        writes.append(StatementBatch("system_state", rows=[state_row(kept)]))
    return writes


def _table(statement: str, rows: Iterable[Row]) -> Iterator[StatementBatch]:
    columns = list(zip(*rows, strict=True))
    if columns:
        yield StatementBatch(statement, columns)


def _each(statement: str, rows: Iterable[Row]) -> Iterator[StatementBatch]:
    given = list(rows)
    if given:
        yield StatementBatch(statement, rows=given)


def _delete(statement: str, keys: Iterable[object]) -> Iterator[StatementBatch]:
    given = list(keys)
    if given:
        yield StatementBatch(statement, (given,))


def _submissions(new: Collection[Submission], cache: WriteCache) -> Iterator[StatementBatch]:
    for rows in _portions(map(submission_row, new)):
        yield from _table("submissions", rows)
    yield from _delete("forget_dependencies", cache.with_old_dependencies(new))
    yield from _table("dependencies", (row for each in new for row in dependency_rows(each)))


def _portions(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Submissions in portions whose requests together are not too long for one message."""
    portion: list[Row] = []
    size = 0
    for row in rows:
        portion.append(row)
        size += len(row[_REQUEST])
        if size > _LONGEST_MESSAGE:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _plans(jobs: Collection[QueueJob]) -> Iterator[StatementBatch]:
    plans = (
        (job.id, p.start, p.since, *write_reason(p.reason))
        for job in jobs
        if (p := job.plan) is not None
    )
    yield from _delete("forget_plans", (job.id for job in jobs if job.plan is None))
    yield from _table("plans", plans)


def _commitments(jobs: Collection[QueueJob]) -> Iterator[StatementBatch]:
    pairs = ((job.id, *pair) for job in jobs for pair in job.commitments.items())
    yield from _delete("forget_commitments", (job.id for job in jobs))
    yield from _table("commitments", pairs)


def _allocations(changes: Changes, cache: WriteCache) -> Iterator[StatementBatch]:
    gone = (job for job, held in changes.allocations.items() if held is None)
    held = [each for each in changes.allocations.values() if each is not None]
    moved = [each for each in held if cache.has_moved(each)]
    stayed = ((each.job, each.start, each.end) for each in held if not cache.has_moved(each))
    yield from _delete("forget_allocations", gone)
    if moved:
        yield StatementBatch("allocations", allocation_columns(moved))
    yield from _table("allocation_times", stayed)
    yield from _tasks(held, cache)


def _tasks(held: Iterable[Allocation], cache: WriteCache) -> Iterator[StatementBatch]:
    """Mark tasks that ended; write all tasks of a job only if they changed otherwise."""
    rewritten: list[Allocation] = []
    ended: list[Row] = []
    for each in held:
        tasks = cache.newly_ended_tasks(each)
        if tasks is None:
            rewritten.append(each)
        else:
            ended += ((each.job, task) for task in tasks)
    yield from _delete("forget_tasks", (each.job for each in rewritten))
    yield from _table("tasks", (row for each in rewritten for row in task_rows(each)))
    yield from _table("ended_tasks", ended)


def _windows(changes: Changes) -> Iterator[StatementBatch]:
    kept = [window for window in changes.windows.values() if window is not None]
    yield from _delete("forget_windows", (n for n, w in changes.windows.items() if w is None))
    yield from _each("window", map(window_row, kept))


def _accounts(changes: Changes) -> Iterator[StatementBatch]:
    usage, queues, spent = changes.usage.values(), changes.queues.values(), changes.spent.values()
    yield from _table("usage", ((u.namespace, u.user, u.amount, u.at) for u in usage))
    yield from _table("queue_states", ((q.queue, q.stopped, q.drained) for q in queues))
    yield from _table("spent", ((s.budget, s.period, s.amount) for s in spent))


def _counters(changes: Changes) -> Iterator[StatementBatch]:
    counters: list[Row] = []
    if changes.step is not None:
        counters.append(("step", changes.step))
    if changes.jobs:
        counters.append(("arrivals", max(job.arrival for job in changes.jobs.values())))
    yield from _table("counters", counters)
