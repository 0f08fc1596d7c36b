"""The informer: all objects of a kind, kept up to date by list and watch.

            list ------------------> watch ----------+
             ^   all objects, and      |  ^          | events, bookmarks
             |   their version         |  +----------+
             |                         |
             +--- 410, or any ---------+
             |    other refusal        | connection lost or silent, server busy, watch timed out
             |                         v
             +------ refused ------- watch again, from the last version

A resource version is a moment in the server's history. Each event and each bookmark advances the
informer's version, so after a lost connection no event is missed and nothing is listed again. When
the server no longer has that version, or refuses for any other reason, everything is listed again
and compared with the cache; the differences are reported as ordinary changes. So a lost event costs
latency, never correctness.

An informer never gives up: a missing permission may be granted later, and a kind that the server
does not have may be installed. Until then `problem` holds the error.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from types import MappingProxyType
from typing import Generic, TypeVar

from fluxnetes.common.backoff import Backoff, RetryTiming
from fluxnetes.kube.cache import ObjectCache, ObjectChange
from fluxnetes.kube.client import EVERYTHING, KubeClient, Listing, Scope
from fluxnetes.kube.errors import (
    Expired,
    Forbidden,
    KubeError,
    NotFound,
    Overloaded,
    Unreachable,
)
from fluxnetes.kube.objects.base import Key, Object, Resource
from fluxnetes.kube.watch import watch

T = TypeVar("T", bound=Object)

_MIN_WATCH_SECONDS = 1.0
"""Seconds below which a watch without events counts as failed; a pause prevents a busy loop."""


class Informer(Generic[T]):
    """Lists and watches the objects of a scope."""

    def __init__(
        self,
        client: KubeClient,
        resource: Resource[T],
        scope: Scope = EVERYTHING,
        *,
        timing: RetryTiming | None = None,
    ) -> None:
        self._client = client
        self.resource = resource
        self._scope = scope
        self._timing = timing or RetryTiming()
        self._backoff = Backoff(f"watching {resource.plural}", self._timing)
        self._cache: ObjectCache[T] = ObjectCache()
        self._watching_since: float | None = None
        self._had_events = False
        """Whether the last watch delivered events."""
        self.objects: Mapping[Key, T] = MappingProxyType(self._cache.objects)
        """The objects, by namespace and name."""
        self.is_complete = False
        """Whether `objects` was complete once, and since everything was last to be listed again;
        before that, a missing object may exist."""
        self.problem: str | None = None
        """Why no events arrive at the moment; `objects` may then be out of date."""
        self.is_refused = False
        """Whether that is because the server does not have the kind, or does not permit it."""

    async def changes(self) -> AsyncGenerator[list[ObjectChange[T]], None]:
        """Batches of changes, without end. `objects` already contains a batch when it is yielded.

        The first batches, up to the one that sets `is_complete`, list all objects; that one may be
        empty, later ones never are.
        """
        while True:
            at_least, why, refused = 0.0, "the server ended the watch at once", False
            try:
                async with aclosing(self._follow()) as batches:
                    async for batch in batches:
                        yield batch
            except KubeError as error:
                at_least, why, refused = self._note_error(error), str(error), True
            if self._needs_pause(refused):
                await self._backoff.pause(why, at_least)

    def forget_version(self) -> None:
        """Have `changes`, when it is called next, list everything again."""
        self._cache.version = ""
        self.is_complete = False

    async def _follow(self) -> AsyncGenerator[list[ObjectChange[T]], None]:
        """List if the version is unknown, then watch until the connection ends."""
        self._watching_since, self._had_events = None, False
        if not self._cache.version:
            async with aclosing(self._list()) as batches:
                async for changes in batches:
                    yield changes
        async with aclosing(self._watch()) as batches:
            async for changes in batches:
                yield changes

    async def _list(self) -> AsyncGenerator[list[ObjectChange[T]], None]:
        """All objects, page by page, while the server prepares the next page.

        Deletions are reported last: a list may fail halfway, and is then started again.
        """
        items: list[T] = []
        page: Listing[T] = Listing([], "")
        try:
            async with aclosing(self._client.pages(self.resource, self._scope)) as pages:
                async for following in pages:
                    changes = self._cache.extend(page.items)
                    if changes:
                        yield changes
                    page = following
                    items += page.items
            listing = Listing(items, page.version)
        except Expired:
            listing = await self._client.whole(self.resource, self._scope)
        changes = self._cache.replace(listing)
        if changes or not self.is_complete:
            self.is_complete = True
            yield changes

    async def _watch(self) -> AsyncGenerator[list[ObjectChange[T]], None]:
        events = watch(self._client, self.resource, self._scope, self._cache.version, self._timing)
        async with aclosing(events) as batches:
            async for batch in batches:
                self._note_batch(bool(batch))
                changes = [change for event in batch for change in self._cache.take(event)]
                if changes:
                    yield changes

    def _note_batch(self, has_events: bool) -> None:
        self.problem, self.is_refused = None, False
        if self._watching_since is None:
            self._watching_since = time.monotonic()
        if has_events:
            self._had_events = True
            self._backoff.over()

    def _note_error(self, error: KubeError) -> float:
        """Decide whether to list again; the seconds to wait that the server asks for."""
        self.problem = str(error)
        self.is_refused = isinstance(error, (Forbidden, NotFound))
        if not isinstance(error, (Unreachable, Overloaded)):
            self._cache.version = ""
        return error.retry_after if isinstance(error, Overloaded) else 0.0

    def _needs_pause(self, refused: bool) -> bool:
        """Whether to pause before the next attempt.

        A busy server ends watches that fall behind in the middle of the events; more events are
        then waiting, and no pause is needed.
        """
        since = self._watching_since
        if self._had_events and not refused:
            return False
        if since is None or time.monotonic() - since < _MIN_WATCH_SECONDS:
            return True
        self._backoff.over()
        return False
