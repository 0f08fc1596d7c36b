"""Encodes the queue's records as rows of tables, and decodes them.

Each pair of functions belongs to one table: `..._row` returns the values of a row in the order of
the statement that writes it (`sql/write.sql`), and the other builds the record from a row that was
read. A record that is read equals the one that was written.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from fluxnetes.graph.placement import Placement
from fluxnetes.match.gang.model import Seats
from fluxnetes.queue.changes import Allocation, JobEvent, NodeWindow
from fluxnetes.queue.jobs import (
    Dependency,
    DependencyKind,
    ElasticSize,
    JobArray,
    OnLoss,
    Origin,
    PlannedStart,
    QueueJob,
    Submission,
)
from fluxnetes.queue.states import EndCause, JobState
from fluxnetes.store.codec.reasons import read_reason, write_reason
from fluxnetes.store.codec.requests import (
    decode_constraint,
    decode_request,
    encode_constraint,
    encode_request,
    to_json,
)

Row: TypeAlias = tuple[Any, ...]


class StoredRow(Protocol):
    """A row that was read."""

    def __getitem__(self, column: str, /) -> Any: ...


def submission_row(submission: Submission) -> Row:
    size, array = submission.size, submission.array
    return (
        submission.id,
        encode_request(submission.request),
        submission.walltime,
        submission.queue,
        submission.user,
        submission.namespace,
        submission.name,
        submission.job_class,
        submission.priority,
        submission.held,
        submission.gathering,
        submission.begin,
        size.min if size else None,
        size.max if size else None,
        array.tasks if array else None,
        array.at_once if array else None,
        submission.reservation,
        submission.preemptible,
        submission.requeue,
        submission.min_runtime,
        submission.on_loss.value,
        submission.workload,
        submission.origin.value,
    )


def submission(row: StoredRow, dependencies: Iterable[Dependency]) -> Submission:
    no_size, no_array = row["size_min"] is None, row["array_tasks"] is None
    return Submission(
        id=row["id"],
        request=decode_request(row["request"]),
        walltime=row["walltime"],
        queue=row["queue"],
        user=row["user"],
        namespace=row["namespace"],
        name=row["name"],
        job_class=row["job_class"],
        priority=row["priority"],
        held=row["held"],
        gathering=row["gathering"],
        begin=row["begin"],
        dependencies=tuple(dependencies),
        size=None if no_size else ElasticSize(row["size_min"], row["size_max"]),
        array=None if no_array else JobArray(row["array_tasks"], row["array_at_once"]),
        reservation=row["reservation"],
        preemptible=row["preemptible"],
        requeue=row["requeue"],
        min_runtime=row["min_runtime"],
        on_loss=OnLoss(row["on_loss"]),
        workload=row["workload"],
        origin=Origin(row["origin"]),
    )


def dependency_rows(submission: Submission) -> Iterator[Row]:
    for position, dependency in enumerate(submission.dependencies):
        yield (submission.id, position, dependency.kind.value, dependency.job)


def dependency(row: StoredRow) -> Dependency:
    return Dependency(DependencyKind(row["kind"]), row["on_job"])


def job_row(job: QueueJob) -> Row:
    return (
        job.id,
        job.state.value,
        job.submitted,
        job.arrival,
        job.queue,
        job.priority,
        job.walltime,
        job.ranked,
        job.eligible,
        job.size,
        job.start,
        job.running,
        job.deadline,
        job.expected,
        job.end,
        job.cause.value if job.cause else None,
        *write_reason(job.reason),
        job.restarts,
        job.parent,
        job.index,
        job.tasks_started,
        job.tasks_failed,
        job.backfilled,
    )


def job(
    row: StoredRow, submission: Submission, plan: PlannedStart | None, commitments: dict[str, float]
) -> QueueJob:
    return QueueJob(
        submission=submission,
        state=JobState(row["state"]),
        submitted=row["submitted"],
        arrival=row["arrival"],
        queue=row["queue"],
        priority=row["priority"],
        walltime=row["walltime"],
        ranked=row["ranked"],
        eligible=row["eligible"],
        plan=plan,
        size=row["size"],
        start=row["start"],
        running=row["running"],
        deadline=row["deadline"],
        expected=row["expected"],
        end=row["end"],
        cause=EndCause(row["cause"]) if row["cause"] else None,
        reason=read_reason(row["reason"], row["reason_data"]),
        restarts=row["restarts"],
        parent=row["parent"],
        index=row["index"],
        tasks_started=row["tasks_started"],
        tasks_failed=row["tasks_failed"],
        backfilled=row["backfilled"],
        commitments=commitments,
    )


def plan(row: StoredRow) -> PlannedStart:
    reason = read_reason(row["reason"], row["reason_data"])
    return PlannedStart(row["start"], row["since"], reason)


def event_row(event: JobEvent) -> Row:
    return (
        event.job,
        event.at,
        event.kind,
        event.before.value if event.before else None,
        event.after.value if event.after else None,
        event.start,
        *write_reason(event.reason),
    )


def event(row: StoredRow) -> JobEvent:
    return JobEvent(
        job=row["job"],
        at=row["at"],
        kind=row["kind"],
        before=JobState(row["before"]) if row["before"] else None,
        after=JobState(row["after"]) if row["after"] else None,
        start=row["start"],
        reason=read_reason(row["reason"], row["reason_data"]),
    )


def allocation_columns(held: Sequence[Allocation]) -> list[Sequence[object]]:
    """The values of many rows by column; then the columns of all vertices, and of all seats."""
    vertices = _ranges(len(each.placement.vertex) for each in held)
    seats = _ranges(sum(len(s.node) for s in each.seats) for each in held)
    rows = (
        (*_allocation_row(each), *its_vertices, *its_seats)
        for each, its_vertices, its_seats in zip(held, vertices, seats, strict=True)
    )
    return [*zip(*rows, strict=True), *_vertex_columns(held), *_seat_columns(held)]


def _ranges(lengths: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The first and the last index of each part of a concatenation, counted from 1.

    >>> list(_ranges([2, 0, 3]))
    [(1, 2), (3, 2), (3, 5)]
    """
    last = 0
    for length in lengths:
        yield last + 1, last + length
        last += length


