"""Seats for pods, as the queue would give them."""

from __future__ import annotations

from fluxnetes.cluster.groups import Part
from fluxnetes.cluster.model import World
from fluxnetes.cluster.pods.footprint import Footprint

SMALL = Footprint((("cpu", 1000), ("pods", 1), ("tenancy", 1)), "rule-a")


def seated(world: World, uid: str, node: str) -> None:
    """The queue gave the pod's group a seat for it."""
    group = world.group_of(uid)
    assert group is not None
    part = Part(1, (SMALL,))
    part.place([node], ())
    group.parts.append(part)
    group.sit(uid, part, 0)
