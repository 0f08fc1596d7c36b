"""PodGroups of every API by their names, and the workloads that name them.

The APIs (scheduler-plugins, Kubernetes itself, Volcano) share one space of names with group labels:
what names `train` in a namespace is one group, in whichever dialect. Should PodGroups of several
APIs have one name, that of the first API in `_ORDER` counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fluxnetes.kube.objects.base import Key
from fluxnetes.kube.objects.podgroups import AnyPodGroup, NativePodGroup, PodGroup, VolcanoPodGroup

_ORDER = (PodGroup, NativePodGroup, VolcanoPodGroup)


@dataclass(slots=True)
class PodGroupIndex:
    """See the module's docstring."""

    _objects: dict[Key, dict[type, AnyPodGroup]] = field(default_factory=dict)
    _namers: dict[Key, dict[str, None]] = field(default_factory=dict)
    """Uids of workloads by the group that they name; sets in order of insertion."""
    _names: dict[str, Key] = field(default_factory=dict)
    """The reverse."""

    # -- objects -------------------------------------------------------------------------------

    def put(self, pod_group: AnyPodGroup) -> None:
        """A PodGroup is new or changed."""
        self._objects.setdefault(pod_group.key, {})[_api(pod_group)] = pod_group

    def drop(self, pod_group: AnyPodGroup) -> None:
        """A PodGroup is gone."""
        known = self._objects.get(pod_group.key, {})
        known.pop(_api(pod_group), None)
        if not known:
            self._objects.pop(pod_group.key, None)

    def find(self, key: Key) -> AnyPodGroup | None:
        """The PodGroup that counts for a name."""
        known = self._objects.get(key, {})
        return next((known[each] for each in _ORDER if each in known), None)

    def minimum(self, key: Key) -> int | None:
        """What the PodGroup of a name says must start together; None: nothing says so."""
        found = self.find(key)
        return found.minimum if found is not None else None

    # -- workloads that name one ---------------------------------------------------------------

    def note_name(self, uid: str, key: Key | None) -> None:
        """A workload names this group; None: it names none, or is gone."""
        before = self._names.get(uid)
        if before == key:
            return
        if before is not None:
            del self._names[uid]
            del self._namers[before][uid]
            if not self._namers[before]:
                del self._namers[before]
        if key is not None:
            self._names[uid] = key
            self._namers.setdefault(key, {})[uid] = None

    def named_by(self, uid: str) -> Key | None:
        """The group that a workload names, whether it belongs to that or not."""
        return self._names.get(uid)

    def namers(self, key: Key) -> list[str]:
        """Uids of the workloads that name a group."""
        return list(self._namers.get(key, ()))


def _api(pod_group: AnyPodGroup) -> type:
    """Whose PodGroup it is, in whichever version."""
    return next(each for each in _ORDER if isinstance(pod_group, each))
