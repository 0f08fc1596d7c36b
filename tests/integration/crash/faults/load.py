"""What users and administrators do during a run, drawn from a seed.

Nothing here says how a piece of work is to end: what Kubernetes says of it in the end is the truth.
So suspensions, deletions, drains, vanishing nodes and foreign pods may hit anything at any time.
"""

from __future__ import annotations

import enum
import random
from dataclasses import dataclass, replace

CORES = 16
"""Of a node."""


class Kind(enum.Enum):
    """How a piece of work reaches the cluster."""

    SINGLE = "single"
    """A pod by itself."""
    GANG = "gang"
    """Pods of one group label."""
    JOB = "job"
    """A Job whose pods name our scheduler."""
    QUEUED = "queued"
    """The same, suspended and marked as the webhook does it: we release it."""
    FOREIGN = "foreign"
    """Pods for kube-scheduler, on the same nodes."""
    PINNED = "pinned"
    """Foreign pods that name their node, where they collide with ours."""


FOREIGN = (Kind.FOREIGN, Kind.PINNED)
JOBS = (Kind.JOB, Kind.QUEUED)


class Verb(enum.Enum):
    """What a user does to a piece of work."""

    SUSPEND = "suspend"
    RESUME = "resume"
    DELETE = "delete"
    DELETE_POD = "delete one pod of"


class NodeVerb(enum.Enum):
    """What an administrator does to a node."""

    DELETE = "delete"
    CREATE = "create"
    DRAIN = "drain"
    UNCORDON = "uncordon"


@dataclass(frozen=True, slots=True)
class Action:
    """What a user does, so many seconds after the work came."""

    after: float
    verb: Verb


