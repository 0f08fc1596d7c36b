"""Renders allocations as text, for tools that read them."""

from __future__ import annotations

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.writers import FORMATS, render
from fluxnetes.graph.writers.jgf import write_jgf_in_full
from fluxnetes.service.errors import Invalid

JGF_IN_FULL = "jgf_in_full"
"""JGF as the old services wrote it, with fields that have their defaults."""


def check_format(format: str) -> None:
    """Refuse an unknown format, before anything is allocated. Raises Invalid."""
    if format and format not in FORMATS:
        raise Invalid(f"found {format!r}, expected one of {', '.join(FORMATS)}", "format")


def written(graph: ResourceGraph, placement: Placement, format: str) -> str:
    """A placement in a format; empty without one."""
    if not format:
        return ""
    if format == JGF_IN_FULL:
        return write_jgf_in_full(graph, placement)
    return render(format, graph, placement)
