"""Pods of others on what a caller was given: they count once.

A caller over gRPC is given a share of nodes and puts pods there by itself, or has some scheduler do
it. Such a pod says whose share it uses, by an annotation or by Fluxqueue's label. As far as there
is room left in that share on its node, the pod is covered: it holds nothing besides. What goes
beyond, or names a share that is not there, counts as that of every pod of others does; so whoever
writes another's number on its pods gains nothing.

Pods that came first are covered first. When one of them goes, those that went beyond are looked at
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fluxnetes.cluster.labels.names import ALLOCATION, JOBID
from fluxnetes.cluster.usage.foreign import Amounts
from fluxnetes.kube.objects.pods import Pod

Share = Mapping[str, Mapping[str, int]]
"""What a job has, by node and type."""
_Place = tuple[int, str]
"""A job, and a node that it has something of."""


@dataclass(frozen=True, slots=True)
class _Guest:
    """A pod on a node that names a job."""

    place: _Place
    covered: Mapping[str, int]
    lacks: bool
    """Whether something of it goes beyond."""


@dataclass(slots=True)
class BorrowedUsage:
    """Which shares there are, and who uses them."""

    _shares: dict[int, Share] = field(default_factory=dict)
    _guests: dict[str, _Guest] = field(default_factory=dict)
    """By uid."""
    _naming: dict[int, dict[str, None]] = field(default_factory=dict)
    """The uids of those that name a job, in the order in which they came."""
    _used: dict[_Place, dict[str, int]] = field(default_factory=dict)
    """How much of a share is in use."""
    _again: dict[str, None] = field(default_factory=dict)
    """Who may be covered better than when it was looked at."""

    def lend(self, job: int, share: Share | None) -> None:
        """A job has this from now on; None: nothing."""
        if share is None:
            self._shares.pop(job, None)
        else:
            self._shares[job] = share
        for uid in self._naming.get(job, ()):
            self._release(uid)
            self._guests[uid] = _Guest(self._guests[uid].place, {}, lacks=True)
            self._again[uid] = None

    def beyond(self, pod: Pod, amounts: Amounts) -> Amounts:
        """What of all that a pod holds on its node is no part of a share."""
        uid, job = pod.metadata.uid, named_by(pod)
        place = None if job is None else (job, pod.spec.node_name)
        known = self._guests.get(uid)
        if known is not None and known.place != place:
            self.drop(uid)
        if place is None:
            return amounts
        before = self._release(uid)
        left = self._left(place)
        covered = {t: min(amount, left[t]) for t, amount in amounts if left.get(t, 0) > 0}
        rest = tuple((t, n - covered.get(t, 0)) for t, n in amounts if n > covered.get(t, 0))
        self._take(uid, _Guest(place, covered, lacks=bool(rest)))
        if any(amount > covered.get(type, 0) for type, amount in before.items()):
            self._call_others(place, uid)
        return rest

    def _left(self, place: _Place) -> dict[str, int]:
        job, node = place
        share, used = self._shares.get(job, {}).get(node, {}), self._used.get(place, {})
        return {type: amount - used.get(type, 0) for type, amount in share.items()}

    def _take(self, uid: str, guest: _Guest) -> None:
        self._guests[uid] = guest
        self._naming.setdefault(guest.place[0], {})[uid] = None
        if guest.covered:
            used = self._used.setdefault(guest.place, {})
            for type, amount in guest.covered.items():
                used[type] = used.get(type, 0) + amount

    def _release(self, uid: str) -> Mapping[str, int]:
        """Have back what a pod was covered by; it keeps its turn."""
        guest = self._guests.get(uid)
        if guest is None:
            return {}
        used = self._used.get(guest.place, {})
        for type, amount in guest.covered.items():
            used[type] -= amount
        if used and not any(used.values()):
            del self._used[guest.place]
        return guest.covered

    def drop(self, uid: str) -> None:
        """A pod is gone, or names nobody any more."""
        if uid not in self._guests:
            return
        freed = self._release(uid)
        place = self._guests.pop(uid).place
        self._again.pop(uid, None)
        naming = self._naming[place[0]]
        del naming[uid]
        if not naming:
            del self._naming[place[0]]
        elif freed:
            self._call_others(place, uid)

    def _call_others(self, place: _Place, uid: str) -> None:
        for each in self._naming[place[0]]:
            guest = self._guests[each]
            if each != uid and guest.lacks and guest.place == place:
                self._again[each] = None

    def take_again(self) -> list[str]:
        """The uids of pods to look at again."""
        uids, self._again = list(self._again), {}
        return uids

    def using(self, job: int) -> int:
        """How many pods use what a job has."""
        borrowed = (self._guests[uid] for uid in self._naming.get(job, ()))
        return sum(bool(guest.covered) for guest in borrowed)


def named_by(pod: Pod) -> int | None:
    """The number of the job whose share a pod says it uses; None: it says nothing of the kind."""
    said = pod.metadata.annotations.get(ALLOCATION) or pod.metadata.labels.get(JOBID) or ""
    return int(said) if said.isascii() and said.isdigit() and len(said) < 19 else None
