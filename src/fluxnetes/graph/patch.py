"""A change to a graph: vertices and edges to add, collected before the graph is modified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fluxnetes.common.arrays import Ints

if TYPE_CHECKING:
    from fluxnetes.graph.columns import ResourceGraph

CONTAINMENT = "containment"

_COLUMNS: dict[str, Any] = {
    "type_id": np.int32,
    "basename_id": np.int32,
    "unit_id": np.int32,
    "id": np.int64,
    "rank": np.int64,
    "size": np.int64,
    "uniq_id": np.int64,
    "up": np.bool_,
    "divisible": np.bool_,
}
EDGE_COLUMNS = ("edge_source", "edge_target", "edge_subsystem")


class GraphPatch:
    """Vertices and edges to be added to a graph.

    `patch.vertex(...)` and `patch.vertices(...)` return the row numbers that the new vertices will
    have once `graph.apply(patch)` was called; edges may name those and rows that exist already.
    """

    def __init__(self, graph: ResourceGraph) -> None:
        self.graph = graph
        self.first = graph.vertex_count
        self.count = 0
        self._chunks: dict[str, list[NDArray[Any]]] = {name: [] for name in _COLUMNS}
        self._rows: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        self._edges: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
        self._edge_rows: tuple[list[int], list[int], list[int]] = ([], [], [])
        self.names: dict[int, str] = {}
        self.properties: dict[int, dict[str, str]] = {}
        self.paths: dict[str, dict[int, str]] = {}

    def vertex(
        self,
        type: str,
        *,
        basename: str | None = None,
        id: int = -1,
        name: str | None = None,
        rank: int = -1,
        size: int = 1,
        unit: str = "",
        uniq_id: int | None = None,
        up: bool = True,
        divisible: bool = False,
        properties: Mapping[str, str] | None = None,
        paths: Mapping[str, str] | None = None,
    ) -> int:
        """Add one vertex; `basename` defaults to the type, `name` to basename + id."""
        graph = self.graph
        row = self.first + self.count
        self.count += 1
        base = type if basename is None else basename
        rows = self._rows
        rows["type_id"].append(graph.types.number(type))
        rows["basename_id"].append(graph.basenames.number(base))
        rows["unit_id"].append(graph.units.number(unit))
        rows["id"].append(id)
        rows["rank"].append(rank)
        rows["size"].append(size)
        rows["uniq_id"].append(row if uniq_id is None else uniq_id)
        rows["up"].append(up)
        rows["divisible"].append(divisible)
        if name is not None and name != derived_name(base, id):
            self.names[row] = name
        if properties:
            self.properties[row] = dict(properties)
        for subsystem, path in (paths or {}).items():
            self.paths.setdefault(subsystem, {})[row] = path
        return row

    def vertices(
        self,
        type: str,
        ids: ArrayLike,
        *,
        basename: str | None = None,
        ranks: ArrayLike = -1,
        sizes: ArrayLike = 1,
        unit: str = "",
        uniq_ids: ArrayLike | None = None,
        divisible: bool = False,
    ) -> Ints:
        """Add many vertices of one type; an argument that is a single value applies to all."""
        graph = self.graph
        return self.table(
            type_ids=graph.types.number(type),
            basename_ids=graph.basenames.number(type if basename is None else basename),
            unit_ids=graph.units.number(unit),
            ids=np.atleast_1d(np.asarray(ids, dtype=np.int64)),
            ranks=ranks,
            sizes=sizes,
            uniq_ids=uniq_ids,
            divisible=divisible,
        )

    def table(
        self,
        *,
        type_ids: ArrayLike,
        basename_ids: ArrayLike,
        ids: Ints,
        unit_ids: ArrayLike = 0,
        ranks: ArrayLike = -1,
        sizes: ArrayLike = 1,
        uniq_ids: ArrayLike | None = None,
        up: ArrayLike = True,
        divisible: ArrayLike = False,
    ) -> Ints:
        """Add many vertices of any types, by columns; interned strings are passed as numbers."""
        self._flush()
        count = len(ids)
        rows: Ints = np.arange(self.first + self.count, self.first + self.count + count)
        self.count += count
        values: dict[str, ArrayLike] = {
            "type_id": type_ids,
            "basename_id": basename_ids,
            "unit_id": unit_ids,
            "id": ids,
            "rank": ranks,
            "size": sizes,
            "uniq_id": rows if uniq_ids is None else uniq_ids,
            "up": up,
            "divisible": divisible,
        }
        for column, value in values.items():
            full = np.broadcast_to(np.asarray(value, dtype=_COLUMNS[column]), (count,))
            self._chunks[column].append(full)
        return rows

    def edge(self, source: int, target: int, subsystem: str = CONTAINMENT) -> None:
        sources, targets, subsystems = self._edge_rows
        sources.append(source)
        targets.append(target)
        subsystems.append(self.graph.subsystems.number(subsystem))

    def edges(self, sources: ArrayLike, targets: ArrayLike, subsystem: str = CONTAINMENT) -> None:
        """Add many edges of one subsystem; `sources` may be one row that holds all targets."""
        self.edge_table(sources, targets, self.graph.subsystems.number(subsystem))

    def edge_table(self, sources: ArrayLike, targets: ArrayLike, subsystem_ids: ArrayLike) -> None:
        """Add many edges, by columns; subsystems are passed as numbers."""
        self._flush_edges()
        target_rows = np.atleast_1d(np.asarray(targets, dtype=np.int64))
        source_rows, numbers = (
            np.broadcast_to(np.asarray(values, dtype=np.int64), target_rows.shape)
            for values in (sources, subsystem_ids)
        )
        self._edges.append((source_rows, target_rows, numbers))

    def _flush(self) -> None:
        if self._rows["id"]:
            for column, values in self._rows.items():
                self._chunks[column].append(np.asarray(values, dtype=_COLUMNS[column]))
                values.clear()

    def _flush_edges(self) -> None:
        if self._edge_rows[0]:
            source, target, subsystem = (np.asarray(v, dtype=np.int64) for v in self._edge_rows)
            self._edges.append((source, target, subsystem))
            for values in self._edge_rows:
                values.clear()

    def columns(self) -> dict[str, NDArray[Any]]:
        """The new rows, one array per column."""
        self._flush()
        return {name: _concatenate(chunks, _COLUMNS[name]) for name, chunks in self._chunks.items()}

    def edge_columns(self) -> dict[str, NDArray[Any]]:
        self._flush_edges()
        return {
            name: _concatenate([chunk[i] for chunk in self._edges], np.int64)
            for i, name in enumerate(EDGE_COLUMNS)
        }


def _concatenate(chunks: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate(chunks) if chunks else np.empty(0, dtype=dtype)


def derived_name(basename: str, id: int) -> str:
    """The name of a vertex for which no other was set."""
    return f"{basename}{id}"
