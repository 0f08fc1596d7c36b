"""Decodes a JGF document to columns.

JGF (JSON Graph Format) is how Fluxion writes graphs and allocations: a list of nodes, each with an
id of its own in the document and `metadata` that describes one vertex, and a list of edges between
those ids. Here a document becomes columns, with the values that it omits filled in.

Nothing here depends on a resource graph: rows are positions in the document. An error in a document
is a `GraphError` that names the node and the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import GraphError, Interner
from fluxnetes.graph.readers.jgf_json import (
    JgfEdge,
    JgfNode,
    JgfNodeMetadata,
    decode_chunks,
    decode_document,
)
from fluxnetes.notation.idset import IdsetError, decode_idset

SHORTHAND_WRITER = "fluxion:jgf_shorthand"
"""The `writer` of documents that omit what an exclusive vertex holds."""


@dataclass(frozen=True, slots=True)
class JgfVertices:
    """The nodes of a document; `names`, `properties` and `paths` by row, only where it has them."""

    keys: list[str]
    """The id of each node in the document."""
    types: Interner
    type_id: Ints
    basenames: Interner
    basename_id: Ints
    id: Ints
    rank: Ints
    size: Ints
    uniq_id: Ints
    up: Bools
    exclusive: Bools
    divisible: Bools
    names: dict[int, str]
    """Names that are not basename + id."""
    properties: dict[int, dict[str, str]]
    paths: dict[str, dict[int, str]]
    """By subsystem, then by row."""

    def __len__(self) -> int:
        return len(self.keys)

    def all_names(self) -> list[str]:
        """The name of every vertex, given or derived."""
        basenames = self.basenames.names
        names = [
            f"{basenames[basename]}{id}"
            for basename, id in zip(self.basename_id.tolist(), self.id.tolist(), strict=True)
        ]
        for row, name in self.names.items():
            names[row] = name
        return names


@dataclass(frozen=True, slots=True)
class JgfEdges:
    """The edges of a document, between rows of its vertices."""

    source: Ints
    target: Ints
    subsystems: Interner
    subsystem_id: Ints

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True)
class JgfDocument:
    """A document whose vertices are decoded and whose edges are not yet."""

    vertices: JgfVertices
    row_of_key: dict[str, int]
    raw_edges: Raw
    free_ranks: frozenset[int] | None
    """Ranks released since the document was written; None where it has no such key."""
    shorthand: bool

    def edges(self, rows: Mapping[str, int] | None = None, *, partial: bool = False) -> JgfEdges:
        """Decode the edges; with `partial`, edges to keys that `rows` does not have are skipped."""
        return _decode_edges(self.raw_edges, self.row_of_key if rows is None else rows, partial)


def read_document(text: bytes | str) -> JgfDocument:
    """Decode everything but the edges."""
    document = decode_document(text)
    vertices = _decode_vertices(document.graph.nodes)
    row_of_key = dict(zip(vertices.keys, count()))
    if len(row_of_key) != len(vertices):
        twice = next(k for row, k in enumerate(vertices.keys) if row_of_key[k] != row)
        raise GraphError(f"JGF node {twice!r}: the id is given to two nodes")
    return JgfDocument(
        vertices=vertices,
        row_of_key=row_of_key,
        raw_edges=document.graph.edges,
        free_ranks=_free_ranks(document.free_ranks),
        shorthand=document.writer == SHORTHAND_WRITER,
    )


def _free_ranks(text: str | int | None) -> frozenset[int] | None:
    if text is None:
        return None
    try:
        return frozenset(decode_idset(str(text)))
    except IdsetError as error:
        raise GraphError(f"JGF key free_ranks: {error}") from None


# -- nodes -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Columns:
    """Columns that grow chunk by chunk."""

    keys: list[str] = field(default_factory=list)
    types: Interner = field(default_factory=Interner)
    basenames: Interner = field(default_factory=Interner)
    chunks: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    properties: dict[int, dict[str, str]] = field(default_factory=dict)
    paths: dict[str, dict[int, str]] = field(default_factory=dict)

    def append(self, name: str, values: list[Any], dtype: type[np.generic] = np.int64) -> None:
        self.chunks.setdefault(name, []).append(np.array(values, dtype=dtype))

    def take(self, name: str, dtype: type[np.generic] = np.int64) -> NDArray[Any]:
        chunks = self.chunks.pop(name, None)
        return np.concatenate(chunks) if chunks else np.empty(0, dtype=dtype)


def _decode_vertices(raw: Raw) -> JgfVertices:
    columns = _Columns()
    for nodes in decode_chunks(raw, JgfNode):
        _add_chunk(columns, nodes)
    return JgfVertices(
        keys=columns.keys,
        types=columns.types,
        type_id=columns.take("type_id"),
        basenames=columns.basenames,
        basename_id=columns.take("basename_id"),
        id=columns.take("id"),
        rank=columns.take("rank"),
        size=columns.take("size"),
        uniq_id=columns.take("uniq_id"),
        up=columns.take("up", np.bool_),
        exclusive=columns.take("exclusive", np.bool_),
        divisible=columns.take("divisible", np.bool_),
        names=columns.names,
        properties=columns.properties,
        paths=columns.paths,
    )


def _add_chunk(columns: _Columns, nodes: list[JgfNode]) -> None:
    first = len(columns.keys)
    columns.keys.extend([node.id for node in nodes])
    metas = [node.metadata for node in nodes]
    type_number, basename_number = columns.types.number, columns.basenames.number
    basenames = [m.type if m.basename is None else m.basename for m in metas]
    uniq_ids = [
        _uniq_id(node.id) if m.uniq_id is None else m.uniq_id
        for node, m in zip(nodes, metas, strict=True)
    ]
    ids = [
        _default_id(m, uniq_id) if m.id is None else m.id
        for m, uniq_id in zip(metas, uniq_ids, strict=True)
    ]
    columns.append("type_id", [type_number(m.type) for m in metas])
    columns.append("basename_id", [basename_number(basename) for basename in basenames])
    columns.append("uniq_id", uniq_ids)
    columns.append("id", ids)
    columns.append("rank", [m.rank for m in metas])
    columns.append("size", [m.size for m in metas])
    columns.append("up", [m.status == 0 for m in metas], np.bool_)
    columns.append("exclusive", [m.exclusive for m in metas], np.bool_)
    columns.append("divisible", [m.divisible for m in metas], np.bool_)
    for row, (m, basename, id) in enumerate(zip(metas, basenames, ids, strict=True), first):
        if m.name is not None and m.name != f"{basename}{id}":
            columns.names[row] = m.name
        if m.properties:
            columns.properties[row] = m.properties
        for subsystem, path in m.paths.items():
            columns.paths.setdefault(subsystem, {})[row] = path


def _uniq_id(key: str) -> int:
    """The uniq_id of a node without one: its id in the document, which must be a number."""
    digits = key.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        raise GraphError(
            f"JGF node {key[:80]!r}: needs the key metadata.uniq_id, since its id is not a number"
        )
    return int(key)


def _default_id(metadata: JgfNodeMetadata, uniq_id: int) -> int:
    """The id of a node without one: its uniq_id, or the number at the end of a host's name."""
    if metadata.type == "node" and metadata.name is not None:
        digits = metadata.name[len(metadata.name.rstrip("0123456789")) :]
        if len(digits) > 18:
            raise GraphError(
                f"JGF node named {metadata.name[:80]!r}: needs the key metadata.id, "
                f"since the number at the end of its name is too large"
            )
        if digits:
            return int(digits)
    return uniq_id


# -- edges -----------------------------------------------------------------------------------------


def _decode_edges(raw: Raw, rows: Mapping[str, int], partial: bool) -> JgfEdges:
    subsystems = Interner()
    sources: list[NDArray[Any]] = []
    targets: list[NDArray[Any]] = []
    numbers: list[NDArray[Any]] = []
    for edges in decode_chunks(raw, JgfEdge):
        known = [e for e in edges if e.source in rows and e.target in rows] if partial else edges
        try:
            sources.append(np.array([rows[edge.source] for edge in known], dtype=np.int64))
            targets.append(np.array([rows[edge.target] for edge in known], dtype=np.int64))
        except KeyError as missing:
            key = missing.args[0]
            edge = next(edge for edge in edges if key in (edge.source, edge.target))
            raise GraphError(
                f"JGF edge {edge.source!r} -> {edge.target!r}: no node has the id {key!r}"
            ) from None
        numbers.append(np.array([subsystems.number(e.metadata.subsystem) for e in known], np.int64))
    return JgfEdges(_join(sources), _join(targets), subsystems, _join(numbers))


def _join(chunks: list[NDArray[Any]]) -> Ints:
    return np.concatenate(chunks) if chunks else np.empty(0, dtype=np.int64)
