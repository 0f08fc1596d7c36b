"""Decodes responses of the API server: single objects, pages of a list, lines of a watch.

An object that cannot be decoded (a custom resource with a schema that Fluxnetes does not know) must
not hide all others. It is treated as if it did not exist, and a warning names it.
"""

from __future__ import annotations

import logging
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Raw, Struct

from fluxnetes.kube.errors import ApiStatus, UnreadableResponse, error_for
from fluxnetes.kube.objects.base import Key, Object, Resource

T = TypeVar("T", bound=Object)

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Raised for JSON that is no object of its kind; the last one for values nested too deeply."""
_log = logging.getLogger("fluxnetes.kube")


class PageMetadata(Struct, frozen=True, rename="camel"):
    """The resource version of a list, and the token of its next page."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class Page(Struct, Generic[T], frozen=True):
    """A page of a list."""

    items: list[T]
    metadata: PageMetadata


class _Head(Struct, frozen=True):
    metadata: PageMetadata


class _RawPage(Struct, frozen=True):
    metadata: PageMetadata
    items: list[Raw] | None = None


EventType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]


class _RawEvent(Struct, frozen=True, gc=False):
    type: EventType
    object: Raw


class WatchEvent(Struct, Generic[T], frozen=True, gc=False):
    """An event of a watch: an object changed or was deleted; or a bookmark with only a version."""

    version: str
    """The resource version after it."""
    key: Key | None = None
    """None: a bookmark."""
    object: T | None = None
    """The object in its current state, or its last one if it was deleted."""
    gone: bool = False


class Decoding(Generic[T]):
    """The decoders of one kind."""

    def __init__(self, resource: Resource[T]) -> None:
        self._what = resource.plural
        self._object = msgspec.json.Decoder(resource.type)
        self._page = msgspec.json.Decoder(Page[resource.type])  # type: ignore[name-defined]
        self._head = msgspec.json.Decoder(_Head)
        self._raw_page = msgspec.json.Decoder(_RawPage)
        self._event = msgspec.json.Decoder(_RawEvent)
        self._bare = msgspec.json.Decoder(Object)
        self._status = msgspec.json.Decoder(ApiStatus)

    def object(self, content: bytes | Raw) -> T:
        """One object."""
        try:
            return self._object.decode(content)
        except _UNREADABLE as error:
            raise UnreadableResponse(
                f"the response about {self._what} cannot be decoded: {error}"
            ) from None

    def page(self, content: bytes) -> Page[T]:
        """A page of a list, without the objects that cannot be decoded."""
        try:
            return self._page.decode(content)
        except _UNREADABLE:
            return self._readable(content)

    def next_page(self, content: bytes) -> str:
        """The token of the next page; empty: none. Much faster than decoding the page."""
        try:
            return self._head.decode(content).metadata.continue_
        except _UNREADABLE:
            return ""

    def event(self, line: bytes) -> WatchEvent[T]:
        """A line of a watch. Raises the error that the server reports about the watch."""
        try:
            event = self._event.decode(line)
            if event.type == "BOOKMARK":
                return WatchEvent(self._bare.decode(event.object).metadata.resource_version)
            if event.type == "ERROR":
                raise error_for(f"watch {self._what}", self._status.decode(event.object))
            return self._changed(event)
        except _UNREADABLE as error:
            raise UnreadableResponse(
                f"an event in the watch of {self._what} cannot be decoded: {error}"
            ) from None

    def _changed(self, event: _RawEvent) -> WatchEvent[T]:
        try:
            found = self._object.decode(event.object)
        except msgspec.ValidationError as error:
            bare = self._bare.decode(event.object)
            self._warn(bare, error)
            return WatchEvent(bare.metadata.resource_version, bare.key, gone=True)
        return WatchEvent(
            found.metadata.resource_version, found.key, found, event.type == "DELETED"
        )

    def _readable(self, content: bytes) -> Page[T]:
        try:
            page = self._raw_page.decode(content)
            found = [self._if_readable(item) for item in page.items or ()]
        except _UNREADABLE as error:
            raise UnreadableResponse(
                f"the list of {self._what} cannot be decoded: {error}"
            ) from None
        return Page([item for item in found if item is not None], page.metadata)

    def _if_readable(self, item: Raw) -> T | None:
        try:
            return self._object.decode(item)
        except msgspec.ValidationError as error:
            self._warn(self._bare.decode(item), error)
            return None

    def _warn(self, bare: Object, error: Exception) -> None:
        name = "/".join(filter(None, bare.key))
        _log.warning("%s %s cannot be decoded and is ignored: %s", self._what, name, error)


_KNOWN: dict[Resource[Any], Decoding[Any]] = {}


def decoding(resource: Resource[T]) -> Decoding[T]:
    """The decoders for this kind, built once."""
    known = _KNOWN.get(resource)
    if known is None:
        known = _KNOWN[resource] = Decoding(resource)
    return known
