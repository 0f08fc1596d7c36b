"""Remembers what pools had before they shrank below what pods hold of them.

A kubelet reports less when a device fails, when a device plugin starts anew, or when memory is
reserved. Kubernetes leaves the pods of such a node alone, so these pods do not *crowd* it: what
they hold is compared with the largest size that the pool had since the youngest of them was bound.
A pod that is bound later is compared with what is left.

    size   8 ───────────┐ shrinks: 8 counts for the pods that are here now
           7            └──────────────────────────────
    pods     a, b                  c comes: a, b and c are compared with 7

The sizes are written into properties of the pools, and so are stored with the graph: a new term
knows them (`restore`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from fluxnetes.kube.objects.pods import Pod

EARLIER = "earlier-sizes"
"""The property of a pool that holds its earlier sizes, as `size@time` with commas."""

ANY_SIZE = math.inf
"""The size of a pool in the past, where that is not known: whatever pods hold fitted then."""


@dataclass(frozen=True, slots=True)
class EarlierSize:
    """A size that a pool had until it shrank."""

    size: float
    until: int
    """Seconds since the epoch."""
    pods: frozenset[str] = frozenset()
    """Uids of the pods that held some of it then, as far as they were seen."""

    def counts_for(self, uid: str, pod: Pod | None) -> bool:
        """Whether a pod was bound before the pool shrank."""
        if uid in self.pods:
            return True
        bound = bound_at(pod)
        return bound is not None and bound <= self.until


@dataclass(slots=True)
class ShrunkenPools:
    """The earlier sizes of pools, by node and type."""

    _sizes: dict[tuple[str, str], list[EarlierSize]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self._sizes)

    def __contains__(self, pool: tuple[str, str]) -> bool:
        return pool in self._sizes

    def shrank(self, node: str, type: str, earlier: EarlierSize) -> None:
        """A pool has less than its pods hold."""
        known = self._sizes.setdefault((node, type), [])
        if not any(_says_more(each, earlier) for each in known):
            known.append(earlier)

    def grew(self, node: str, type: str, size: int) -> None:
        """A pool has this again; smaller earlier sizes do not matter any more."""
        known = self._sizes.get((node, type))
        if known is not None:
            known[:] = [each for each in known if each.size > size]
            if not known:
                del self._sizes[node, type]

    def forget(self, node: str) -> None:
        """A node is gone."""
        for pool in [pool for pool in self._sizes if pool[0] == node]:
            del self._sizes[pool]

    def largest(self, node: str, type: str, size: int, pods: Mapping[str, Pod | None]) -> float:
        """The largest size that a pool had since the youngest of some pods was bound."""
        known = self._sizes.get((node, type), ())
        for earlier in sorted(known, key=lambda each: -each.size):
            if all(earlier.counts_for(uid, pod) for uid, pod in pods.items()):
                return max(float(size), earlier.size)
        return size

    # -- for the next term ---------------------------------------------------------------------

    def text(self, node: str, type: str) -> str:
        """The earlier sizes of a pool as they are stored; empty if there are none."""
        known = self._sizes.get((node, type), ())
        return ",".join(f"{each.size}@{each.until}" for each in known)

    def restore(self, node: str, type: str, text: str) -> None:
        """Earlier sizes that were stored. Which pods were there follows from when each was
        bound."""
        found = []
        for each in text.split(","):
            size, _, until = each.partition("@")
            found.append(EarlierSize(float(size), int(until)))
        self._sizes[node, type] = found


def _says_more(known: EarlierSize, new: EarlierSize) -> bool:
    """Whether the pods of a new size are known to have been there when the pool was larger."""
    covers = known.pods >= new.pods if new.pods else known.until >= new.until
    return known.size >= new.size and covers


def bound_at(pod: Pod | None) -> float | None:
    """When a pod was bound: seconds since the epoch; None: not known.

    The API server writes it for pods that are bound, the kubelet for those that were created on
    their node.
    """
    if pod is None:
        return None
    scheduled = (c for c in pod.status.conditions if c.type == "PodScheduled")
    times = [c.last_transition_time for c in scheduled if c.status == "True"]
    times += [pod.status.start_time, pod.metadata.creation_timestamp]
    known = next((time for time in times if time is not None), None)
    return None if known is None else known.timestamp()
