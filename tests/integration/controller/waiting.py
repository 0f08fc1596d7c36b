"""A pod that waits for capacity that other pods hold, and what became of those."""

from __future__ import annotations

from tests.integration.controller.objects import a_pod
from tests.integration.controller.space import Space, Things, node_of, of_job


def wait_behind(space: Space, name: str = "behind", cpu: int = 10) -> None:
    """Create a pod that needs the capacity, until the queue has examined it and it waits."""
    space.create(a_pod(name).with_cpu(cpu))
    space.until_waits(name)


def bound_of(pods: Things, job: str) -> list[str]:
    """The names of a Job's pods that have a node, or had."""
    return [name for name, pod in pods.items() if of_job(pod) == job and node_of(pod)]
