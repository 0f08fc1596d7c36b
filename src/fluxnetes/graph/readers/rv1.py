"""RFC 20 R: the flat graph of a machine, or the part of it that a job holds.

R lists *ranks* (execution targets, one a node) and for each the ids of what the node holds:

    {"version": 1, "execution": {
        "R_lite": [{"rank": "0-1", "children": {"core": "0-15", "gpu": "0-3"}}],
        "nodelist": ["node[0-1]"], "properties": {"fast": "1"}}}

Loaded, that is a tree of three levels, cluster0 -> host -> core0, core1 ... The hosts of the
nodelist belong to the ranks in ascending order. Every vertex below the cluster has its node's rank.
A whole entry of R_lite is one block of columns, repeated for each of its ranks.

R that describes a job has the same form. `read_rv1_vertices` finds its vertices by rank, type and
id; `read_rv1_ranks` reads the ranks alone, which is what giving back whole ranks needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from fluxnetes.graph.columns import GraphError, Ints, Patch, ResourceGraph, derived_name
from fluxnetes.notation.hostlist import HostlistError, decode_hostlist
from fluxnetes.notation.idset import IdsetError, decode_idset

MAX_VERTICES = 2**26


@dataclass(frozen=True, slots=True)
class Rv1Selection:
    """The vertices of a graph that an R names: each node, then what is listed of it."""

    ranks: list[int]
    vertex: Ints
    """Row in the graph."""
    exclusive: NDArray[np.bool_]
    """True for all that is listed; for a node, whether all that it holds is listed."""


# -- the JSON --------------------------------------------------------------------------------------


class _Entry(msgspec.Struct, frozen=True):
    rank: str
    children: dict[str, str]


class _Execution(msgspec.Struct, frozen=True):
    rlite: list[_Entry] = msgspec.field(name="R_lite")
    nodelist: list[str]
    properties: dict[str, str] | None = None


class _R(msgspec.Struct, frozen=True):
    version: int
    execution: _Execution


class _RankEntry(msgspec.Struct, frozen=True):
    rank: str


class _RankExecution(msgspec.Struct, frozen=True):
    rlite: list[_RankEntry] = msgspec.field(name="R_lite")


class _RankR(msgspec.Struct, frozen=True):
    version: int
    execution: _RankExecution


def _decode_json[T: (_R, _RankR)](text: bytes | str, type: type[T]) -> T:
    pass


