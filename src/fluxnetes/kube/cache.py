"""A cache of the objects of one kind, which turns lists and watch events into changes.

An object that was deleted and created again under its old name between two views is another object:
it yields a deletion and an addition. An object that arrives again unchanged yields no change,
unless it arrives in another version of its kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Generic, TypeVar

from msgspec import Struct

from fluxnetes.kube.client import Listing
from fluxnetes.kube.decoding import WatchEvent
from fluxnetes.kube.objects.base import Key, Object

T = TypeVar("T", bound=Object)


class ChangeKind(Enum):
    """What happened to an object."""

    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"


class ObjectChange(Struct, Generic[T], frozen=True, gc=False):
    """A change of one object, with its current state (its last one, if it was deleted)."""

    kind: ChangeKind
    object: T
    before: T | None = None
    """Its previous state; None if the cache did not have it."""


class ObjectCache(Generic[T]):
    """The objects of one kind as last listed or reported by a watch."""

    def __init__(self) -> None:
        self.objects: dict[Key, T] = {}
        self.version = ""
        """Resource version of this state; empty: the objects must be listed."""

    def replace(self, listing: Listing[T]) -> list[ObjectChange[T]]:
        """Replace the content by a complete list; objects not in it are deleted."""
        listed = {item.key: item for item in listing.items}
        gone = [key for key in self.objects if key not in listed]
        changes = [change for key in gone for change in self._remove(key)]
        for key, item in listed.items():
            changes += self._put(key, item)
        self.version = listing.version
        return changes

    def extend(self, items: Iterable[T]) -> list[ObjectChange[T]]:
        """Add one page of a list; deletions are known only when the list is complete."""
        return [change for item in items for change in self._put(item.key, item)]

    def take(self, event: WatchEvent[T]) -> list[ObjectChange[T]]:
        """Apply an event of a watch."""
        if event.version:
            self.version = event.version
        if event.key is None:
            return []
        if event.gone or event.object is None:
            return self._remove(event.key, event.object)
        return self._put(event.key, event.object)

    def _put(self, key: Key, item: T) -> list[ObjectChange[T]]:
        before = self.objects.get(key)
        self.objects[key] = item
        if before is None:
            return [ObjectChange(ChangeKind.ADDED, item)]
        if before.metadata.uid != item.metadata.uid:
            return [
                ObjectChange(ChangeKind.DELETED, before, before),
                ObjectChange(ChangeKind.ADDED, item),
            ]
        is_same = before.metadata.resource_version == item.metadata.resource_version
        if is_same and type(before) is type(item):
            return []
        return [ObjectChange(ChangeKind.CHANGED, item, before)]

    def _remove(self, key: Key, last: T | None = None) -> list[ObjectChange[T]]:
        before = self.objects.pop(key, None)
        return [] if before is None else [ObjectChange(ChangeKind.DELETED, last or before, before)]
