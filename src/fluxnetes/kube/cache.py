"""What the server has, as far as we have heard, and how that changes.

An object that was deleted and made again under its old name while we were away is another object:
it comes out as deleted and added. An object that comes again unchanged comes out as nothing.
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
    """What happened to one object, which is now (or was last) like this."""

    kind: ChangeKind
    object: T
    before: T | None = None
    """What it was like, unless it is new to us."""


class ObjectCache(Generic[T]):
    """What the server has, as far as we have heard."""

    def __init__(self) -> None:
        self.objects: dict[Key, T] = {}
        self.version = ""
        """The moment that this shows; empty: it must be listed."""

    def replace(self, listing: Listing[T]) -> list[ObjectChange[T]]:
        """Take what was listed; what is not in it is gone."""
        listed = {item.key: item for item in listing.items}
        gone = [key for key in self.objects if key not in listed]
        changes = [change for key in gone for change in self._forget(key)]
        for key, item in listed.items():
            changes += self._put(key, item)
        self.version = listing.version
        return changes

    def extend(self, items: Iterable[T]) -> list[ObjectChange[T]]:
        """Take a part of what is being listed; what is gone is known once all of it is here."""
        return [change for item in items for change in self._put(item.key, item)]

    def take(self, event: WatchEvent[T]) -> list[ObjectChange[T]]:
        """Take an event of a watch."""
        if event.version:
            self.version = event.version
        if event.key is None:
            return []
        if event.gone or event.object is None:
            return self._forget(event.key, event.object)
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
        if before.metadata.resource_version == item.metadata.resource_version:
            return []
        return [ObjectChange(ChangeKind.CHANGED, item, before)]

    def _forget(self, key: Key, last: T | None = None) -> list[ObjectChange[T]]:
        before = self.objects.pop(key, None)
        return [] if before is None else [ObjectChange(ChangeKind.DELETED, last or before, before)]
