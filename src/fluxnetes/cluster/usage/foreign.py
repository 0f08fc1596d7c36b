"""What others' pods hold of each machine.

Everything that is bound to a node and is not ours to account for counts here, from the moment it is
seen until it has ended or is gone: pods of other schedulers, daemons, and pods of ours that no job
of the queue stands for. `take` gives the sums of the nodes that changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Amounts = tuple[tuple[str, int], ...]


@dataclass(slots=True)
class ForeignUsage:
    """Pods that count, by uid."""

    pods: dict[str, tuple[str, Amounts]] = field(default_factory=dict)
    sums: dict[str, dict[str, int]] = field(default_factory=dict)
    """By node and type."""
    _changed: set[str] = field(default_factory=set)
    """Nodes of which nobody has taken the sums since they changed."""

    def put(self, uid: str, node: str, amounts: Amounts) -> None:
        """A pod holds this on a node."""
        if self.pods.get(uid) == (node, amounts):
            return
        self.drop(uid)
        self.pods[uid] = (node, amounts)
        self._add(node, amounts, +1)

    def drop(self, uid: str) -> None:
        """A pod holds nothing any more, or is accounted for elsewhere."""
        known = self.pods.pop(uid, None)
        if known is not None:
            self._add(*known, -1)

    def _add(self, node: str, amounts: Amounts, sign: int) -> None:
        sums = self.sums.setdefault(node, {})
        for type, amount in amounts:
            sums[type] = sums.get(type, 0) + sign * amount
        self._changed.add(node)

    def touch(self, node: str) -> None:
        """A node is new, or has new pools: whoever asks next hears of it."""
        if node in self.sums:
            self._changed.add(node)

    def touch_all(self) -> None:
        """There are new pools everywhere."""
        self._changed.update(self.sums)

    def is_changed(self, node: str) -> bool:
        """Whether something changed on a node that nobody has taken yet."""
        return node in self._changed

    def take(self) -> dict[str, dict[str, int]]:
        """The sums on the nodes that changed since the last time."""
        changed, self._changed = self._changed, set()
        return {node: dict(self.sums[node]) for node in changed}
