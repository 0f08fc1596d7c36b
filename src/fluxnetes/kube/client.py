"""The API server, kind by kind.

    async with Client(find_access()) as client:
        pod = await client.get(PODS, "a", "default")
        async for page in client.pages(NODES): ...
        await client.patch(JOBS, "b", merge({"spec": {"suspend": False}}), "default")

Answers are structs of `objects`; failures are those drawn in `errors`. To follow what changes, see
`informer`.
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
"""Objects in a page: enough to be quick, few enough that nobody else waits long for us."""


_UNCHECKED = "?fieldValidation=Ignore"
"""The server need not look for misspelt fields in what is always the same."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which objects of a kind."""

    namespace: str = ""
    """Empty: all of them."""
    labels: str = ""
    """A label selector: `app=a,tier!=b`."""
    fields: str = ""
    """A field selector: `spec.nodeName=n1`."""

    def params(self) -> dict[str, str]:
        """As the server wants it."""
        asked = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return {key: value for key, value in asked.items() if value}


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """All objects of a scope, as they were at one moment."""

    items: list[T]
    version: str


class KubeClient:
    """One API server. Open it with `async with`."""

    def __init__(self, access: ApiAccess, *, timeout: float = 60.0) -> None:
        self.namespace = access.namespace
        self.transport = Transport(access, timeout)

    async def __aenter__(self) -> KubeClient:
        await self.transport.__aenter__()
        return self

    async def __aexit__(self, *details: object) -> None:
        await self.transport.__aexit__(*details)

    async def prepare_binds(self) -> None:
        """Open the connections for binds, so that the first one need not wait for that."""
        await self.transport.open_all(Lane.BINDS)

    # --- read ---

    async def get(
        self, resource: Resource[T], name: str, namespace: str = "", subresource: str = ""
    ) -> T:
        """One object."""
        path = resource.path(namespace, name, subresource)
        what = _what("get", resource, namespace, name, subresource)
        return decoding(resource).object(await self.transport.ask(HttpRequest(what, "GET", path)))

    async def list(self, resource: Resource[T], scope: Scope = EVERYTHING) -> Listing[T]:
        """All objects of a scope, however many pages that takes."""
        try:
            return await self._gather(resource, scope, PAGE)
        except Expired:
            return await self.whole(resource, scope)

    async def whole(self, resource: Resource[T], scope: Scope = EVERYTHING) -> Listing[T]:
        """The same in one piece: for when the moment that the first page showed is too long ago."""
        return await self._gather(resource, scope, 0)

    async def pages(
        self, resource: Resource[T], scope: Scope = EVERYTHING, size: int = PAGE
    ) -> AsyncGenerator[Listing[T], None]:
        """The same piece by piece; the last piece's version is that of the whole."""
        read, what = decoding(resource), _what("list", resource, scope.namespace)
        path, params = resource.path(scope.namespace), {**scope.params(), "limit": str(size)}
        asking = asyncio.create_task(self.transport.ask(HttpRequest(what, "GET", path, params)))
        try:
            while True:
                content = await asking
                more = read.next_page(content)
                if more:  # the server makes the next page while we read this one
                    request = HttpRequest(what, "GET", path, {**params, "continue": more})
                    asking = asyncio.create_task(self.transport.ask(request))
                    await asyncio.sleep(0)
                page = read.page(content)
                yield Listing(page.items, page.metadata.resource_version)
                if not more:
                    return
        finally:
            # Whoever stops before the last page does not care what became of the next.
            if not asking.cancel() and not asking.cancelled():
                asking.exception()

    # --- write ---

    async def create(
        self, resource: Resource[T], content: Mapping[str, Any] | Object, namespace: str = ""
    ) -> T:
        """Make an object, and see what admission made of it."""
        body = msgspec.json.encode(resource.body(msgspec.to_builtins(content)))
        what = _what("create", resource, namespace)
        request = HttpRequest(what, "POST", resource.path(namespace), body=body)
        return decoding(resource).object(await self.transport.ask(request))

    async def patch(
        self,
        resource: Resource[T],
        name: str,
        patch: ObjectPatch,
        namespace: str = "",
        subresource: str = "",
    ) -> T:
        """Change an object, or with `subresource="status"` what is said about it."""
        content = resource.body(patch.content, name) if patch.needs_names else patch.content
        request = HttpRequest(
            _what("patch", resource, namespace, name, subresource),
            "PATCH",
            resource.path(namespace, name, subresource),
            patch.params,
            msgspec.json.encode(content),
            patch.content_type,
        )
        return decoding(resource).object(await self.transport.ask(request))

    async def delete(
        self,
        resource: Resource[T],
        name: str,
        namespace: str = "",
        *,
        uid: str = "",
        grace: int | None = None,
        dependents: str = "Background",
    ) -> None:
        """Delete an object. With a uid only that very one, not a later one of the same name."""
        options: dict[str, Any] = {"propagationPolicy": dependents}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if uid:
            options["preconditions"] = {"uid": uid}
        what = _what("delete", resource, namespace, name)
        path = resource.path(namespace, name)
        await self.transport.ask(
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
        """Give a pod its node, for ever, and annotations with it.

        The uid makes sure that it is the pod that was matched. `Conflict` means that it is not,
        that it has a node already, or that it is being deleted; `NotFound`, that it is gone.
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
        await self.transport.ask(request, Lane.BINDS)

    async def _gather(self, resource: Resource[T], scope: Scope, size: int) -> Listing[T]:
        items: list[T] = []
        version = ""
        async for page in self.pages(resource, scope, size):
            items += page.items
            version = page.version
        return Listing(items, version)


def _what(verb: str, resource: Resource[T], *parts: str) -> str:
    """What was asked, in words."""
    name = "/".join(filter(None, parts))
    return f"{verb} {resource.plural} {name}".rstrip()
