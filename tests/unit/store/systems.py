"""Systems as a store would give them back, without a store."""

from __future__ import annotations

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.store.system import StoredSystem, WrittenSystem, system, system_row


def read_back(graph: ResourceGraph, config: SchedulerConfig | None = None) -> StoredSystem:
    """The system of a graph, written and read."""
    columns = ("graph", "rows", "properties", "down", "config")
    row = dict(
        zip(columns, system_row(WrittenSystem.of(graph, config or SchedulerConfig())), strict=True)
    )
    return system({**row, "version": "1"})
