"""Allocations as texts, for tools that read them."""

from __future__ import annotations

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.writers import FORMATS, render
from fluxnetes.graph.writers.jgf import write_jgf_in_full
from fluxnetes.service.errors import Invalid

JGF_IN_FULL = "jgf_in_full"
"""JGF as the old services wrote it: nothing is left out because it has its default."""


def check_format(format: str) -> None:
    """Refuse a format that nobody can write, before anything is done."""
    if format and format not in FORMATS:
        raise Invalid(f"found {format!r}, expected one of {', '.join(FORMATS)}", "format")


def written(graph: ResourceGraph, placement: Placement, format: str) -> str:
    """A placement in a format; nothing in none."""
    if not format:
        return ""
    if format == JGF_IN_FULL:
        return write_jgf_in_full(graph, placement)
    return render(format, graph, placement)
