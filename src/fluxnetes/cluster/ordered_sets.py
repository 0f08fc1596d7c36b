"""StatefulSets that create their pods one by one, and the groups that their pods belong to.

Such a set (podManagementPolicy OrderedReady, the default) creates its second pod when the first one
runs. A group of these pods that starts only when all of them exist therefore never starts. Nothing
can be done about it here but to say so.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from fluxnetes.cluster.groups import GroupKey
from fluxnetes.kube.objects.base import Owner
from fluxnetes.kube.objects.jobs import PARALLEL, STATEFUL_SETS, StatefulSet
from fluxnetes.kube.objects.pods import Pod


@dataclass(slots=True)
class OrderedSets:
    """An index of those sets, and of the groups with pods of any StatefulSet."""

    replicas: dict[str, int] = field(default_factory=dict)
    """How many pods each ordered set wants, by its uid."""
    _groups: dict[str, set[GroupKey]] = field(default_factory=dict)
    """By the uid of the set."""

    def put(self, found: StatefulSet) -> Collection[GroupKey]:
        """A set is new or changed; the groups that this concerns."""
        uid = found.metadata.uid
        is_ordered = found.spec.pod_management_policy != PARALLEL
        wanted = found.spec.replicas if is_ordered else None
        if self.replicas.get(uid) == wanted:
            return ()
        if wanted is None:
            del self.replicas[uid]
        else:
            self.replicas[uid] = wanted
        return self._groups.get(uid, ())

    def drop(self, found: StatefulSet) -> None:
        """A set is gone; Kubernetes deletes its pods."""
        self.replicas.pop(found.metadata.uid, None)
        self._groups.pop(found.metadata.uid, None)

    def pod_joined(self, pod: Pod, key: GroupKey) -> None:
        """A pod is new in a group."""
        owner = pod.metadata.controller
        if owner is not None and _is_set(owner):
            self._groups.setdefault(owner.uid, set()).add(key)

    def group_gone(self, key: GroupKey) -> None:
        """Nothing of a group is left."""
        for keys in self._groups.values():
            keys.discard(key)

    def waits_for(self, pods: Collection[Pod]) -> Owner | None:
        """The set that creates its next pod only when one of these runs, all of which wait."""
        if not self.replicas:
            return None
        owners = [pod.metadata.controller for pod in pods]
        for owner in owners:
            if owner is None or not _is_set(owner):
                continue
            its = sum(each is not None and each.uid == owner.uid for each in owners)
            if its < self.replicas.get(owner.uid, 0):
                return owner
        return None


def _is_set(owner: Owner) -> bool:
    return (owner.kind, owner.api_version) == (STATEFUL_SETS.kind, STATEFUL_SETS.api_version)
