"""What the tests ask for, and what they look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread

from fluxnetes.client import Client, Job, JobChange, State
from tests.integration.rpc.jobspecs import slots
from tests.integration.rpc.waiting import until

NODES, CORES = 4, 8
ALL = NODES * CORES
PATIENCE = 30.0


def cores(count: int, duration: int = 0) -> str:
    """Single cores, wherever they are."""
    return slots(count, 1, duration)


def free(client: Client) -> int:
    """Free cores."""
    [pool] = [pool for pool in client.status().totals if pool.type == "core"]
    return pool.free


def holders(client: Client) -> dict[int, int]:
    """How many cores each job has."""
    found: dict[int, int] = {}
    for node in client.nodes():
        for share in node.shares:
            found[share.job] = found.get(share.job, 0) + share.amounts["core"]
    return found


def until_state(client: Client, job: int, *states: State) -> Job:
    """The job, as soon as it is in one of these states."""
    until(lambda: client.job(job).state in states, f"job {job}: {client.job(job)}")
    return client.job(job)


def living(client: Client) -> list[Job]:
    """All jobs that have not ended."""
    found: dict[int, Job] = {}
    wanted = sum(client.status().jobs.values())
    with watching(client) as seen:
        while len(found) < wanted:
            change = seen(lambda change: True)
            found[change.job.id] = change.job
    return list(found.values())


def empty(client: Client) -> None:
    """Call all jobs off; then nothing may be missing."""
    while client.status().jobs:
        for job in living(client):
            client.cancel(job.id)
    assert free(client) == ALL


Seen = Callable[[Callable[[JobChange], bool]], JobChange]


@contextmanager
def watching(client: Client, **options: str) -> Iterator[Seen]:
    """The first change, from now on, that is so; changes before it are let go."""
    stream = client.watch_jobs(**options)
    changes: SimpleQueue[JobChange] = SimpleQueue()

    def follow() -> None:
        for change in stream:
            if isinstance(change, JobChange):
                changes.put(change)

    def seen(is_so: Callable[[JobChange], bool]) -> JobChange:
        while True:
            change = changes.get(timeout=PATIENCE)
            if is_so(change):
                return change

    Thread(target=follow, daemon=True).start()
    yield seen