def _allocation_row(allocation: Allocation) -> Row:
    placed = allocation.placement
    return (
        allocation.job,
        allocation.start,
        allocation.end,
        placed.start,
        placed.end,
        placed.queue,
        placed.subsystem,
        to_json(placed.labels) if placed.labels else "{}",
        "null" if placed.usage is None else to_json(placed.usage),
        len(allocation.seats),
        None if allocation.tasks is None else len(allocation.tasks),
    )


def _vertex_columns(held: Sequence[Allocation]) -> Iterator[list[Any]]:
    for column in ("vertex", "parent", "depth", "needs", "exclusive"):
        yield [value for each in held for value in getattr(each.placement, column).tolist()]


def _seat_columns(held: Sequence[Allocation]) -> Iterator[list[int]]:
    yield [shape for each in held for shape, s in enumerate(each.seats) for _ in range(len(s.node))]
    yield [node for each in held for s in each.seats for node in s.node.tolist()]
    yield [pods for each in held for s in each.seats for pods in s.pods.tolist()]


def task_rows(allocation: Allocation) -> Iterator[Row]:
    for task, node in enumerate(allocation.tasks or ()):
        yield (allocation.job, task, node, task in allocation.ended_tasks)


def allocation(row: StoredRow, tasks: Collection[StoredRow]) -> Allocation:
    return Allocation(
        job=row["job"],
        start=row["start"],
        end=row["end"],
        placement=_placement(row),
        seats=_seats(row),
        tasks=None if row["tasks"] is None else tuple(task["node"] for task in tasks),
        ended_tasks=frozenset(task["task"] for task in tasks if task["ended"]),
    )


def _placement(row: StoredRow) -> Placement:
    usage = json.loads(row["usage"])
    return Placement(
        vertex=np.array(row["vertex"], np.int64),
        parent=np.array(row["parent"], np.int64),
        depth=np.array(row["depth"], np.int64),
        needs=np.array(row["needs"], np.int64),
        exclusive=np.array(row["exclusive"], np.bool_),
        start=row["placement_start"],
        end=row["placement_end"],
        queue=row["placement_queue"],
        subsystem=row["subsystem"],
        labels=_by_vertex(json.loads(row["labels"])),
        usage=None if usage is None else _by_vertex(usage),
    )


def _by_vertex(found: dict[str, Any]) -> dict[int, Any]:
    """With the keys as numbers, which JSON writes as text."""
    return {int(vertex): value for vertex, value in found.items()}


def _seats(row: StoredRow) -> tuple[Seats, ...]:
    shape = np.array(row["seat_shape"], np.int64)
    node, pods = np.array(row["seat_node"], np.int64), np.array(row["seat_pods"], np.int64)
    return tuple(Seats(node[shape == n], pods[shape == n]) for n in range(row["shapes"]))


def window_row(window: NodeWindow) -> Row:
    return (
        window.name,
        window.start,
        window.end,
        list(window.nodes),
        encode_constraint(window.constraint),
        sorted(window.users),
        sorted(window.namespaces),
        window.maintenance,
    )


def window(row: StoredRow) -> NodeWindow:
    return NodeWindow(
        name=row["name"],
        start=row["start"],
        end=row["end"],
        nodes=tuple(row["nodes"]),
        constraint=decode_constraint(row["constraint"]),
        users=frozenset(row["users"]),
        namespaces=frozenset(row["namespaces"]),
        maintenance=row["maintenance"],
    )
