"""Writes placements as Flux resource sets: the object R of RFC 20, and R_lite alone.

`execution` defines for Flux where the job runs, and until when; `scheduling` is opaque to Flux and
holds the graph, from which a restarted scheduler rebuilds its allocations; `attributes` has the
queue.
"""

from __future__ import annotations

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.writers.jgf import graph_object, shorthand_object
from fluxnetes.graph.writers.jsontext import JsonObject, json_text
from fluxnetes.graph.writers.rlite import nodelist, properties, rlite, targets

VERSION = 1


def write_rlite(graph: ResourceGraph, placement: Placement) -> str:
    return json_text(rlite(targets(graph, placement))) + "\n"


def write_rv1_nosched(graph: ResourceGraph, placement: Placement) -> str:
    resource_set = {"version": VERSION, "execution": _execution(graph, placement)}
    return json_text(resource_set) + "\n"


def write_rv1(graph: ResourceGraph, placement: Placement) -> str:
    return _with_scheduling(graph, placement, graph_object(graph, placement))


def write_rv1_shorthand(graph: ResourceGraph, placement: Placement) -> str:
    return _with_scheduling(graph, placement, shorthand_object(graph, placement))


def _with_scheduling(graph: ResourceGraph, placement: Placement, scheduling: JsonObject) -> str:
    resource_set: JsonObject = {
        "version": VERSION,
        "execution": _execution(graph, placement),
        "scheduling": scheduling,
    }
    if placement.queue is not None:
        resource_set["attributes"] = {"system": {"scheduler": {"queue": placement.queue}}}
    return json_text(resource_set) + "\n"


def _execution(graph: ResourceGraph, placement: Placement) -> JsonObject:
    found = targets(graph, placement)
    execution: JsonObject = {"R_lite": rlite(found), "nodelist": nodelist(graph, found)}
    named = properties(graph, found)
    if named:
        execution["properties"] = named
    execution["starttime"] = placement.start
    execution["expiration"] = placement.end
    return execution
