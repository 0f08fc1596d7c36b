"""Runs the script against a store, and goes on where it was if it was killed.

Every instant is one transaction: what happens at it and what the queue decides. What was decided is
carried out after it is written, which here means that the job is said to run at the next chance.
"""

from __future__ import annotations

import asyncio
import sys

from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.errors import QueueError
from fluxnetes.queue.events import Ended, Event, Started
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import HOLDING, JobState
from fluxnetes.store.lease import StoreLease
from fluxnetes.store.store import Store, open_store
from tests.integration.store.crash.script import CONFIG, cluster, run_time, script
from tests.integration.store.servers import fetch


def gone_at(job: QueueJob) -> int:
    """When a job that holds resources is gone, if it is not asked to end before."""
    assert job.start is not None
    walltime = job.submission.walltime or 1
    natural = job.start + run_time(job.id, job.start, walltime)
    if job.state is JobState.ENDING and job.expected is not None:
        return min(natural, job.expected - 1)
    return natural


class Driver:
    def __init__(self, store: Store, lease: StoreLease, queue: Scheduler, now: int) -> None:
        self.store, self.lease, self.queue, self.now = store, lease, queue, now
        self.script = [(at, event) for at, event in script() if at > now]

    async def run(self) -> None:
        await self.carry_out()
        while (instant := self.next_instant()) is not None:
            self.now = instant
            self.happen()
            self.queue.cycle(instant)
            await self.write()
            await self.carry_out()

    def holding(self) -> list[QueueJob]:
        return [job for job in self.queue.jobs.values() if job.state in HOLDING]

    def next_instant(self) -> int | None:
        times = [max(gone_at(job), self.now + 1) for job in self.holding()]
        if self.script:
            times.append(self.script[0][0])
        if (wake := self.queue.next_wake(self.now)) is not None and times:
            times.append(wake)
        return min(times, default=None)

    def happen(self) -> None:
        due = [job for job in self.holding() if gone_at(job) <= self.now]
        for job in sorted(due, key=lambda job: job.id):
            self.tell(Ended(job.id, ok=job.id % 7 != 0))
        while self.script and self.script[0][0] <= self.now:
            self.tell(self.script.pop(0)[1])

    def tell(self, event: Event) -> None:
        try:
            self.queue.apply(event, self.now)
        except QueueError as error:
            print("refused:", error)

    async def carry_out(self) -> None:
        """Start what is allocated; again, if we were killed on the way."""
        waiting = [job.id for job in self.queue.jobs.values() if job.state is JobState.ALLOCATED]
        for id in sorted(waiting):
            self.tell(Started(id))
        await self.write()

    async def write(self) -> None:
        await self.store.commit(self.queue.take_changes(), self.lease.fence)


async def last_written(dsn: str) -> int:
    """The last instant that was written: all that happened until then is in the tables."""
    [row] = await fetch(dsn, "SELECT coalesce(max(at), 0) AS at FROM events")
    return int(row["at"])


async def main(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await store.take("driver", seconds=1)
        while lease is None:
            await asyncio.sleep(0.05)
            lease = await store.take("driver", seconds=1)
        snapshot = await store.load()
        now = await last_written(dsn)
        matcher = Matcher(cluster(), policy="lonode")
        queue = Scheduler.resume(matcher, CONFIG, snapshot, now=now, validate=True)
        print("resumed", now, len(snapshot.jobs), flush=True)
        await Driver(store, lease, queue, now if snapshot.step else -1).run()
        print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
