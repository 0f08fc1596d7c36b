"""Errors that the queue raises when an event cannot be applied.

    QueueError
    ├── UnknownQueueJob     the job was never submitted, or its record has expired
    ├── UnknownQueue        no queue has this name
    ├── OutOfBounds         a value of the event could not be persisted
    └── QueueRefused        the event is valid, but not in the present state

A job that can never run raises none of these: it is rejected, with a reason, and recorded.
"""

from __future__ import annotations

from fluxnetes.common.reasons import Reason


class QueueError(ValueError):
    """The event cannot be applied. Nothing was changed."""


class UnknownQueueJob(QueueError):  # noqa: N818 - reads better where it is raised and caught
    """The job was never submitted, or its record has expired."""


class UnknownQueue(QueueError):  # noqa: N818 - likewise
    """No queue has this name."""


class OutOfBounds(QueueError):  # noqa: N818 - likewise
    """A value of the event could not be persisted."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        """Which value it is."""


class QueueRefused(QueueError):  # noqa: N818 - likewise
    """The event is valid, but not in the present state of the job or queue."""

    def __init__(self, message: str, reason: Reason | None = None) -> None:
        """`reason` says why as data, where a user of the job is to be informed."""
        super().__init__(message)
        self.reason = reason
