"""Queue policies by name: `fcfs`, `easy`, `conservative`, `hybrid`, `hybrid:K` (K planned jobs)."""

from __future__ import annotations

from fluxnetes.queue.config import BackfillPolicy, QueueConfig, UnsatisfiablePolicy
from fluxnetes.simulate.errors import SimulationError

_REJECT = UnsatisfiablePolicy.REJECT  # a simulated cluster gets no other nodes
NAMES = tuple(policy.value for policy in BackfillPolicy)


def parse_policy(text: str) -> QueueConfig:
    """The configuration of a queue with this policy and no limit on its depth.

    >>> parse_policy("hybrid:16").reservations
    16
    """
    name, colon, number = text.partition(":")
    if name not in NAMES or (colon and name != BackfillPolicy.HYBRID.value):
        raise SimulationError(f"unknown policy {text!r}; expected {', '.join(NAMES)} or hybrid:K")
    if not colon:
        return QueueConfig(policy=BackfillPolicy(name), grace=0, unsatisfiable=_REJECT)
    if not (number.isascii() and number.isdigit() and 1 <= int(number) <= 1_000_000):
        raise SimulationError(
            f"in {text!r}, found {number!r}, expected a number of jobs, such as 8"
        )
    return QueueConfig(
        policy=BackfillPolicy.HYBRID, reservations=int(number), grace=0, unsatisfiable=_REJECT
    )
