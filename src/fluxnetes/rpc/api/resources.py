"""The service `fluxnetes.v1.ResourceService`: the graph, its nodes, and the status."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from importlib.metadata import version

from fluxnetes.graph.readers import FORMATS
from fluxnetes.rpc.api.reading import at
from fluxnetes.rpc.api.streams import WatchedItem, watch
from fluxnetes.rpc.api.writing import node_message, pool_message
from fluxnetes.rpc.call import GrpcCall
from fluxnetes.rpc.callers import current_caller
from fluxnetes.service.backend import Backend
from fluxnetes.service.errors import Invalid
from fluxnetes.service.values import NodeView
from fluxnetes.v1 import resources_pb2 as v1

_KIND = v1.WatchResourcesResponse
_PAGE = 1000
"""Nodes in a page by default."""
_LARGEST_PAGE = 10_000
"""Maximum nodes in a page, to bound the size of an answer."""


class ResourceService:
    """Resources. The comments of the messages say what each call means."""

    name = "fluxnetes.v1.ResourceService"
    service = v1.DESCRIPTOR.services_by_name["ResourceService"]
    bulk = frozenset({"Load", "Grow"})

    def __init__(self, backend: Backend, dialect: str = "") -> None:
        self._backend = backend
        self._dialect = dialect
        self._started = int(time.time())

    async def list_nodes(
        self, request: v1.ListNodesRequest, call: GrpcCall
    ) -> v1.ListNodesResponse:
        if request.names:
            found = await self._backend.node_views(list(request.names), current_caller())
            return v1.ListNodesResponse(nodes=map(node_message, found))
        size = min(request.page_size or _PAGE, _LARGEST_PAGE)
        if size < 1:
            raise Invalid(f"found {request.page_size}, expected 0 or more", "page_size")
        first = _first(request.page_token)
        page = await self._backend.node_page(first, size + 1, current_caller())
        more = str(first + size) if len(page) > size else ""
        return v1.ListNodesResponse(nodes=map(node_message, page[:size]), next_page_token=more)

    async def watch_resources(
        self, request: v1.WatchResourcesRequest, call: GrpcCall
    ) -> AsyncIterator[v1.WatchResourcesResponse]:
        caller = current_caller()

        async def views(keys: list[str] | None) -> list[WatchedItem[NodeView]]:
            found = await self._backend.node_views(keys, caller)
            there = {view.name for view in found}
            gone = [NodeView(key, "", False) for key in keys or () if key not in there]
            return [WatchedItem(each) for each in found] + [
                WatchedItem(each, True) for each in gone
            ]

        async for kind, view, resume in watch(self._backend.nodes, request.resume, views):
            node = None if view is None else node_message(view)
            yield v1.WatchResourcesResponse(kind=_NODE_KINDS[kind], node=node, resume=resume)

    async def load(self, request: v1.LoadRequest, call: GrpcCall) -> v1.LoadResponse:
        format = {"": "jgf", "rv1": "rv1exec"}.get(request.format, request.format)
        if format not in FORMATS:
            raise Invalid(f"found {format!r}, expected jgf, grug or rv1", "format")
        count = await self._backend.load(request.graph, format, request.policy, current_caller())
        return v1.LoadResponse(vertices=count)

    async def grow(self, request: v1.GrowRequest, call: GrpcCall) -> v1.GrowResponse:
        return v1.GrowResponse(vertices=await self._backend.grow(request.jgf))

    async def shrink(self, request: v1.ShrinkRequest, call: GrpcCall) -> v1.ShrinkResponse:
        count = await self._backend.shrink(list(request.paths), current_caller())
        return v1.ShrinkResponse(vertices=count)

    async def get_status(
        self, request: v1.GetStatusRequest, call: GrpcCall
    ) -> v1.GetStatusResponse:
        status = await self._backend.status()
        return v1.GetStatusResponse(
            version=version("fluxnetes"),
            source=status.source,
            policy=status.policy,
            queue=status.queue,
            dialect=self._dialect,
            vertices=status.vertices,
            nodes=status.nodes,
            nodes_up=status.nodes_up,
            totals=map(pool_message, status.totals),
            jobs_by_state=status.jobs,
            started=at(self._started),
            durable=status.durable,
        )


_NODE_KINDS = {
    "reset": _KIND.KIND_RESET,
    "changed": _KIND.KIND_CHANGED,
    "gone": _KIND.KIND_GONE,
    "bookmark": _KIND.KIND_BOOKMARK,
}


def _first(token: str) -> int:
    if token and not (token.isascii() and token.isdigit() and len(token) < 10):
        raise Invalid("expected the next_page_token of an answer, or nothing", "page_token")
    return int(token or 0)
