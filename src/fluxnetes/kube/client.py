"""The client of one API server: get, list, create, patch, delete and bind, for every kind.

    async with KubeClient(find_access()) as client:
        pod = await client.get(PODS, "a", "default")
        async for page in client.pages(NODES): ...
        await client.patch(JOBS, "b", merge({"spec": {"suspend": False}}), "default")

Results are structs of `objects`; failures are the exceptions listed in `errors`. To follow changes,
use `informer`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from fluxnetes.kube.auth.access import ApiAccess
from fluxnetes.kube.decoding import decoding
from fluxnetes.kube.errors import Expired
from fluxnetes.kube.http.transport import Lane, Transport
from fluxnetes.kube.http.types import HttpRequest
from fluxnetes.kube.objects.base import Object, Resource
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.kube.patches import ObjectPatch

T = TypeVar("T", bound=Object)

PAGE = 500
"""Objects per page of a list: large enough to be fast, small enough not to block other clients."""


_UNCHECKED = "?fieldValidation=Ignore"
"""Skips the server's check for unknown fields, which costs time and finds none in a bind."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Selects objects of a kind."""

    namespace: str = ""
    """Empty: all namespaces."""
    labels: str = ""
    """A label selector: `app=a,tier!=b`."""
    fields: str = ""
    """A field selector: `spec.nodeName=n1`."""

    def params(self) -> dict[str, str]:
        """As query parameters."""
        given = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return {key: value for key, value in given.items() if value}


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """All objects of a scope, at one resource version."""

    items: list[T]
    version: str


class KubeClient:
    """The client of one API server. Open it with `async with`."""

    def __init__(self, access: ApiAccess, *, timeout: float = 60.0) -> None:
        self.namespace = access.namespace
        self.transport = Transport(access, timeout)

    async def __aenter__(self) -> KubeClient:
        await self.transport.__aenter__()
        return self

    async def __aexit__(self, *details: object) -> None:
        await self.transport.__aexit__(*details)

    async def prepare_binds(self) -> None:
        """Open the connections for binds in advance, so that the first bind is not delayed."""
        await self.transport.open_all(Lane.BINDS)

    # --- read ---

    async def get(
        self, resource: Resource[T], name: str, namespace: str = "", subresource: str = ""
    ) -> T:
        """One object."""
        path = resource.path(namespace, name, subresource)
        what = _what("get", resource, namespace, name, subresource)
        return decoding(resource).object(await self.transport.send(HttpRequest(what, "GET", path)))

    async def list(self, resource: Resource[T], scope: Scope = EVERYTHING) -> Listing[T]:
        """All objects of a scope, however many pages that takes."""
        try:
            return await self._gather(resource, scope, PAGE)
        except Expired:
            return await self.whole(resource, scope)

    async def whole(self, resource: Resource[T], scope: Scope = EVERYTHING) -> Listing[T]:
        """The same in one request, for when the version of the first page has expired."""
        return await self._gather(resource, scope, 0)

    async def pages(
        self, resource: Resource[T], scope: Scope = EVERYTHING, size: int = PAGE
    ) -> AsyncGenerator[Listing[T], None]:
        """The same page by page; the version of the last page is that of the whole list."""
        read, what = decoding(resource), _what("list", resource, scope.namespace)
        path, params = resource.path(scope.namespace), {**scope.params(), "limit": str(size)}
        pending = asyncio.create_task(self.transport.send(HttpRequest(what, "GET", path, params)))
        try:
            while True:
                content = await pending
                more = read.next_page(content)
                if more:  # the server prepares the next page while this one is decoded
                    request = HttpRequest(what, "GET", path, {**params, "continue": more})
                    pending = asyncio.create_task(self.transport.send(request))
                    await asyncio.sleep(0)
                page = read.page(content)
                yield Listing(page.items, page.metadata.resource_version)
                if not more:
                    return
        finally:
            # A caller may stop before the last page; the next one is then discarded.
            if not pending.cancel() and not pending.cancelled():
                pending.exception()

    # --- write ---

    async def create(
        self, resource: Resource[T], content: Mapping[str, Any] | Object, namespace: str = ""
    ) -> T:
        """Create an object; the result is the object as admission changed it."""
        body = msgspec.json.encode(resource.body(msgspec.to_builtins(content)))
        what = _what("create", resource, namespace)
        request = HttpRequest(what, "POST", resource.path(namespace), body=body)
        return decoding(resource).object(await self.transport.send(request))

    async def patch(
        self,
        resource: Resource[T],
        name: str,
        patch: ObjectPatch,
        namespace: str = "",
        subresource: str = "",
    ) -> T:
        """Change an object, or its status with `subresource="status"`."""
        content = resource.body(patch.content, name) if patch.needs_names else patch.content
        request = HttpRequest(
            _what("patch", resource, namespace, name, subresource),
            "PATCH",
            resource.path(namespace, name, subresource),
            patch.params,
            msgspec.json.encode(content),
            patch.content_type,
        )
        return decoding(resource).object(await self.transport.send(request))

    async def delete(
        self,
        resource: Resource[T],
        name: str,
        namespace: str = "",
        *,
        uid: str = "",
        version: str = "",
        grace: int | None = None,
        dependents: str = "Background",
    ) -> None:
        """Delete an object. With a uid: only that object, not a later one of the same name. With a
        version: only if it has not changed since. Raises Conflict otherwise."""
        options: dict[str, Any] = {"propagationPolicy": dependents}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        preconditions = {"uid": uid, "resourceVersion": version}
        if uid or version:
            given = {name: value for name, value in preconditions.items() if value}
            options["preconditions"] = given
        what = _what("delete", resource, namespace, name)
        path = resource.path(namespace, name)
        await self.transport.send(
            HttpRequest(what, "DELETE", path, body=msgspec.json.encode(options))
        )

    async def bind(
        self,
        name: str,
        namespace: str,
        *,
        uid: str,
        node: str,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Bind a pod to a node, which cannot be undone, and set annotations with it.

        The uid makes sure that it is the pod that was matched. `Conflict`: it is another pod, it
        already has a node, or it is being deleted. `NotFound`: it no longer exists.
        """
        metadata = {"name": name, "namespace": namespace, "uid": uid}
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {**metadata, "annotations": annotations} if annotations else metadata,
            "target": {"kind": "Node", "name": node},
        }
        request = HttpRequest(
            f"bind pod {namespace}/{name} to {node}",
            "POST",
            PODS.path(namespace, name, "binding") + _UNCHECKED,
            body=msgspec.json.encode(binding),
        )
        await self.transport.send(request, Lane.BINDS)

    async def _gather(self, resource: Resource[T], scope: Scope, size: int) -> Listing[T]:
        items: list[T] = []
        version = ""
        async for page in self.pages(resource, scope, size):
            items += page.items
            version = page.version
        return Listing(items, version)


def _what(verb: str, resource: Resource[T], *parts: str) -> str:
    """The request in words, for errors."""
    name = "/".join(filter(None, parts))
    return f"{verb} {resource.plural} {name}".rstrip()
