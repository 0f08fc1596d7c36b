"""The system that a stored queue belongs to: its graph, and the configuration of its queues.

Allocations hold row numbers, which are meaningful only with the graph of the process that wrote
them. So the graph is stored beside the queue: as JGF, which any later version can read, with the
row that each of its vertices had. A graph that is read back has rows of its own, without the gaps
that removed vertices leave; `translate` converts allocations from one numbering to another.

The document is large, so it is written only when vertices were added or removed. Their properties,
and which of them are down, change more often, and are written separately.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass, replace

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.readers import read_graph
from fluxnetes.graph.writers.whole import living, write_graph
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.store.codec.config import decode_config, encode_config
from fluxnetes.store.codec.requests import to_json
from fluxnetes.store.codec.rows import Row, StoredRow
from fluxnetes.store.database import Connection
from fluxnetes.store.errors import UnreadableStore
from fluxnetes.store.statements import statements

_SQL = statements("read")
_GZIP_LEVEL = 1
"""The fastest level, since the graph may be large."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredSystem:
    """The graph and the configuration of a stored queue."""

    graph: ResourceGraph
    rows: Ints
    """For each vertex of the graph the row that it has in the stored allocations."""
    config: SchedulerConfig
    version: str
    """Changes whenever any part of the system is written."""


@dataclass(frozen=True, slots=True)
class WrittenSystem:
    """What was last written of a system, as far as needed to detect a change."""

    graph: ResourceGraph
    version: int
    sizes: bytes
    """A digest of the sizes, which can change without a new version."""
    properties: str
    """As they are written."""
    down: bytes
    config: SchedulerConfig

    @classmethod
    def of(cls, graph: ResourceGraph, config: SchedulerConfig) -> WrittenSystem:
        sizes = hashlib.blake2b(graph.size.tobytes()).digest()
        down = _down(graph).tobytes()
        return cls(graph, graph.version, sizes, _encode_properties(graph), down, config)

    @classmethod
    def stored(cls, system: StoredSystem, graph: ResourceGraph) -> WrittenSystem | None:
        """The stored system in terms of an equal graph; None if the graphs differ."""
        here = living(graph)
        if len(here) < graph.vertex_count or not np.array_equal(here, system.rows):
            return None
        if not graph.is_like(system.graph):
            return None
        properties = _encode_properties(system.graph)
        down = system.rows[~system.graph.up].tobytes()
        return replace(cls.of(graph, system.config), properties=properties, down=down)

    def has_graph_of(self, other: WrittenSystem) -> bool:
        """Whether the document need not be written again."""
        return (
            self.graph is other.graph
            and self.version == other.version
            and self.sizes == other.sizes
        )


def system_row(kept: WrittenSystem) -> Row:
    """The row of a system."""
    document = gzip.compress(write_graph(kept.graph), _GZIP_LEVEL)
    return document, living(kept.graph).tolist(), kept.properties, *state_row(kept)


def _encode_properties(graph: ResourceGraph) -> str:
    """The rows that have each property, by its name and value, as JSON."""
    found: dict[str, dict[str, list[int]]] = {}
    for vertex, properties in sorted(graph.vertices_with_properties().items()):
        for name, value in properties.items():
            found.setdefault(name, {}).setdefault(value, []).append(vertex)
    return to_json({name: found[name] for name in sorted(found)})


def _properties(text: str, rows: Ints) -> dict[int, dict[str, str]]:
    """The properties of each vertex of a graph whose vertices had these rows."""
    vertex = {row: number for number, row in enumerate(rows.tolist())}
    found: dict[int, dict[str, str]] = {}
    for name, values in json.loads(text).items():
        for value, having in values.items():
            for row in having:
                if row in vertex:  # not if it was removed
                    found.setdefault(vertex[row], {})[name] = value
    return found


def state_row(kept: WrittenSystem) -> Row:
    """The columns that change while the graph does not."""
    return _down(kept.graph).tolist(), encode_config(kept.config)


def _down(graph: ResourceGraph) -> Ints:
    """Rows that accept no new jobs; only the queue distinguishes down from closed."""
    return np.flatnonzero(~graph.up | graph.closed)


async def load_system(
    connection: Connection, known: StoredSystem | None = None
) -> StoredSystem | None:
    """The stored system; None if there is none yet.

    Reading a large graph takes time, so a caller passes the system that it has read before, and
    gets it back if it is still current.
    """
    row = await connection.fetchrow(_SQL["system"], known.version if known else None)
    return known if row is None else system(row)


def system(row: StoredRow) -> StoredSystem:
    rows = np.array(row["rows"], np.int64)
    try:
        graph = read_graph(gzip.decompress(row["graph"]), "jgf")
    except GraphError as error:
        raise UnreadableStore(
            f"the system's graph cannot be read: {error}; run the version that wrote it"
        ) from None
    if row["properties"] is not None:
        graph.replace_properties(_properties(row["properties"], rows))
    graph.up[:] = ~np.isin(rows, np.array(row["down"], np.int64))
    return StoredSystem(graph, rows, decode_config(row["config"]), row["version"])
