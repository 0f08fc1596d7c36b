"""What a job stands for is kept with it, and can be asked for after its end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from fluxnetes.queue.jobs import Origin, QueueJob
from fluxnetes.queue.states import JobState
from fluxnetes.store.store import Store, open_store
from tests.integration.store.records import a_job, changes
from tests.integration.store.servers import fetch

SWEEP, TRAIN = "Job/lab/sweep/0d8f", "Job/lab/train/77aa"


def standing_for(workload: str, job: QueueJob) -> QueueJob:
    return replace(
        job, submission=replace(job.submission, workload=workload, origin=Origin.CLUSTER)
    )


def gone(id: int, state: JobState = JobState.COMPLETED) -> QueueJob:
    return replace(a_job(id, state), end=id + 100)


@asynccontextmanager
async def store_of(dsn: str, *jobs: QueueJob) -> AsyncIterator[Store]:
    async with open_store(dsn) as store:
        lease = await store.take("test")
        assert lease is not None
        await store.commit(changes(*jobs), lease.fence)
        yield store


async def test_a_job_that_lives_still_stands_for_its_workload(dsn: str) -> None:
    async with store_of(dsn, standing_for(SWEEP, a_job(1)), a_job(2)) as store:
        snapshot = await store.load()
    assert [job.submission.workload for job in snapshot.jobs] == [SWEEP, ""]


async def test_the_last_job_that_ended_is_the_one_that_is_reported(dsn: str) -> None:
    jobs = [
        standing_for(SWEEP, gone(1)),
        standing_for(TRAIN, gone(2)),
        standing_for(SWEEP, gone(3, JobState.FAILED)),
        standing_for(SWEEP, a_job(4)),
    ]
    async with store_of(dsn, *jobs) as store:
        ended = await store.ended([SWEEP, TRAIN])
    assert {workload: job.id for workload, job in ended.items()} == {SWEEP: 3, TRAIN: 2}
    assert ended[SWEEP] == jobs[2]


async def test_nothing_is_reported_of_jobs_that_live_or_never_came(dsn: str) -> None:
    async with store_of(dsn, standing_for(SWEEP, a_job(1)), gone(2)) as store:
        assert await store.ended([SWEEP, TRAIN, ""]) == {}


async def test_the_tasks_of_an_array_do_not_hide_the_array(dsn: str) -> None:
    array = standing_for(SWEEP, gone(1, JobState.FAILED))
    task = replace(standing_for(SWEEP, gone(2)), arrival=1, parent=1, index=0)
    async with store_of(dsn, array, task) as store:
        assert (await store.ended([SWEEP]))[SWEEP].state is JobState.FAILED


async def test_many_workloads_are_found_by_their_index(dsn: str) -> None:
    many = [standing_for(f"Job/lab/w{n}/0", gone(n)) for n in range(1, 2_001)]
    async with store_of(dsn, *many) as store:
        await fetch(dsn, "ANALYZE submissions")
        wanted = [job.submission.workload for job in many[::500]]
        assert set(await store.ended(wanted)) == set(wanted)
    found = await fetch(
        dsn,
        "EXPLAIN SELECT * FROM submissions WHERE workload = ANY($1::text[]) AND workload <> ''",
        wanted,
    )
    assert any("submissions_by_workload" in row["QUERY PLAN"] for row in found)


async def test_the_last_job_of_an_object_is_found_by_its_name(dsn: str) -> None:
    """An object of the same name may have come again; a label group has no uid."""
    jobs = [
        standing_for(SWEEP, gone(1)),
        standing_for("Job/lab/sweep/5a5a", a_job(2)),
        standing_for("Group/lab/ring", gone(3)),
        standing_for("Job/lab/sweep-2/77aa", gone(4)),
        gone(5),
    ]
    sweep, ring, other = ("Job", "lab", "sweep"), ("Group", "lab", "ring"), ("Job", "x", "sweep")
    async with store_of(dsn, *jobs) as store:
        assert await store.last_jobs([other, ring, sweep]) == {sweep: 2, ring: 3}
        assert await store.last_jobs([]) == {}
