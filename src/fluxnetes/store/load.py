"""Loads the queue from the tables: the whole snapshot, single jobs, events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeAlias

from asyncpg import Record

from fluxnetes.queue.changes import (
    Allocation,
    BudgetRecord,
    JobEvent,
    QueueState,
    Snapshot,
    UsageRecord,
)
from fluxnetes.queue.jobs import Dependency, QueueJob
from fluxnetes.queue.persist.records import OUTCOMES_KEPT
from fluxnetes.queue.states import JobState
from fluxnetes.store.codec import rows
from fluxnetes.store.database import Connection
from fluxnetes.store.statements import statements

_SQL = statements("read")

ObjectName: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name of what a job stands for."""


async def load(connection: Connection) -> Snapshot:
    """All that a queue needs to resume, in one consistent read."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        counters = {r["name"]: r["value"] for r in await connection.fetch(_SQL["counters"])}
        usage = await connection.fetch(_SQL["usage"])
        queues = await connection.fetch(_SQL["queue_states"])
        spent = await connection.fetch(_SQL["spent"])
        return Snapshot(
            jobs=await _jobs(connection, [r["id"] for r in await connection.fetch(_SQL["needed"])]),
            outcomes=await _outcomes(connection),
            allocations=await _allocations(connection),
            windows=tuple(map(rows.window, await connection.fetch(_SQL["windows"]))),
            usage=tuple(
                UsageRecord(r["namespace"], r["user"], r["amount"], r["at"]) for r in usage
            ),
            queues=tuple(QueueState(r["queue"], r["stopped"], r["drained"]) for r in queues),
            spent=tuple(BudgetRecord(r["budget"], r["period"], r["amount"]) for r in spent),
            step=counters.get("step", 0),
            arrivals=counters.get("arrivals", 0),
        )


async def load_jobs(connection: Connection, ids: Iterable[int]) -> tuple[QueueJob, ...]:
    """The records of these jobs, ended or not; unknown ones are left out."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        return await _jobs(connection, list(ids))


async def load_ended(connection: Connection, workloads: Iterable[str]) -> dict[str, QueueJob]:
    """For each workload its last job that has ended; workloads without one are left out."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        found = await connection.fetch(_SQL["ended"], list(workloads))
        jobs = {job.id: job for job in await _jobs(connection, [row["id"] for row in found])}
        return {row["workload"]: jobs[row["id"]] for row in found}


async def load_last(connection: Connection, names: list[ObjectName]) -> dict[ObjectName, int]:
    """The last job of each of these objects; those that never had one are left out."""
    kinds, namespaces, objects = ([name[i] for name in names] for i in range(3))
    found = await connection.fetch(_SQL["last_of_objects"], kinds, namespaces, objects)
    return {names[row["number"] - 1]: row["id"] for row in found}


async def load_events(connection: Connection, job: int) -> list[JobEvent]:
    """The events of one job, in order."""
    return [rows.event(row) for row in await connection.fetch(_SQL["events"], job)]


async def _jobs(connection: Connection, needed: list[int]) -> tuple[QueueJob, ...]:
    dependencies: defaultdict[int, list[Dependency]] = defaultdict(list)
    for row in await connection.fetch(_SQL["dependencies"], needed):
        dependencies[row["job"]].append(rows.dependency(row))
    submissions = {
        row["id"]: rows.submission(row, dependencies[row["id"]])
        for row in await connection.fetch(_SQL["submissions"], needed)
    }
    found = await connection.fetch(_SQL["plans"], needed)
    plans = {row["job"]: rows.plan(row) for row in found}
    commitments: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for row in await connection.fetch(_SQL["commitments"], needed):
        commitments[row["job"]][row["budget"]] = row["amount"]
    return tuple(
        rows.job(row, submissions[row["id"]], plans.get(row["id"]), commitments[row["id"]])
        for row in await connection.fetch(_SQL["jobs"], needed)
    )


async def _outcomes(connection: Connection) -> tuple[tuple[int, JobState], ...]:
    rows = await connection.fetch(_SQL["outcomes"], OUTCOMES_KEPT)
    return tuple((row["id"], JobState(row["state"])) for row in rows)


async def _allocations(connection: Connection) -> tuple[Allocation, ...]:
    tasks: defaultdict[int, list[Record]] = defaultdict(list)
    for row in await connection.fetch(_SQL["tasks"]):
        tasks[row["job"]].append(row)
    found = await connection.fetch(_SQL["allocations"])
    return tuple(rows.allocation(row, tasks[row["job"]]) for row in found)
