"""Watches promises: none moves later, is taken back or is broken without a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fluxnetes.queue.changes import JobEvent
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import JobState


class Watch:
    """What every job is promised now."""

    def __init__(self) -> None:
        self._promised: dict[int, int] = {}

    def see(self, events: Iterable[JobEvent], jobs: Mapping[int, QueueJob]) -> None:
        for event in events:
            if event.kind == "planned":
                self._see_planned(event)
            elif event.kind == "unplanned":
                assert event.reason, f"job {event.job} lost its promise without a reason"
                self._promised.pop(event.job, None)
            elif event.after is JobState.ALLOCATED:
                self._see_start(event, jobs[event.job])
            elif event.kind == "transition":
                self._promised.pop(event.job, None)

    def _see_planned(self, event: JobEvent) -> None:
        assert event.start is not None
        before = self._promised.get(event.job)
        moved_later = before is not None and event.start > before
        assert event.reason or not moved_later, (
            f"job {event.job} was promised {before}, now {event.start}, without a reason"
        )
        self._promised[event.job] = event.start

    def _see_start(self, event: JobEvent, job: QueueJob) -> None:
        # An array is promised something as a whole, and its next task starts.
        id = job.id if job.parent is None else job.parent
        promised = self._promised.pop(id, event.at)
        assert event.at <= promised, f"job {id} was promised {promised} and started at {event.at}"
