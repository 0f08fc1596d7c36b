"""Seats for pods, as the queue would give them."""

from __future__ import annotations

from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.cluster.pods.footprint import Footprint

SMALL = Footprint((("cpu", 1000), ("pods", 1), ("tenancy", 1)), "rule-a")


def seated(model: ClusterModel, uid: str, node: str) -> None:
    """The queue gave the pod's group a seat for it."""
    group = model.group_of(uid)
    assert group is not None
    part = GroupPart(1, (SMALL,))
    part.place([node], ())
    group.add_part(part)
    group.take_seat(uid, part, 0)
