"""Background tasks that the event loop must not lose."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_tasks: set[asyncio.Task[Any]] = set()


def keep_task(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start a task and keep a reference to it until it is done.

    The event loop holds only weak references, so a task without another reference may be collected
    before it ends.
    """
    task = asyncio.get_running_loop().create_task(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    return task
