"""All objects of a kind, kept up to date for as long as anybody asks.

            list ------------------> watch ----------+
             ^   all objects, and      |  ^          | events, bookmarks
             |   their version         |  +----------+
             |                         |
             +--- 410, or any ---------+
             |    other refusal        | connection lost or silent, server busy, watch just over
             |                         v
             +------ refused ------- watch again, from the last version

A version is a moment in the server's history. Each event and each bookmark moves ours on, so after
a lost connection nothing is missed and nothing is listed again. When the server no longer knows our
moment, or refuses for whatever reason, everything is listed anew and compared with what we had; the
differences come out as ordinary changes. So a lost event costs latency, never correctness.

An informer never gives up: what it may not read today it may read tomorrow, and a kind that the
server does not have may be installed. Until then `problem` says what is wrong.
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
from fluxnetes.kube.errors import Expired, KubeError, Overloaded, Unreachable
from fluxnetes.kube.objects.base import Key, Object, Resource
from fluxnetes.kube.watch import watch

T = TypeVar("T", bound=Object)

_TOO_SHORT = 1.0
"""A watch that lasts no longer did no good; without a pause after it we would run in a circle."""


class Informer(Generic[T]):
    """Follows the objects of a scope."""

    def __init__(
        self,
        client: KubeClient,
        resource: Resource[T],
        scope: Scope = EVERYTHING,
        *,
        patience: RetryTiming | None = None,
    ) -> None:
        self._client = client
        self.resource = resource
        self._scope = scope
        self._patience = patience or RetryTiming()
        self._backoff = Backoff(f"following {resource.plural}", self._patience)
        self._cache: ObjectCache[T] = ObjectCache()
        self._watching_since: float | None = None
        self._had_news = False
        """Whether the last watch brought any."""
        self.objects: Mapping[Key, T] = MappingProxyType(self._cache.objects)
        """What there is, by namespace and name."""
        self.is_complete = False
        """Whether `objects` has been complete once; before that, what is missing means nothing."""
        self.problem: str | None = None
        """Why we hear nothing at the moment; `objects` may be out of date then."""

    async def changes(self) -> AsyncGenerator[list[ObjectChange[T]], None]:
        """Batches of changes, for ever. When a batch comes out, `objects` already shows it.

        The first ones, up to that with which it `is_complete`, are all there is; that one may be
        empty, later ones never are.
        """
        while True:
            at_least, why, refused = 0.0, "the server ends the watch at once", False
            try:
                async with aclosing(self._follow()) as batches:
                    async for batch in batches:
                        yield batch
            except KubeError as error:
                at_least, why, refused = self._learn(error), str(error), True
            if self._was_in_vain(refused):
                await self._backoff.pause(why, at_least)

    async def _follow(self) -> AsyncGenerator[list[ObjectChange[T]], None]:
        """List if we must, then watch until the connection ends."""
        self._watching_since, self._had_news = None, False
        if not self._cache.version:
            async with aclosing(self._list()) as batches:
                async for changes in batches:
                    yield changes
        async with aclosing(self._watch()) as batches:
            async for changes in batches:
                yield changes

    async def _list(self) -> AsyncGenerator[list[ObjectChange[T]], None]:
        """All there is. Of many objects the first come out while the server is busy with the rest.

        What is gone comes out last: a list may break off, and is then begun anew.
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
        events = watch(
            self._client, self.resource, self._scope, self._cache.version, self._patience
        )
        async with aclosing(events) as batches:
            async for batch in batches:
                self._heard(bool(batch))
                changes = [change for event in batch for change in self._cache.take(event)]
                if changes:
                    yield changes

    def _heard(self, is_news: bool) -> None:
        self.problem = None
        if self._watching_since is None:
            self._watching_since = time.monotonic()
        if is_news:
            self._had_news = True
            self._backoff.over()

    def _learn(self, error: KubeError) -> float:
        """Decide where to go on; the seconds that the server wants to be left alone."""
        self.problem = str(error)
        if not isinstance(error, (Unreachable, Overloaded)):
            self._cache.version = ""
        return error.retry_after if isinstance(error, Overloaded) else 0.0

    def _was_in_vain(self, refused: bool) -> bool:
        """Whether to pause before the next try.

        A busy server cuts watches that fall behind, in the middle of the news: then there is more.
        """
        since = self._watching_since
        if self._had_news and not refused:
            return False
        if since is None or time.monotonic() - since < _TOO_SHORT:
            return True
        self._backoff.over()
        return False
