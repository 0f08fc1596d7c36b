"""A watch on the side: every state that the pods of a namespace were in, in order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from fluxnetes.plane.api import Object
from fluxnetes.plane.errors import PlaneFailed
from tests.integration.controller.space import Space
from tests.integration.controller.stage import Stage

Moment = dict[str, Object]
"""All pods by name, as they were after one change."""


@contextmanager
def recorded(stage: Stage, space: Space) -> Iterator[list[Moment]]:
    """Record the pods of a namespace. A test waits for the last change that matters, then reads."""
    moments: list[Moment] = []
    listed, over = threading.Event(), threading.Event()

    def record() -> None:
        with stage.plane.api() as api, suppress(PlaneFailed, TimeoutError):
            for pods in api.follow(space.path("Pod"), 120):
                moments.append(dict(pods))
                listed.set()
                if over.is_set():
                    return

    thread = threading.Thread(target=record, daemon=True)
    thread.start()
    listed.wait()
    yield moments
    over.set()
