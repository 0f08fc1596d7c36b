"""Decodes the JSON of a JGF document in chunks, to limit memory.

A whole machine is tens of megabytes, so the nodes are first separated without decoding them
(`msgspec.Raw`) and then decoded a few thousand at a time; the objects of one chunk can be freed
before the next chunk is decoded. An error names the node by its id, and the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeVar

import msgspec

from fluxnetes.graph.errors import DECODE_ERRORS, GraphError, decode_problem
from fluxnetes.graph.limits import MAX_AMOUNT
from fluxnetes.graph.patch import CONTAINMENT

_CHUNK = 4096
"""Nodes or edges that are decoded at a time, so that few objects exist at once."""

_MAX_NUMBER = 2**62
"""Largest absolute value of an id or a rank: columns hold it, and the numbers that follow it."""

_Int = Annotated[int, msgspec.Meta(ge=-_MAX_NUMBER, le=_MAX_NUMBER)]
_Size = Annotated[int, msgspec.Meta(ge=0, le=MAX_AMOUNT)]
_Status = Annotated[int, msgspec.Meta(ge=0, le=1)]


class JgfNodeMetadata(msgspec.Struct, frozen=True, gc=False):
    type: str
    paths: dict[str, str]
    basename: str | None = None
    name: str | None = None
    id: _Int | None = None
    uniq_id: _Int | None = None
    rank: _Int = -1
    status: _Status = 0
    exclusive: bool = False
    unit: str = ""
    size: _Size = 1
    divisible: bool = False
    """A key of Fluxnetes: the vertex is a pool of which a part can be allocated."""
    properties: dict[str, str] | None = None


class JgfNode(msgspec.Struct, frozen=True, gc=False):
    id: str
    metadata: JgfNodeMetadata


class JgfEdgeMetadata(msgspec.Struct, frozen=True, gc=False):
    subsystem: str = CONTAINMENT


_PLAIN_EDGE = JgfEdgeMetadata()


class JgfEdge(msgspec.Struct, frozen=True, gc=False):
    source: str
    target: str
    metadata: JgfEdgeMetadata = _PLAIN_EDGE


class JgfGraph(msgspec.Struct, frozen=True):
    nodes: msgspec.Raw
    edges: msgspec.Raw


class JgfFile(msgspec.Struct, frozen=True):
    graph: JgfGraph
    free_ranks: str | int | None = None
    writer: object = None


def decode_document(text: bytes | str) -> JgfFile:
    """Find the parts of a document."""
    try:
        return msgspec.json.decode(text, type=JgfFile)
    except DECODE_ERRORS as error:
        raise GraphError(f"not a JGF document: {decode_problem(error)}") from None


_T = TypeVar("_T", JgfNode, JgfEdge)


def decode_chunks(raw: msgspec.Raw, type: type[_T]) -> Iterator[list[_T]]:
    """The nodes or the edges of a document, a few thousand at a time."""
    what = "node" if type is JgfNode else "edge"
    try:
        raws = msgspec.json.decode(raw, type=list[msgspec.Raw])
    except DECODE_ERRORS as error:
        raise GraphError(f"JGF key graph.{what}s: {decode_problem(error)}") from None
    decode = msgspec.json.Decoder(type).decode
    for start in range(0, len(raws), _CHUNK):
        decoded: list[_T] = []
        try:
            for one in raws[start : start + _CHUNK]:
                decoded.append(decode(one))
        except DECODE_ERRORS as error:
            at = start + len(decoded)
            raise GraphError(f"JGF {what} {_key(raws[at], at)}: {decode_problem(error)}") from None
        yield decoded


def _key(raw: msgspec.Raw, at: int) -> str:
    """How to name a node or edge that cannot be decoded: by its id, or else by its position."""
    try:
        return repr(msgspec.json.decode(raw)["id"])
    except (*DECODE_ERRORS, TypeError, KeyError):
        return f"number {at}"
