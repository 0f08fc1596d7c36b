"""Which fault comes when, drawn from a seed."""

from __future__ import annotations

import enum
import random
from dataclasses import dataclass

from tests.integration.crash.faults.load import Load, draw_load
from tests.integration.crash.faults.replicas import LEASE


class FaultKind(enum.Enum):
    """What goes wrong."""

    KILL_LEADER = "kill -9 the leader, which starts again at once"
    LEADER_STAYS_AWAY = "kill -9 the leader, which starts again after the other took over"
    NO_CONTROLLER = "kill -9 both controllers"
    KILL_POSTGRES = "kill -9 Postgres"
    KILL_SERVER = "kill -9 the API server"
    SERVER_AWAY = "kill -9 the API server, which stays away"
    SHORT_PAUSE = "stop the leader for less than its lease"
    LONG_PAUSE = "stop the leader for longer than its lease"
    SHORT_CUT = "cut the leader off for less than its lease"
    LONG_CUT = "cut the leader off for longer than its lease"
    RESET = "reset all connections of the leader"
    WATCH_GAP = "cut the leader off while the API server is killed"


_SECONDS = {
    FaultKind.LEADER_STAYS_AWAY: (LEASE, LEASE + 6),
    FaultKind.NO_CONTROLLER: (3.0, 15.0),
    FaultKind.SERVER_AWAY: (2.0, 6.0),
    FaultKind.SHORT_PAUSE: (0.3 * LEASE, 0.9 * LEASE),
    FaultKind.LONG_PAUSE: (1.2 * LEASE, 1.6 * LEASE),
    FaultKind.SHORT_CUT: (0.3 * LEASE, 0.6 * LEASE),
    FaultKind.LONG_CUT: (1.2 * LEASE, 1.8 * LEASE),
    FaultKind.WATCH_GAP: (2.0, 5.0),
}
"""How long each lasts, at least and at most."""

SECONDS_FOR_A_PIECE = 0.45
SECONDS_FOR_A_FAULT = 8.0


@dataclass(frozen=True, slots=True)
class Fault:
    at: float
    kind: FaultKind
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is to happen, as drawn."""

    seed: int
    seconds: float
    load: Load
    faults: tuple[Fault, ...]


def draw_plan(seed: int, workloads: int, faults: int, nodes: int) -> Plan:
    rng = random.Random(seed)
    seconds = max(SECONDS_FOR_A_PIECE * workloads, SECONDS_FOR_A_FAULT * faults)
    load = draw_load(rng, workloads, seconds, nodes)
    return Plan(seed, seconds, load, tuple(_draw_faults(rng, faults, seconds)))


def _draw_faults(rng: random.Random, count: int, seconds: float) -> list[Fault]:
    """Every kind as often as any other, evenly over the time, each at a random moment."""
    kinds: list[FaultKind] = []
    while len(kinds) < count:
        kinds += rng.sample(list(FaultKind), len(FaultKind))
    slot = seconds / max(1, count)
    found = []
    for number, kind in enumerate(kinds[:count]):
        shortest, longest = _SECONDS.get(kind, (0.0, 0.0))
        at = slot * (number + rng.uniform(0.1, 0.9))
        found.append(Fault(at, kind, round(rng.uniform(shortest, longest), 1)))
    return found
