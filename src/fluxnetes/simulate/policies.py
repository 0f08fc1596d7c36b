"""Policies by name: `fcfs`, `easy`, `conservative`, `hybrid`, and `hybrid:K` for K promises."""

from __future__ import annotations

from fluxnetes.queue.config import BackfillPolicy, QueueConfig
from fluxnetes.simulate.errors import SimulationError

NAMES = tuple(policy.value for policy in BackfillPolicy)


def parse_policy(text: str) -> QueueConfig:
    """The queue that a name stands for; it looks at all jobs in every cycle.

    >>> parse_policy("hybrid:16").reservations
    16
    """
    name, colon, number = text.partition(":")
    if name not in NAMES or (colon and name != BackfillPolicy.HYBRID.value):
        raise SimulationError(
            f"there is no policy {text!r}; there are {', '.join(NAMES)} and hybrid:K"
        )
    if not colon:
        return QueueConfig(policy=BackfillPolicy(name), grace=0)
    if not (number.isascii() and number.isdigit() and 1 <= int(number) <= 1_000_000):
        raise SimulationError(f"in {text!r}, found {number!r}, expected a number of promises, as 8")
    return QueueConfig(policy=BackfillPolicy.HYBRID, reservations=int(number), grace=0)
