"""Words about a job that waits in the queue: its position, its promised start, and what changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fluxnetes.cluster.reason_text import moment_text
from fluxnetes.common.reasons import Reason, ReasonCode
from fluxnetes.controller.reporting.events import EventType
from fluxnetes.controller.reporting.start_events import WaitNews
from fluxnetes.queue.explain import Explanation
from fluxnetes.queue.jobs import QueueJob

Render = Callable[[Reason | None], str]
"""Writes a reason in the words of its reader."""


@dataclass(frozen=True, slots=True)
class WaitTexts:
    """What is said about one waiting job at one moment."""

    job: QueueJob
    explained: Explanation
    render: Render
    eta: int | None
    """The promised start."""
    position: int | None
    """In its queue; 1 is first."""

    @classmethod
    def of(cls, explained: Explanation, job: QueueJob, render: Render) -> WaitTexts:
        eta = explained.until if job.plan is not None else None
        position = None if explained.place is None else explained.place + 1
        return cls(job, explained, render, eta, position)

    @property
    def code(self) -> ReasonCode:
        reason = self.explained.reason
        return ReasonCode.UNKNOWN if reason is None else reason.code

    @property
    def after(self) -> str:
        """What follows the reason."""
        start = "" if self.eta is None else f"; it starts by {moment_text(self.eta)}"
        return start + self._place

    @property
    def _place(self) -> str:
        if self.position is None:
            return ""
        return f"; position {self.position} in queue {self.job.queue}"

    def event(self, what: WaitNews, before: int | None) -> tuple[str, EventType]:
        """The note and the type of an event; `before` is the start that was promised until now."""
        match what:
            case WaitNews.WHY:
                why = self.render(self.explained.reason)
                return f"{self.code.value}: not yet: {why}{self.after}", "Warning"
            case WaitNews.PLANNED:
                return f"{self.code.value}: {self._starts()}{self._place}", "Normal"
            case WaitNews.MOVED:
                return self._moved(before or 0)
            case WaitNews.LOST:
                return self._lost(before or 0)

    def _starts(self) -> str:
        return f"it starts by {moment_text(self.eta or 0)} at the latest"

    def _moved(self, before: int) -> tuple[str, EventType]:
        now, because = self.eta or 0, self.job.plan.reason if self.job.plan is not None else None
        span = f"from {moment_text(before)} to {moment_text(now)}"
        if now < before or because is None:
            word = "earlier" if now < before else "later"
            return f"{self.code.value}: its start moved {word}, {span}{self._place}", "Normal"
        why = f"because {self.render(because)}"
        return f"{because.code.value}: its start moved later, {span}, {why}{self._place}", "Warning"

    def _lost(self, before: int) -> tuple[str, EventType]:
        """Why is in its history, or else it is why the job waits now."""
        drops = (e.reason for e in reversed(self.explained.story) if e.kind == "unplanned")
        because = next(drops, None) or self.explained.reason
        code = self.code if because is None else because.code
        promised = f"it was to start by {moment_text(before)}"
        why = f": {self.render(because)}" if because is not None else ""
        return f"{code.value}: no start is known any more; {promised}{why}{self._place}", "Warning"
