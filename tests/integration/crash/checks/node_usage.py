"""No node is over-committed by us; where others and we collided.

The record is gone through in order, adding up what is on each node. At each bind of ours, what is
there of ours, what others bound early enough for us to have seen it, and the new pod must fit.

Other schedulers may take capacity at the very moment when we do. Neither can see that before: both
pods are bound, and the node holds more than it has. That is a *collision*. It must be over within
seconds, because our controller evicts its own pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.integration.crash.checks.evidence import Away, Evidence, seconds_between
from tests.integration.crash.record import Amounts, Node, Pod, Seen

SEEN_AFTER = 2.0
"""Seconds, with the API server there, after which we ought to have seen what others did."""
RESOLVED_AFTER = 20.0
"""Seconds that a collision may last: patience, an eviction, and a restart of ours in between."""


@dataclass(frozen=True, slots=True)
class OnNode:
    """A pod that takes capacity of a node."""

    pod: Pod
    bound: float
    """When."""

    def could_be_seen(self, at: float, away: tuple[Away, ...]) -> bool:
        """Our own we know without looking."""
        return self.pod.is_ours or seconds_between(self.bound, at, away) >= SEEN_AFTER


@dataclass(frozen=True, slots=True)
class Collision:
    """A node held more than it has."""

    node: str
    since: float
    until: float
    works: frozenset[str]
    """The names of the work whose pods were there."""


@dataclass(slots=True)
class NodeUsage:
    """One node while the record is gone through."""

    allocatable: Amounts
    there: dict[str, OnNode] = field(default_factory=dict)

    def excess(self, before: float | None = None, away: tuple[Away, ...] = ()) -> Amounts:
        """What is too much; with a moment, without what others did too shortly before it."""
        sums: Amounts = {}
        for each in self.there.values():
            if before is not None and not each.could_be_seen(before, away):
                continue
            for name, amount in each.pod.requests.items():
                sums[name] = sums.get(name, 0) + amount
        return {
            name: amount - self.allocatable.get(name, 0)
            for name, amount in sums.items()
            if amount > self.allocatable.get(name, 0)
        }


@dataclass(frozen=True, slots=True)
class Step:
    """A pod came to a node or left it."""

    seen: Seen
    pod: Pod
    node: str
    usage: NodeUsage
    came: bool


def steps(record: tuple[Seen, ...]) -> Iterator[Step]:
    """Every bind and every end of a pod, with the usage of the node right after it."""
    nodes: dict[str, NodeUsage] = {}
    where: dict[str, str] = {}
    for seen in record:
        thing = seen.thing
        if isinstance(thing, Node):
            nodes.setdefault(thing.name, NodeUsage({})).allocatable = thing.allocatable
        elif isinstance(thing, Pod):
            node = where.get(thing.uid, "")
            if thing.holds and not node:
                where[thing.uid] = thing.node
                nodes[thing.node].there[thing.uid] = OnNode(thing, seen.at)
                yield Step(seen, thing, thing.node, nodes[thing.node], came=True)
            elif node and not thing.holds:
                del where[thing.uid]
                del nodes[node].there[thing.uid]
                yield Step(seen, thing, node, nodes[node], came=False)


def overcommitments(evidence: Evidence) -> list[str]:
    """Binds of ours that could be known not to fit."""
    found = []
    for step in steps(evidence.record):
        if not step.came or not step.pod.is_ours:
            continue
        excess = step.usage.excess(step.seen.at, evidence.server_away)
        if excess:
            found.append(
                f"pod {step.pod.name} was bound to {step.node} (version {step.seen.version}), "
                f"which then held too much: {_listed(excess)}"
            )
    return found


def strangers(evidence: Evidence) -> list[str]:
    """Pods that name our scheduler and that another scheduler bound."""
    came = (step for step in steps(evidence.record) if step.came and step.pod.is_ours)
    return [f"pod {s.pod.name} was bound to {s.node}, not by us" for s in came if not s.pod.job]


def collisions(evidence: Evidence) -> list[Collision]:
    """When nodes held more than they have."""
    began: dict[str, tuple[float, set[str]]] = {}
    found = []
    now = 0.0
    for step in steps(evidence.record):
        now, there = step.seen.at, {each.pod.work for each in step.usage.there.values()}
        if step.usage.excess():
            began.setdefault(step.node, (now, set()))[1].update(there)
        elif step.node in began:
            since, works = began.pop(step.node)
            found.append(Collision(step.node, since, now, frozenset(works)))
    for node, (since, works) in began.items():
        found.append(Collision(node, since, now, frozenset(works)))
    return found


def lasting_collisions(evidence: Evidence) -> list[str]:
    """Collisions that were not resolved in time."""
    return [
        f"node {each.node} held more than it has for {each.until - each.since:.1f} s, "
        f"with {', '.join(sorted(each.works))}"
        for each in collisions(evidence)
        if seconds_between(each.since, each.until, evidence.server_away) > RESOLVED_AFTER
    ]


def _listed(excess: Amounts) -> str:
    return ", ".join(f"{amount} of {name}" for name, amount in sorted(excess.items()))
