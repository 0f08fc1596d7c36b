"""Judges whether more is held of a node than it has, and whether pods alone are the cause.

Two questions, with two answers:

- Is a node *exceeded*? Seats and foreign pods hold more than it has now. Then nothing new goes
  there, and seats without a bound pod move to other nodes.
- Is a node *crowded*? The pods that are bound there hold more than it had at any time since the
  youngest of them was bound. Then one of ours has to leave (`node_sync`).

A node that only shrank is exceeded and not crowded: its pods fitted when they came, Kubernetes lets
them run, and so does the controller.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.cluster.groups import WorkloadGroup
from fluxnetes.cluster.node_graph import NodeChanges
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.cluster.shrunken_pools import EarlierSize
from fluxnetes.controller.state import ControllerState


@dataclass(slots=True, eq=False)
class CrowdedNodes:
    """Compares what is held of nodes with what they have, or had."""

    shared: ControllerState

    def exceeded(self, node: str) -> set[str]:
        """The types of which seats and foreign pods hold more than a node has now."""
        return self._over(node, bound_only=False)

    def crowded(self, node: str) -> set[str]:
        """The types of which the pods of a node hold more than it had since the last of them came.

        Only types that kubelets count: what only we count is unknown to other schedulers, whose
        pods may stay.
        """
        return {
            type
            for type in self._over(node, bound_only=True)
            if _is_enforced(type) and not self._only_shrank(node, type)
        }

    def parts_holding(self, node: str, types: set[str]) -> list[tuple[WorkloadGroup, GroupPart]]:
        """The parts with seats on a node that hold some of these types."""
        found = {}
        for job, task in self.shared.seats_on.get(node, ()):
            group, part = self.shared.parts[job]
            if any(type in types for type, _ in part.footprints[task].amounts):
                found[job] = group, part
        return list(found.values())

    def _over(self, node: str, *, bound_only: bool) -> set[str]:
        """The types of which more is held than there is now."""
        shared = self.shared
        graph_node = shared.model.node_graph.nodes.get(node)
        seats = shared.seats_on.get(node)
        if graph_node is None or not seats:
            return set()
        held = dict(shared.model.foreign.sums.get(node, {}))
        for job, task in seats:
            part = shared.parts[job][1]
            if bound_only and task not in part.bound:
                continue
            for type, amount in part.footprints[task].amounts:
                held[type] = held.get(type, 0) + amount
        return {type for type, amount in held.items() if amount > graph_node.sizes.get(type, 0)}

    # -- pools that shrank ---------------------------------------------------------------------

    def _only_shrank(self, node: str, type: str) -> bool:
        """Whether the pods that hold some of a type fitted together once."""
        node_graph = self.shared.model.node_graph
        if (node, type) not in node_graph.shrunken:
            return False
        amounts = self._holders(node, type)
        pods = {uid: self.shared.model.bound_pod(uid) for uid in amounts}
        size = node_graph.nodes[node].sizes.get(type, 0)
        return sum(amounts.values()) <= node_graph.shrunken.largest(node, type, size, pods)

    def _holders(self, node: str, type: str) -> dict[str, int]:
        """How much each pod on a node holds of a type, by uid."""
        held: dict[str, int] = {}
        for uid, (where, amounts) in self.shared.model.foreign.pods.items():
            if where == node:
                _add(held, uid, amounts, type)
        for job, task in self.shared.seats_on.get(node, ()):
            part = self.shared.parts[job][1]
            if task in part.bound:
                _add(held, part.pods[task], part.footprints[task].amounts, type)
        return held

    def pools_changed(self, changes: NodeChanges) -> None:
        """Pools have another size: remember what they had if pods hold more than is left."""
        node_graph = self.shared.model.node_graph
        for (node, type), before in changes.shrunk.items():
            self.remember(node, type, before)
        for (node, type), size in changes.grown.items():
            if (node, type) in node_graph.shrunken:
                node_graph.shrunken.grew(node, type, size)
                node_graph.write_earlier_sizes(node, type)

    def remember(self, node: str, type: str, before: float) -> None:
        """A pool had `before` until now; its pods may hold more than is left."""
        node_graph = self.shared.model.node_graph
        held = self._holders(node, type)
        if sum(held.values()) <= node_graph.nodes[node].sizes.get(type, 0):
            return
        earlier = EarlierSize(before, self.shared.now, frozenset(held))
        node_graph.shrunken.shrank(node, type, earlier)
        node_graph.write_earlier_sizes(node, type)


def _add(held: dict[str, int], uid: str, amounts: tuple[tuple[str, int], ...], type: str) -> None:
    amount = sum(n for each, n in amounts if each == type)
    if amount:
        held[uid] = held.get(uid, 0) + amount


def _is_enforced(type: str) -> bool:
    """Whether kubelets count it."""
    return type != "tenancy" and not type.startswith("apart:")
