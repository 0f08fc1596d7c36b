"""Who owns a pod: follows owner references up to the workload at the top, and verifies them.

    pod ──▶ ReplicaSet ──▶ Deployment

The owner of an object is what its ownerReferences claim, and users can write those. So a claim
counts only if there is an object with that uid in the same namespace. A workload that another
workload owns is a *link*: its pods belong to the workload at the top, and it is no group itself.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.kube.objects.base import Metadata, Object, Owner

_MOST_LINKS = 8
"""Maximum workloads between a pod and the top: forged references may go in a circle."""


def workload_owner(metadata: Metadata) -> Owner | None:
    """The owner that is a workload; other API groups have kinds named Job too."""
    owner = metadata.controller
    if owner is None or owner.kind not in ADAPTERS:
        return None
    is_same = ADAPTERS[owner.kind].resource.api_version == owner.api_version
    return owner if is_same else None


@dataclass(slots=True)
class OwnerLinks:
    """The links that were seen; `workloads` are those at the top, by uid."""

    workloads: Mapping[str, tuple[str, Object]]
    _links: dict[str, Metadata] = field(default_factory=dict)

    def __contains__(self, uid: str) -> bool:
        return uid in self._links

    def put(self, link: Object) -> None:
        """A workload that another one owns is new or changed."""
        self._links[link.metadata.uid] = link.metadata

    def drop(self, uid: str) -> None:
        """It is gone, or nothing owns it any more."""
        self._links.pop(uid, None)

    def top(self, metadata: Metadata) -> str | Owner | None:
        """The uid of the workload at the top, or the owner that was not seen; None: no workload
        owns this."""
        owner = workload_owner(metadata)
        namespace = metadata.namespace
        for _ in range(_MOST_LINKS):
            if owner is None:
                return None
            link = self._links.get(owner.uid)
            if link is None or link.namespace != namespace:
                break
            owner = workload_owner(link)
        if owner is None:
            return None
        known = self.workloads.get(owner.uid)
        return owner.uid if known and known[1].metadata.namespace == namespace else owner


@dataclass(slots=True)
class AwaitedOwners:
    """The owners for which pods wait, and the pods of each."""

    _pods: dict[str, dict[str, Owner]] = field(default_factory=dict)
    """Uids of pods, by the uid of the owner that was not seen."""
    _owners: dict[str, Owner] = field(default_factory=dict)
    """The reverse."""

    def wait(self, pod: str, owner: Owner) -> None:
        """A pod waits for an owner."""
        self.stop(pod)
        self._owners[pod] = owner
        self._pods.setdefault(owner.uid, {})[pod] = owner

    def stop(self, pod: str) -> None:
        """A pod waits no longer."""
        owner = self._owners.pop(pod, None)
        if owner is not None:
            waiting = self._pods[owner.uid]
            del waiting[pod]
            if not waiting:
                del self._pods[owner.uid]

    def of(self, owner: str) -> list[str]:
        """Uids of the pods that wait for an owner."""
        return list(self._pods.get(owner, ()))

    def is_in_vain(self, pod: str, not_ours: Container[str], unwatched: Container[str]) -> bool:
        """Whether what a pod waits for is not ours, or of a kind that is not watched."""
        owner = self._owners.get(pod)
        return owner is None or owner.uid in not_ours or owner.kind in unwatched
