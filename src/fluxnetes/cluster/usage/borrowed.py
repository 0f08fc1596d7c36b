"""Borrowed usage: foreign pods on resources that a caller was given, so that they count only once.

A caller over gRPC is given a share of nodes and places pods there itself, or has another scheduler
do it. Such a pod names the caller's job, by an annotation or by Fluxqueue's label. As far as the
job's share on the pod's node has capacity left, the pod is *covered*: it counts nothing besides the
share. What goes beyond the share, or names a job without one, counts as foreign usage like that of
any other pod. So a pod that names the job of another user gains nothing.

Pods that came first are covered first. When one of them goes, pods that were not fully covered are
counted again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fluxnetes.cluster.labels.names import ALLOCATION, JOBID
from fluxnetes.cluster.usage.foreign import Amounts
from fluxnetes.kube.objects.pods import Pod

Share = Mapping[str, Mapping[str, int]]
"""What a job holds, by node and type."""
_Place = tuple[int, str]
"""A job, and a node that it holds something of."""


@dataclass(frozen=True, slots=True)
class _Borrower:
    """A bound pod that names a job."""

    place: _Place
    covered: Mapping[str, int]
    lacks: bool
    """Whether some of its usage is not covered."""


@dataclass(slots=True)
class BorrowedUsage:
    """The shares of callers' jobs, and the pods that use them."""

    _shares: dict[int, Share] = field(default_factory=dict)
    _borrowers: dict[str, _Borrower] = field(default_factory=dict)
    """By uid."""
    _naming: dict[int, dict[str, None]] = field(default_factory=dict)
    """The uids of the pods that name a job, in the order in which they came."""
    _used: dict[_Place, dict[str, int]] = field(default_factory=dict)
    """How much of a share is in use."""
    _uncovered: dict[str, None] = field(default_factory=dict)
    """Uids of pods that may be covered better than when they were last counted."""

    def lend(self, job: int, share: Share | None) -> None:
        """A job holds this from now on; None: nothing."""
        if share is None:
            self._shares.pop(job, None)
        else:
            self._shares[job] = share
        for uid in self._naming.get(job, ()):
            self._release(uid)
            self._borrowers[uid] = _Borrower(self._borrowers[uid].place, {}, lacks=True)
            self._uncovered[uid] = None

    def beyond(self, pod: Pod, amounts: Amounts) -> Amounts:
        """The part of a pod's usage on its node that no share covers."""
        uid, job = pod.metadata.uid, named_by(pod)
        place = None if job is None else (job, pod.spec.node_name)
        known = self._borrowers.get(uid)
        if known is not None and known.place != place:
            self.drop(uid)
        if place is None:
            return amounts
        before = self._release(uid)
        left = self._left(place)
        covered = {t: min(amount, left[t]) for t, amount in amounts if left.get(t, 0) > 0}
        rest = tuple((t, n - covered.get(t, 0)) for t, n in amounts if n > covered.get(t, 0))
        self._take(uid, _Borrower(place, covered, lacks=bool(rest)))
        if any(amount > covered.get(type, 0) for type, amount in before.items()):
            self._count_others_again(place, uid)
        return rest

    def _left(self, place: _Place) -> dict[str, int]:
        job, node = place
        share, used = self._shares.get(job, {}).get(node, {}), self._used.get(place, {})
        return {type: amount - used.get(type, 0) for type, amount in share.items()}

    def _take(self, uid: str, borrower: _Borrower) -> None:
        self._borrowers[uid] = borrower
        self._naming.setdefault(borrower.place[0], {})[uid] = None
        if borrower.covered:
            used = self._used.setdefault(borrower.place, {})
            for type, amount in borrower.covered.items():
                used[type] = used.get(type, 0) + amount

    def _release(self, uid: str) -> Mapping[str, int]:
        """Return what covered a pod to its share; the pod keeps its place in the order."""
        borrower = self._borrowers.get(uid)
        if borrower is None:
            return {}
        used = self._used.get(borrower.place, {})
        for type, amount in borrower.covered.items():
            used[type] -= amount
        if used and not any(used.values()):
            del self._used[borrower.place]
        return borrower.covered

    def drop(self, uid: str) -> None:
        """A pod is gone, or names no job any more."""
        if uid not in self._borrowers:
            return
        freed = self._release(uid)
        place = self._borrowers.pop(uid).place
        self._uncovered.pop(uid, None)
        naming = self._naming[place[0]]
        del naming[uid]
        if not naming:
            del self._naming[place[0]]
        elif freed:
            self._count_others_again(place, uid)

    def _count_others_again(self, place: _Place, uid: str) -> None:
        for each in self._naming[place[0]]:
            borrower = self._borrowers[each]
            if each != uid and borrower.lacks and borrower.place == place:
                self._uncovered[each] = None

    def take_uncovered(self) -> list[str]:
        """The uids of pods to count again."""
        uids, self._uncovered = list(self._uncovered), {}
        return uids

    def using(self, job: int) -> int:
        """The number of pods that use what a job holds."""
        borrowed = (self._borrowers[uid] for uid in self._naming.get(job, ()))
        return sum(bool(borrower.covered) for borrower in borrowed)


def named_by(pod: Pod) -> int | None:
    """The number of the job whose share a pod says it uses; None: it names none."""
    text = pod.metadata.annotations.get(ALLOCATION) or pod.metadata.labels.get(JOBID) or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
