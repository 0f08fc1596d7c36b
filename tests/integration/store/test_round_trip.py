"""What the queue writes is what it reads, exactly, on a real Postgres."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.queue.changes import Allocation, Changes, JobEvent, Snapshot
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import ENDED
from fluxnetes.store.store import Store, open_store
from tests.integration.store.servers import wipe
from tests.property.profile import examples
from tests.unit.store.drawn import histories
from tests.unit.store.plain import plain


class Remembered:
    """The tables as a person would keep them: the last word on everything counts."""

    def __init__(self) -> None:
        self.all = Changes(step=0)
        self.arrivals = 0

    def add(self, changes: Changes) -> None:
        for name in ("jobs", "allocations", "windows", "usage", "queues", "spent"):
            getattr(self.all, name).update(getattr(changes, name))
        self.all.events.extend(changes.events)
        self.all.step = max(self.all.step or 0, changes.step or 0)
        self.arrivals = max([self.arrivals, *(j.arrival for j in changes.jobs.values())])

    def snapshot(self) -> Snapshot:
        held = self.all.allocations
        windows = self.all.windows
        return Snapshot(
            jobs=tuple(sorted(self._needed(), key=lambda job: (job.arrival, job.id))),
            outcomes=tuple((id, j.state) for id, j in sorted(self._ended().items())),
            allocations=tuple(a for _, a in sorted(held.items()) if isinstance(a, Allocation)),
            windows=tuple(w for _, w in sorted(windows.items()) if w is not None),
            usage=tuple(u for _, u in sorted(self.all.usage.items())),
            queues=tuple(q for _, q in sorted(self.all.queues.items())),
            spent=tuple(s for _, s in sorted(self.all.spent.items())),
            step=self.all.step or 0,
            arrivals=self.arrivals,
        )

    def _ended(self) -> dict[int, QueueJob]:
        return {id: job for id, job in self.all.jobs.items() if job.state in ENDED}

    def _needed(self) -> list[QueueJob]:
        living = [job for job in self.all.jobs.values() if job.state not in ENDED]
        awaited = {d.job for job in living for d in job.submission.dependencies}
        wanted = awaited | {job.id for job in living}
        return [job for id, job in self.all.jobs.items() if id in wanted]

    def story(self, job: int) -> list[JobEvent]:
        return [event for event in self.all.events if event.job == job]


def test_a_queue_comes_back_exactly_as_it_was_written(dsn: str) -> None:
    @examples(40)
    @given(histories(), st.booleans())
    def check(history: list[Changes], is_reloaded: bool) -> None:
        asyncio.run(write_and_read(history, is_reloaded))

    async def write_and_read(history: list[Changes], is_reloaded: bool) -> None:
        await wipe(dsn)
        remembered = Remembered()
        async with open_store(dsn) as store:
            lease = await store.take("test")
            assert lease is not None
            for changes in history:
                remembered.add(changes)
                await store.commit(changes, lease.fence)
                if is_reloaded:
                    await store.load()
            await _compare(store, remembered)

    check()


async def _compare(store: Store, remembered: Remembered) -> None:
    assert plain(await store.load()) == plain(remembered.snapshot())
    for job in range(1, 7):
        assert plain(await store.events(job)) == plain(remembered.story(job))
    every = tuple(sorted(remembered.all.jobs.values(), key=lambda job: (job.arrival, job.id)))
    assert plain(await store.jobs(range(1, 7))) == plain(every)
