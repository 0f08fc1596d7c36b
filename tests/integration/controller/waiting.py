"""Somebody who waits for the room of others, and what has become of those."""

from __future__ import annotations

from tests.integration.controller.objects import a_pod
from tests.integration.controller.space import Space, Things, node_of, of_job


def wait_behind(space: Space, name: str = "behind", cpu: int = 10) -> None:
    """A pod that needs the room; the queue has looked at it, and it waits."""
    space.create(a_pod(name).with_cpu(cpu))
    space.until_waits(name)


def bound_of(pods: Things, job: str) -> list[str]:
    """The names of a Job's pods that have a node, or had."""
    return [name for name, pod in pods.items() if of_job(pod) == job and node_of(pod)]
