"""What callers ask for, as the queue's graph can be asked for it; and what the queue says to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.queue.errors import QueueError, QueueRefused, UnknownQueue
from fluxnetes.queue.errors import UnknownQueueJob as NoSuchJob
from fluxnetes.queue.jobs import Request
from fluxnetes.queue.plan.requests import narrowed
from fluxnetes.service.errors import Invalid, UnknownJob, WrongState, said_as_invalid
from fluxnetes.service.mailbox import QueueHost
from fluxnetes.service.requests.pods import asked_of
from fluxnetes.service.requests.pools import pooled
from fluxnetes.service.values import EqualPods

_USUAL = "default"


def resolved(asked: Request | EqualPods, queue_host: QueueHost) -> Request:
    """A request in the words of the queue's graph, for nodes that callers may be given."""
    graph = queue_host.matcher.graph
    with said_as_invalid():
        request = pooled(asked_of(asked, graph), graph)
        where = queue_host.where()
        return request if where is None else narrowed(request, where)


def refused_now(request: Request, queue_host: QueueHost) -> Answer | None:
    """Why a request cannot be served now, whatever the queue thinks of it; None: it can."""
    matcher = queue_host.matcher
    with said_as_invalid():
        answer = matcher.match(Operation.WITHOUT_ALLOCATING, request, now=queue_host.now)
        if answer:
            return None
        ever = matcher.satisfiable(request) if answer.outcome is Outcome.BUSY else answer
        return answer if ever else ever


def queue_of(request: Request, queue_host: QueueHost) -> str:
    """The queue of a match: that of its jobspec, or the default or, if there is none, the first."""
    names = _queues(queue_host)
    if isinstance(request, Jobspec) and request.queue:
        check_queue(request.queue, queue_host)
        return request.queue
    return _USUAL if _USUAL in names else names[0]


def check_queue(name: str, queue_host: QueueHost) -> None:
    """To the queue that would be a job to reject, and to remember; to a caller it is a mistake."""
    names = _queues(queue_host)
    if name not in names:
        raise Invalid(f"there is no queue {name}; there is {', '.join(names)}", "queue")


def _queues(queue_host: QueueHost) -> list[str]:
    return [queue.name for queue in queue_host.scheduler.config.queues]


@contextmanager
def said_to_callers() -> Iterator[None]:
    """Whatever the queue refuses is refused to whoever asked for it."""
    try:
        yield
    except NoSuchJob as error:
        raise UnknownJob(str(error)) from None
    except UnknownQueue as error:
        raise Invalid(str(error), "queue") from None
    except QueueRefused as error:
        raise WrongState(str(error)) from None
    except QueueError as error:
        raise Invalid(str(error)) from None
