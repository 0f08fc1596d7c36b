"""Foreign usage: what pods hold of each node without a job of the queue that accounts for it.

Every bound pod that the queue does not account for counts here, from the moment it is seen until it
has ended or is gone: pods of other schedulers, daemons, and pods of ours without a job. `take`
returns the sums of the nodes that changed; until then `is_changed` keeps binds off such a node.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Amounts = tuple[tuple[str, int], ...]


@dataclass(slots=True)
class ForeignUsage:
    """What foreign pods hold, and on which nodes that changed."""

    pods: dict[str, tuple[str, Amounts]] = field(default_factory=dict)
    """The node and the amounts of each pod, by uid."""
    sums: dict[str, dict[str, int]] = field(default_factory=dict)
    """By node and type."""
    _changed: set[str] = field(default_factory=set)
    """Nodes whose sums changed since the last `take`."""

    def put(self, uid: str, node: str, amounts: Amounts) -> None:
        """A pod holds this on a node."""
        if self.pods.get(uid) == (node, amounts):
            return
        self.drop(uid)
        self.pods[uid] = (node, amounts)
        self._add(node, amounts, +1)

    def drop(self, uid: str) -> None:
        """A pod holds nothing any more, or a job accounts for it now."""
        known = self.pods.pop(uid, None)
        if known is not None:
            self._add(*known, -1)

    def _add(self, node: str, amounts: Amounts, sign: int) -> None:
        sums = self.sums.setdefault(node, {})
        for type, amount in amounts:
            sums[type] = sums.get(type, 0) + sign * amount
        self._changed.add(node)

    def touch(self, node: str) -> None:
        """A node is new, or has new pools: the next `take` includes it."""
        if node in self.sums:
            self._changed.add(node)

    def touch_all(self) -> None:
        """There are new pools everywhere."""
        self._changed.update(self.sums)

    def is_changed(self, node: str) -> bool:
        """Whether the sums of a node changed since the last `take`."""
        return node in self._changed

    def take(self) -> dict[str, dict[str, int]]:
        """The sums of the nodes that changed since the last call."""
        changed, self._changed = self._changed, set()
        return {node: dict(self.sums[node]) for node in changed}
