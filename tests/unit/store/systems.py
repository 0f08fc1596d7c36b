"""Systems as a store would give them back, without a store."""

from __future__ import annotations

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.queue.config import Config
from fluxnetes.store.system import Kept, System, system, system_row


def read_back(graph: ResourceGraph, config: Config | None = None) -> System:
    """The system of a graph, written and read."""
    columns = ("graph", "rows", "properties", "down", "config")
    row = dict(zip(columns, system_row(Kept.of(graph, config or Config())), strict=True))
    return system({**row, "version": "1"})
