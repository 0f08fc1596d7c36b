"""Passes requests of callers to the loop that runs a queue, and their answers back.

The loop works in rounds. It calls the mailbox at these points of a round:

    caller ──▶ ask ──▶ inbox
                         │  accept   the request is applied to the queue, or refused
                         ▼
                      accepted
                         │           a cycle: the queue decides
                         │  settle   the request applies what follows from the decision
                         │           the changes are committed to the store
                         │  publish  the listener gets what was committed
              answer ◀───┘  reply    the answer is read from the queue

A standalone queue (`QueueRunner`) goes through all of it in every round. The controller accepts
requests last of all that it reads in a round, after nodes, pods and groups, and then may

- skip the cycle, if nothing calls for a decision: it replies at once, without `settle`. A request
  that only looks, one that was refused by its own check, and `start` are answered so. That a job
  started changes no decision and is committed a little later, together with others: it is the one
  change that may be answered before it is in the store;
- cut the cycle short, if many jobs start: it neither settles nor replies then. Accepted requests
  wait, with those of the following rounds, for the round whose cycle goes through to the end.

A request that its own `apply` refuses is answered at once, in `accept`.

The loop opens the mailbox when its term of leadership begins and closes it when the term ends.
Between terms requests are refused at once with MailboxClosed, and may be repeated.

A caller may leave before the answer. A request that was not accepted by then is dropped; of one
that was, `undo` gets the answer and releases what was allocated.
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
    """No queue runs here at the moment: another replica leads, or none does."""


class QueueHost(Protocol):
    """The loop that runs a queue, as requests of callers see it."""

    @property
    def scheduler(self) -> Scheduler: ...

    @property
    def matcher(self) -> Matcher: ...

    @property
    def now(self) -> int:
        """The time of the round, in seconds since the epoch."""
        ...

    @property
    def next_id(self) -> int:
        """The number of the next job that is submitted."""
        ...

    def next_id_used(self) -> None:
        """A job of the number `next_id` was submitted."""
        ...

    def put(self, event: Event) -> None:
        """Apply an event to the queue. Raises QueueError."""
        ...

    def where(self) -> Constraint | None:
        """The nodes that callers may be given; None: all."""
        ...

    def lend(self, job: int, nodes: Mapping[str, Mapping[str, int]] | None) -> None:
        """Count pods that name a job as users of its share of these nodes; None: no longer."""
        ...

    def borrowers(self, job: int) -> int:
        """The number of pods that use the share of a job."""
        ...


class MailboxListener(Protocol):
    """Follows the queue for callers. All methods run in the loop of the queue."""

    def opened(self, queue_host: QueueHost) -> None:
        """A term began."""
        ...

    def closed(self) -> None:
        """The term ended."""
        ...

    def tend(self, queue_host: QueueHost) -> None:
        """A round begins: look after callers' jobs, as the controller does after its groups."""
        ...

    def changed(self, changes: Changes, queue_host: QueueHost) -> None:
        """The queue's changes were committed."""
        ...

    def nodes_changed(self, names: Iterable[str]) -> None:
        """Nodes changed otherwise than by jobs of the queue."""
        ...


class NoListener:
    """Ignores everything: for a mailbox without callers."""

    def opened(self, queue_host: QueueHost) -> None:
        pass

    def closed(self) -> None:
        pass

    def tend(self, queue_host: QueueHost) -> None:
        pass

    def changed(self, changes: Changes, queue_host: QueueHost) -> None:
        pass

    def nodes_changed(self, names: Iterable[str]) -> None:
        pass


@dataclass(slots=True, eq=False)
class QueueRequest(Generic[T]):
    """A request to a queue, as the steps that the mailbox calls."""

    apply: Callable[[QueueHost], None]
    """Apply the request to the queue. An error that this raises is the answer."""
    answer: Callable[[QueueHost], T]
    """Read the answer, once the decision is committed."""
    settle: Callable[[QueueHost], None] | None = None
    """The queue decided; apply what follows from that, before anything is committed."""
    undo: Callable[[QueueHost, T], None] | None = None
    """Release what an answer gave, because its caller left."""
    given_up: bool = False
    """The caller left. May be set from another thread."""


@dataclass(slots=True, eq=False)
class _Pending:
    request: QueueRequest[Any]
    future: asyncio.Future[Any]


def _change_nothing(queue_host: QueueHost) -> None:
    pass


def looking(answer: Callable[[QueueHost], T]) -> QueueRequest[T]:
    """A request that only reads."""
    return QueueRequest(_change_nothing, answer)


