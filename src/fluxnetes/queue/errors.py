"""What can go wrong when the queue is told something.

    QueueError
    ├── UnknownQueueJob     it was never submitted, or its record has expired
    ├── UnknownQueue        no queue has this name
    └── QueueRefused        it makes sense, but cannot be done in this state

A job that can never run is none of these: it is rejected, with a reason, and recorded.
"""

from __future__ import annotations


class QueueError(ValueError):
    """The queue cannot do what it was told. Nothing was changed."""


class UnknownQueueJob(QueueError):  # noqa: N818 - reads better where it is raised and caught
    """The job was never submitted, or its record has expired."""


class UnknownQueue(QueueError):  # noqa: N818 - likewise
    """No queue has this name."""


class QueueRefused(QueueError):  # noqa: N818 - likewise
    """The event makes sense, but not in the present state of the job or queue."""
