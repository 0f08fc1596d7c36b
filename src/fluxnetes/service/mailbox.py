"""What callers ask of a queue that somebody else runs, round by round.

    caller ──▶ ask ──▶ heard at the start of a round: told to the queue, or refused
                       the queue decides
                       settled: what follows from that is told, too
                       all is written down
              answer ◀── given at its end: nothing is answered that is not written

Whoever leads opens the petitions at the beginning of its term and closes them at its end; what is
asked in between terms is refused at once, and may be asked again.

Whoever asks may go away. What was not heard by then is not heard at all; of what was, `undo` hears
the answer, so that nothing stays behind.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.events import Event
from fluxnetes.queue.scheduler import Scheduler

T = TypeVar("T")


class MailboxClosed(Exception):  # noqa: N818 - reads better where it is raised and caught
    """Nobody leads here at the moment."""


class Deferred(Exception):  # noqa: N818 - likewise
    """The queue has not looked at it yet; the answer comes in a later round."""


class QueueHost(Protocol):
    """Whoever runs a queue, as callers need it."""

    @property
    def scheduler(self) -> Scheduler: ...

    @property
    def matcher(self) -> Matcher: ...

    now: int
    next_id: int

    def put(self, event: Event) -> None:
        """Tell the queue something. Raises QueueError."""
        ...

    def where(self) -> Constraint | None:
        """Which nodes callers may be given; None: all."""
        ...

    def lend(self, job: int, nodes: Mapping[str, Mapping[str, int]] | None) -> None:
        """Pods that say so may use what a job has of nodes; None: no more."""
        ...

    def borrowers(self, job: int) -> int:
        """How many pods use what a job has."""
        ...


@dataclass(slots=True, eq=False)
class QueueRequest(Generic[T]):
    """Something that is asked."""

    hand_in: Callable[[QueueHost], None]
    """Tell the queue; what this raises is the answer."""
    answer: Callable[[QueueHost], T]
    """The answer, when all is written down. May raise Later."""
    settle: Callable[[QueueHost], None] | None = None
    """The queue decided; tell it what follows from that, before anything is written down."""
    undo: Callable[[QueueHost, T], None] | None = None
    """What to do with an answer that nobody waits for any more."""
    given_up: bool = False
    """Nobody waits for the answer. May be set from another thread."""


@dataclass(slots=True, eq=False)
class _Asked:
    request: QueueRequest[Any]
    future: asyncio.Future[Any]


def _nothing(queue_host: QueueHost) -> None:
    pass


def looking(answer: Callable[[QueueHost], T]) -> QueueRequest[T]:
    """A petition that changes nothing."""
    return QueueRequest(_nothing, answer)


@dataclass(slots=True, eq=False)
class Mailbox:
    """See the module's docstring. Used in the loop of whoever runs the queue."""

    tend: Callable[[QueueHost], None] = _nothing
    """Called in every round: callers' jobs have nobody else to look after them."""
    changed: Callable[[Changes, QueueHost], None] = field(default=lambda changes, queue_host: None)
    """Told of all that was written down."""
    nodes_changed: Callable[[Iterable[str]], None] = field(default=lambda names: None)
    """Told of nodes that changed otherwise than by jobs of the queue."""
    opened: Callable[[QueueHost], None] = _nothing
    """Told when a term begins."""
    closed: Callable[[], None] = field(default=lambda: None)
    _office: QueueHost | None = None
    _wake: Callable[[], None] = field(default=lambda: None)
    _inbox: deque[_Asked] = field(default_factory=deque)
    _heard: list[_Asked] = field(default_factory=list)

    # -- for callers ---------------------------------------------------------------------------

    async def ask(self, request: QueueRequest[T]) -> T:
        """The answer. Raises NotOpen, and whatever the petition raises."""
        if self._office is None:
            raise MailboxClosed("nobody leads here at the moment")
        asked = _Asked(request, asyncio.get_running_loop().create_future())
        self._inbox.append(asked)
        self._wake()
        try:
            found: T = await asked.future
        except asyncio.CancelledError:
            self._give_up(asked)
            raise
        return found

    def _give_up(self, asked: _Asked) -> None:
        asked.request.given_up = True
        done = asked.future
        if not done.cancelled() and done.exception() is None:  # answered in this very moment
            self.undo(asked.request, done.result())

    def undo(self, request: QueueRequest[T], answer: T) -> None:
        """Nobody waits for this answer any more. Without a term, the next one looks after it."""
        if self._office is not None and request.undo is not None:
            request.undo(self._office, answer)
            self._wake()

    # -- for whoever runs the queue ------------------------------------------------------------

    def open(self, queue_host: QueueHost, wake: Callable[[], None]) -> None:
        self._office, self._wake = queue_host, wake
        self.opened(queue_host)

    def close(self) -> None:
        """Nobody leads any more; who waits is told."""
        self._office = None
        waiting, self._heard = [*self._heard, *self._inbox], []
        self._inbox.clear()
        for asked in waiting:
            if not asked.future.done():
                asked.future.set_exception(MailboxClosed("the term ended before it was answered"))
        self.closed()

    def take(self, changes: Changes) -> None:
        """Something was decided and written down."""
        if self._office is not None:
            self.changed(changes, self._office)

    def hear(self) -> None:
        """Tell the queue what is asked."""
        queue_host = self._office
        if queue_host is None:
            return
        self.tend(queue_host)
        while self._inbox:
            asked = self._inbox.popleft()
            if asked.request.given_up or asked.future.done():
                asked.future.cancel()
                continue
            try:
                asked.request.hand_in(queue_host)
            except Exception as error:
                asked.future.set_exception(error)
            else:
                self._heard.append(asked)

    @property
    def are_waiting(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self._inbox or self._heard)

    def settle(self) -> None:
        """The queue has decided on all that was heard."""
        queue_host, heard = self._office, self._heard
        if queue_host is None:
            return
        self._heard = []
        for asked in heard:
            try:
                if asked.request.settle is not None:
                    asked.request.settle(queue_host)
            except Exception as error:
                if not asked.future.done():
                    asked.future.set_exception(error)
            else:
                self._heard.append(asked)

    def reply(self) -> None:
        """All that was heard is written down."""
        queue_host, heard = self._office, self._heard
        if queue_host is None or not heard:
            return
        self._heard = []
        for asked in heard:
            try:
                result = asked.request.answer(queue_host)
            except Deferred:
                self._heard.append(asked)
            except Exception as error:
                if not asked.future.done():
                    asked.future.set_exception(error)
            else:
                self._give(asked, result)

    def _give(self, asked: _Asked, result: Any) -> None:
        if not asked.future.done():
            asked.future.set_result(result)
        else:
            self.undo(asked.request, result)
