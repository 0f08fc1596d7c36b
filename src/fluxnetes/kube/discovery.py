"""Finds out which version of a kind the API server has.

    GET /apis/GROUP           the versions of a group
    GET /apis/GROUP/VERSION   the kinds of a version

A kind moves from version to version while it matures: an upgrade of the API server may add one and
remove another, and a version of a group need not have all of its kinds. So for a kind with several
versions the server is asked, whenever all of its objects are to be listed: after an upgrade that
removed a version its watch is refused, everything is listed again, and the next version is found.

Every authenticated user may ask (the role `system:discovery`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import NotFound, UnreadableResponse
from fluxnetes.kube.http.types import HttpRequest
from fluxnetes.kube.objects.base import Object, Resource

T = TypeVar("T", bound=Object)
S = TypeVar("S")

Served = Mapping[str, frozenset[str]]
"""The plural names of the kinds of each version of a group."""


class _GroupVersion(Struct, frozen=True):
    version: str


class _ApiGroup(Struct, frozen=True):
    versions: tuple[_GroupVersion, ...] = ()


class _ApiResource(Struct, frozen=True):
    name: str
    """Plural; with a slash it is a subresource."""


class _ApiResources(Struct, frozen=True):
    resources: tuple[_ApiResource, ...] = ()


def choose(versions: Sequence[Resource[T]], served: Served) -> Resource[T] | None:
    """The first version of a kind that is served; None: none is."""
    for each in versions:
        if each.plural in served.get(each.version, ()):
            return each
    return None


async def discover(client: KubeClient, versions: Sequence[Resource[T]]) -> Resource[T]:
    """The first version of a kind that the server has. Raises `NotFound` if it has none."""
    served = await _served(client, versions)
    found = choose(versions, served)
    if found is None:
        first = versions[0]
        known = ", ".join(each.version for each in versions)
        there = ", ".join(served) or "none"
        raise NotFound(
            f"list {first.plural}: the server has them in no version of {first.group} that is "
            f"understood ({known}); of those it serves: {there}"
        )
    return found


async def _served(client: KubeClient, versions: Sequence[Resource[Any]]) -> Served:
    """The kinds of those versions of a group that the server has, and that matter here."""
    group = versions[0].group
    found = await _ask(client, f"/apis/{group}", _ApiGroup)
    there = {each.version for each in found.versions} if found is not None else set()
    served: dict[str, frozenset[str]] = {}
    for version in (each.version for each in versions if each.version in there):
        kinds = await _ask(client, f"/apis/{group}/{version}", _ApiResources)
        if kinds is not None:  # else it was removed between the two requests
            served[version] = frozenset(each.name for each in kinds.resources)
    return served


async def _ask(client: KubeClient, path: str, answer: type[S]) -> S | None:
    """None: the server does not have it."""
    try:
        content = await client.transport.send(HttpRequest(f"discover {path}", "GET", path))
    except NotFound:
        return None
    try:
        return msgspec.json.decode(content, type=answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableResponse(f"discover {path}: the answer cannot be read: {error}") from None
