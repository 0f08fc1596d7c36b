"""Pods of others on what a caller was given: they count once.

A caller over gRPC is given a share of nodes and puts pods there by itself, or has some scheduler do
it. Such a pod says whose share it uses, by an annotation or by Fluxqueue's label. As far as there
is room left in that share on its node, the pod is covered: it holds nothing besides. What does not
fit any more, or names a share that is not there, counts as every pod of others does; so whoever
writes another's number on its pods gains nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fluxnetes.cluster.names import ALLOCATION, JOBID
from fluxnetes.cluster.others import Amounts
from fluxnetes.kube.objects.pods import Pod


@dataclass(slots=True)
class Guests:
    """Which shares there are, and who uses them."""

    _shares: dict[int, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    """What each caller's job has, by node and type."""
    _covered: dict[str, tuple[int, str, Amounts]] = field(default_factory=dict)
    """The job, the node and the amounts of every pod that is covered, by its uid."""
    _naming: dict[int, set[str]] = field(default_factory=dict)
    """The uids of all pods on nodes that name a job."""

    def lend(self, job: int, nodes: Mapping[str, Mapping[str, int]] | None) -> set[str]:
        """A job has this from now on; returns the uids of pods to look at again."""
        if nodes is None:
            self._shares.pop(job, None)
        else:
            self._shares[job] = nodes
        return set(self._naming.get(job, ()))

    def covers(self, pod: Pod, amounts: Amounts) -> bool:
        """Whether what a pod holds is a part of a share."""
        uid, node, job = pod.metadata.uid, pod.spec.node_name, named_by(pod)
        self.drop(uid)
        if job is None:
            return False
        self._naming.setdefault(job, set()).add(uid)
        left = dict(self._shares.get(job, {}).get(node, {}))
        for other, at, taken in self._covered.values():
            if (other, at) == (job, node):
                for type, amount in taken:
                    left[type] = left.get(type, 0) - amount
        if any(amount > left.get(type, 0) for type, amount in amounts):
            return False
        self._covered[uid] = (job, node, amounts)
        return True

    def drop(self, uid: str) -> None:
        """A pod is gone, or is looked at again."""
        self._covered.pop(uid, None)
        for job in [job for job, uids in self._naming.items() if uid in uids]:
            self._naming[job].discard(uid)
            if not self._naming[job]:
                del self._naming[job]

    def using(self, job: int) -> int:
        """How many pods use what a job has."""
        return sum(other == job for other, _, _ in self._covered.values())


def named_by(pod: Pod) -> int | None:
    """The number of the job whose share a pod says it uses; None: it says nothing of the kind."""
    said = pod.metadata.annotations.get(ALLOCATION) or pod.metadata.labels.get(JOBID) or ""
    return int(said) if said.isascii() and said.isdigit() and len(said) < 19 else None
