"""Resolves requests of callers for a queue's graph, and its errors for callers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.queue.errors import OutOfBounds, QueueError, QueueRefused, UnknownQueue
from fluxnetes.queue.errors import UnknownQueueJob as NoSuchJob
from fluxnetes.queue.jobs import Request
from fluxnetes.queue.plan.requests import narrowed
from fluxnetes.service.errors import Invalid, UnknownJob, WrongState, as_invalid
from fluxnetes.service.mailbox import QueueHost
from fluxnetes.service.requests.pods import asked_of
from fluxnetes.service.requests.pools import pooled
from fluxnetes.service.values import EqualPods

_DEFAULT = "default"


def resolved(asked: Request | EqualPods, queue_host: QueueHost) -> Request:
    """A request in the resource types of the queue's graph, limited to nodes for callers."""
    graph = queue_host.matcher.graph
    with as_invalid():
        request = pooled(asked_of(asked, graph), graph)
        where = queue_host.where()
        return request if where is None else narrowed(request, where)


def find_refusal(request: Request, queue_host: QueueHost) -> Answer | None:
    """Why the matcher has no place for a request now; None: it has, and the queue is to decide."""
    matcher = queue_host.matcher
    with as_invalid():
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
    return _DEFAULT if _DEFAULT in names else names[0]


def check_queue(name: str, queue_host: QueueHost) -> None:
    """Raise Invalid if there is no such queue; the scheduler would record a rejected job."""
    names = _queues(queue_host)
    if name not in names:
        raise Invalid(f"there is no queue {name}; there is {', '.join(names)}", "queue")


def _queues(queue_host: QueueHost) -> list[str]:
    return [queue.name for queue in queue_host.scheduler.config.queues]


@contextmanager
def as_service_errors() -> Iterator[None]:
    """Raises errors of the queue as errors of the service."""
    try:
        yield
    except NoSuchJob as error:
        raise UnknownJob(str(error)) from None
    except UnknownQueue as error:
        raise Invalid(str(error), "queue") from None
    except QueueRefused as error:
        raise WrongState(str(error)) from None
    except OutOfBounds as error:
        raise Invalid(str(error), error.path) from None
    except QueueError as error:
        raise Invalid(str(error)) from None