@dataclass(frozen=True, slots=True)
class NodeAction:
    at: float
    verb: NodeVerb
    node: int


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of work."""

    name: str
    kind: Kind
    at: float = 0.0
    """When it comes, in seconds from the start."""
    pods: int = 1
    """Side by side."""
    cores: int = 1
    """Of each pod."""
    seconds: float = 3.0
    """How long each pod runs."""
    rounds: int = 1
    """Of a Job: so many times as many completions as pods side by side."""
    indexed: bool = True
    backoff: int = 0
    """How often a Job may retry a failed pod."""
    failing: int = 0
    """The number of pods that fail; of a Job all or none."""
    walltime: int = 120
    after: str = ""
    """The piece that must succeed first."""
    node: int = 0
    """Where a pinned pod runs."""
    actions: tuple[Action, ...] = ()

    @property
    def is_ours(self) -> bool:
        return self.kind not in FOREIGN

    @property
    def is_job(self) -> bool:
        return self.kind in JOBS


@dataclass(frozen=True, slots=True)
class Load:
    """All of it, in order of time."""

    pieces: tuple[Piece, ...]
    node_actions: tuple[NodeAction, ...]


_MIX = {
    Kind.SINGLE: 12,
    Kind.GANG: 22,
    Kind.JOB: 26,
    Kind.QUEUED: 26,
    Kind.FOREIGN: 6,
    Kind.PINNED: 8,
}
_DEPENDS, _FAILS, _OVERRUNS, _IS_TIGHT = 0.15, 0.1, 0.06, 0.5
_SECONDS_BETWEEN_NODES = 10.0
"""Between two actions on nodes, on average."""
_MOST_NODES_AWAY = 0.25
_COLLECTED_AFTER = 75.0
"""Seconds after which Kubernetes has deleted the pods of a node that does not exist."""


def draw_load(rng: random.Random, count: int, seconds: float, nodes: int) -> Load:
    """So many pieces within so many seconds, for a cluster of so many nodes."""
    pieces: list[Piece] = []
    moments = sorted(rng.uniform(0.0, seconds) for _ in range(count))
    for number, at in enumerate(moments):
        piece = replace(_draw_piece(rng, number, nodes), at=at)
        if piece.is_ours and piece.kind is not Kind.SINGLE and rng.random() < _DEPENDS:
            piece = replace(piece, after=_draw_dependency(rng, pieces))
        pieces.append(piece)
    return Load(tuple(pieces), tuple(_draw_node_actions(rng, seconds, nodes)))


def _draw_dependency(rng: random.Random, pieces: list[Piece]) -> str:
    """One of the last pieces, so that it may still be on its way."""
    recent = [each.name for each in pieces[-15:] if each.is_ours]
    return rng.choice(recent) if recent else ""


def _draw_piece(rng: random.Random, number: int, nodes: int) -> Piece:
    kind = rng.choices(list(_MIX), list(_MIX.values()))[0]
    name, seconds = f"{kind.value}-{number}", round(rng.uniform(0.5, 6.0), 1)
    if kind is Kind.PINNED:
        cores, node = rng.choice([4, 8, 12]), rng.randrange(nodes)
        return Piece(name, kind, cores=cores, seconds=round(rng.uniform(2, 12), 1), node=node)
    if kind is Kind.FOREIGN:
        return Piece(name, kind, pods=rng.randint(1, 3), cores=rng.choice([1, 2]), seconds=seconds)
    pods = 1 if kind is Kind.SINGLE else rng.choice([1, 2, 2, 3, 4, 6])
    piece = Piece(name, kind, pods=pods, cores=rng.choice([1, 1, 2, 3, 4]), seconds=seconds)
    if piece.is_job:
        rounds = rng.choice([1, 1, 1, 2])
        backoff, indexed = rng.choice([0, 0, 1, 6]), rng.random() < 0.6
        piece = replace(piece, rounds=rounds, backoff=backoff, indexed=indexed)
    piece = _draw_end(rng, piece)
    return replace(piece, actions=_draw_actions(rng, piece))


def _draw_end(rng: random.Random, piece: Piece) -> Piece:
    """Whether its pods fail, and how its walltime compares with the time that they take."""
    fate = rng.random()
    if fate < _OVERRUNS:
        return replace(piece, seconds=90.0, walltime=rng.randint(4, 10))
    if fate < _OVERRUNS + _FAILS:
        some = rng.randint(1, piece.pods)
        piece = replace(
            piece, failing=piece.pods if piece.is_job else some, backoff=min(piece.backoff, 1)
        )
    if rng.random() < _IS_TIGHT:
        needed = int(piece.seconds * piece.rounds) + 1
        piece = replace(piece, walltime=needed + rng.randint(2, 12))
    return piece


def _draw_actions(rng: random.Random, piece: Piece) -> tuple[Action, ...]:
    first = round(rng.uniform(0.1, 8.0), 2)
    what = rng.random()
    if what < 0.08:
        return (Action(first, Verb.DELETE),)
    if what < 0.12:
        return (Action(first, Verb.DELETE_POD),)
    if not piece.is_job or what > 0.27:
        return ()
    suspend = Action(first, Verb.SUSPEND)
    if what < 0.14:
        return (suspend,)
    resume = Action(first + round(rng.choice([0.3, 2.0, 5.0, 12.0]), 2), Verb.RESUME)
    if what < 0.25:
        return (suspend, resume)
    return (
        suspend,
        resume,
        Action(resume.after + 1.5, Verb.SUSPEND),
        Action(resume.after + 4.0, Verb.RESUME),
    )


def _draw_node_actions(rng: random.Random, seconds: float, nodes: int) -> list[NodeAction]:
    """Nodes that go and come back; never too many at a time."""
    found: list[NodeAction] = []
    back: dict[int, float] = {}
    at = rng.expovariate(1 / _SECONDS_BETWEEN_NODES)
    while at < seconds:
        away = {node for node, until in back.items() if until > at}
        if len(away) + 1 <= max(1, int(nodes * _MOST_NODES_AWAY)):
            node = rng.choice([each for each in range(nodes) if each not in away])
            pair, until = _draw_absence(rng, at, may_be_long=seconds > 2 * _COLLECTED_AFTER)
            found += [NodeAction(at, pair[0], node), NodeAction(until, pair[1], node)]
            back[node] = until + 1.0
        at += rng.expovariate(1 / _SECONDS_BETWEEN_NODES)
    return sorted(found, key=lambda each: each.at)


def _draw_absence(
    rng: random.Random, at: float, *, may_be_long: bool
) -> tuple[tuple[NodeVerb, NodeVerb], float]:
    what = rng.random()
    if what < 0.35:
        return (NodeVerb.DRAIN, NodeVerb.UNCORDON), at + rng.uniform(3, 20)
    if what < 0.9 or not may_be_long:
        return (NodeVerb.DELETE, NodeVerb.CREATE), at + rng.uniform(0.5, 8)
    return (NodeVerb.DELETE, NodeVerb.CREATE), at + _COLLECTED_AFTER