@dataclass(slots=True, eq=False)
class Mailbox:
    """See the module's docstring. Used in the event loop of the queue."""

    _listener: MailboxListener = field(default_factory=NoListener)
    _queue_host: QueueHost | None = None
    """Set during a term."""
    _wake: Callable[[], None] = field(default=lambda: None)
    _inbox: deque[_Pending] = field(default_factory=deque)
    _accepted: list[_Pending] = field(default_factory=list)

    # -- for callers ---------------------------------------------------------------------------

    def attach(self, listener: MailboxListener) -> None:
        """Use this listener, before the first term. For callers that start after the mailbox."""
        if self._queue_host is not None:
            raise RuntimeError("a listener must be attached before the mailbox is opened")
        self._listener = listener

    async def ask(self, request: QueueRequest[T]) -> T:
        """The answer to a request. Raises MailboxClosed, and the errors of the request."""
        if self._queue_host is None:
            raise MailboxClosed("this replica does not lead at the moment; try again, or another")
        pending = _Pending(request, asyncio.get_running_loop().create_future())
        self._inbox.append(pending)
        self._wake()
        try:
            answer: T = await pending.future
        except asyncio.CancelledError:
            self._give_up(pending)
            raise
        return answer

    def _give_up(self, pending: _Pending) -> None:
        pending.request.given_up = True
        done = pending.future
        if not done.cancelled() and done.exception() is None:  # answered, but not yet read
            self.undo(pending.request, done.result())

    def undo(self, request: QueueRequest[T], answer: T) -> None:
        """Undo an answer whose caller left.

        Between terms nothing is done: the job stays until its lease expires or its walltime ends.
        """
        if self._queue_host is not None and request.undo is not None:
            request.undo(self._queue_host, answer)
            self._wake()

    @property
    def are_waiting(self) -> bool:
        """Whether requests wait for their answers."""
        return bool(self._inbox or self._accepted)

    # -- for the loop that runs the queue ------------------------------------------------------

    def open(self, queue_host: QueueHost, wake: Callable[[], None]) -> None:
        """Begin a term. `wake` makes the loop begin a round."""
        self._queue_host, self._wake = queue_host, wake
        self._listener.opened(queue_host)

    def close(self) -> None:
        """End the term, and refuse all requests that wait."""
        self._queue_host = None
        waiting, self._accepted = [*self._accepted, *self._inbox], []
        self._inbox.clear()
        for pending in waiting:
            if not pending.future.done():
                error = MailboxClosed("this replica stopped leading before it answered; try again")
                pending.future.set_exception(error)
        self._listener.closed()

    def discard(self, error: Exception) -> int:
        """The queue is again as it was before this round: refuse the requests that changed it.

        Returns their number.
        """
        accepted, self._accepted = self._accepted, []
        for pending in accepted:
            if not pending.future.done():
                pending.future.set_exception(error)
        if self._queue_host is not None:
            self._listener.opened(self._queue_host)
        return len(accepted)

    def publish(self, changes: Changes) -> None:
        """Pass on changes that were committed."""
        if self._queue_host is not None:
            self._listener.changed(changes, self._queue_host)

    def nodes_changed(self, names: Iterable[str]) -> None:
        """Pass on that nodes changed otherwise than by jobs of the queue."""
        self._listener.nodes_changed(names)

    def accept(self) -> None:
        """Apply the requests of the inbox to the queue."""
        queue_host = self._queue_host
        if queue_host is None:
            return
        self._listener.tend(queue_host)
        while self._inbox:
            pending = self._inbox.popleft()
            if pending.request.given_up or pending.future.done():
                pending.future.cancel()
                continue
            try:
                pending.request.apply(queue_host)
            except Exception as error:
                pending.future.set_exception(error)
            else:
                self._accepted.append(pending)

    def settle(self) -> None:
        """Let requests follow up on the queue's decisions; before the commit."""
        queue_host, accepted = self._queue_host, self._accepted
        if queue_host is None:
            return
        self._accepted = []
        for pending in accepted:
            try:
                if pending.request.settle is not None:
                    pending.request.settle(queue_host)
            except Exception as error:
                if not pending.future.done():
                    pending.future.set_exception(error)
            else:
                self._accepted.append(pending)

    def reply(self) -> None:
        """Answer all requests that were accepted; after the commit."""
        queue_host, accepted = self._queue_host, self._accepted
        if queue_host is None or not accepted:
            return
        self._accepted = []
        for pending in accepted:
            try:
                answer = pending.request.answer(queue_host)
            except Exception as error:
                if not pending.future.done():
                    pending.future.set_exception(error)
            else:
                self._deliver(pending, answer)

    def _deliver(self, pending: _Pending, answer: Any) -> None:
        if not pending.future.done():
            pending.future.set_result(answer)
        else:
            self.undo(pending.request, answer)
