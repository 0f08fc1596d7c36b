"""What users ask for during a run: drawn from a seed, each piece with the end that it must come to.

Most of it is to succeed. Some is made to fail, to overrun its walltime, to be impossible, or to be
deleted while it waits or runs: those must end just so, whichever component was killed on the way.
"""

from __future__ import annotations

import enum
import random
from dataclasses import dataclass, replace

CORES = 16
"""Of a node."""


class Kind(enum.Enum):
    """How a piece of work reaches the cluster."""

    GANG = "gang"
    """Pods of one group label."""
    SINGLE = "single"
    """A pod by itself."""
    JOB = "job"
    """A Job whose pods name our scheduler."""
    QUEUED = "queued"
    """The same, suspended and marked as the webhook does it: we let it go."""
    FOREIGN = "foreign"
    """Pods for kube-scheduler, on the same nodes."""


class Fate(enum.Enum):
    """How it is to end."""

    SUCCEEDS = "succeeds"
    FAILS = "fails"
    OVERRUNS = "overruns"
    IMPOSSIBLE = "impossible"
    DELETED = "deleted"


JOBS = (Kind.JOB, Kind.QUEUED)


@dataclass(frozen=True, slots=True)
class Work:
    """One piece."""

    name: str
    kind: Kind
    pods: int = 1
    """Side by side."""
    cores: int = 1
    """Of each pod."""
    seconds: float = 3.0
    """How long each pod runs."""
    rounds: int = 1
    """Of a Job: so many times as many completions as pods side by side."""
    indexed: bool = True
    fate: Fate = Fate.SUCCEEDS
    at: float = 0.0
    """When it comes, in seconds from the start."""
    deleted_after: float = 0.0
    walltime: int = 90

    @property
    def is_ours(self) -> bool:
        return self.kind is not Kind.FOREIGN

    @property
    def is_job(self) -> bool:
        return self.kind in JOBS

    @property
    def completions(self) -> int:
        return self.pods * self.rounds

    @property
    def volume(self) -> float:
        """Core-seconds."""
        return self.completions * self.cores * self.seconds


_MIX = {Kind.GANG: 8, Kind.QUEUED: 5, Kind.JOB: 4, Kind.SINGLE: 5, Kind.FOREIGN: 4}
_SHARE = 0.55
"""Of what the cluster could do in the time. It cannot do all that while things are killed."""


def draw(rng: random.Random, seconds: float, nodes: int) -> list[Work]:
    """Work for so long, in the order in which it comes."""
    works = _designed(nodes)
    enough = _SHARE * seconds * nodes * CORES
    while sum(work.volume for work in works if work.fate is Fate.SUCCEEDS) < enough:
        works.append(_any(rng, len(works)))
    works = [replace(work, at=rng.uniform(0.0, seconds)) for work in works]
    return sorted(works, key=lambda work: work.at)


def whole_cluster(nodes: int) -> Work:
    """What can only run if nothing at all was leaked."""
    return Work("whole-cluster", Kind.GANG, nodes, CORES, 1.0)


def _any(rng: random.Random, number: int) -> Work:
    kind = rng.choices(list(_MIX), list(_MIX.values()))[0]
    name, seconds = f"{kind.value}-{number}", round(rng.uniform(1.0, 6.0), 1)
    if kind is Kind.SINGLE:
        return Work(name, kind, 1, rng.choice([1, 2, 4]), seconds)
    if kind is Kind.FOREIGN:
        return Work(name, kind, rng.randint(1, 4), rng.choice([1, 2]), seconds)
    pods, cores = rng.choice([2, 3, 4, 8, 12, 20]), rng.choice([1, 2, 3, 4])
    if kind is Kind.GANG:
        return Work(name, kind, pods, cores, seconds)
    rounds = rng.choice([1, 1, 1, 2])
    return Work(name, kind, pods, cores, seconds / rounds, rounds, rng.random() < 0.7)


def _designed(nodes: int) -> list[Work]:
    """Pieces that every run has, because chance might leave them out."""
    fails, overruns, deleted = Fate.FAILS, Fate.OVERRUNS, Fate.DELETED
    return [
        Work("impossible", Kind.GANG, nodes + 1, CORES, fate=Fate.IMPOSSIBLE),
        Work("failing-gang", Kind.GANG, 6, 2, 3.0, fate=fails),
        Work("failing-job", Kind.QUEUED, 4, 2, 3.0, fate=fails),
        Work("endless-gang", Kind.GANG, 4, 2, 600.0, fate=overruns, walltime=15),
        Work("endless-job", Kind.QUEUED, 4, 2, 600.0, fate=overruns, walltime=15),
        Work("deleted-gang", Kind.GANG, 8, 4, 20.0, fate=deleted, deleted_after=3.0),
        Work("deleted-job", Kind.QUEUED, 8, 4, 20.0, fate=deleted, deleted_after=3.0),
        Work("deleted-soon", Kind.JOB, 12, 2, 20.0, fate=deleted, deleted_after=0.3),
    ]
