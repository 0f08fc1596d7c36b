"""The resource graph, stored as columns.

A cluster is a graph of *vertices*: the cluster itself, its racks, nodes, sockets, cores, memory.
An *edge* means that one vertex holds another, in one *subsystem*: `containment` is the tree of what
is physically inside what, `power` or `network` may cross it. One vertex can be in several
subsystems.

A vertex is a row number. Its attributes are in columns, one NumPy array per attribute, so that a
question about a million vertices is a few array operations and costs 60 bytes a vertex. Strings are
interned; a name is stored only where it is not basename + id, a path only where a reader set one.
Rows are never reused: a removed vertex keeps its row and loses its edges.

A reader fills a `GraphPatch` (new vertices, new edges) and the graph applies it; loading a graph is
applying a patch to an empty one, growing is applying a patch to a full one. Code that caches
values computed from the shape of the graph compares `ResourceGraph.version` to detect changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.common.texts import is_storable
from fluxnetes.graph.errors import GraphError as GraphError
from fluxnetes.graph.limits import MAX_AMOUNT
from fluxnetes.graph.patch import CONTAINMENT, EDGE_COLUMNS, GraphPatch, derived_name
from fluxnetes.graph.topology import TooManyPaths, Topology, build_topology

BUILTIN_TYPES = (
    "cluster",
    "core",
    "socket",
    "gpu",
    "node",
    "rack",
    "slot",
    "xor_slot",
    "ssd",
    "storage_node",
)

_NUMBERS = ("id", "rank", "size", "uniq_id", "divisible", "edge_source", "edge_target")


def _check_text(text: str) -> None:
    if not is_storable(text):
        raise GraphError(f"found {text!r}, expected text without NUL characters and surrogates")


class Interner:
    """Interned strings: names and their numbers, in the order in which they first appeared."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        for name in names:
            self.number(name)

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: str) -> int:
        """The number of `name`; a new name gets the next one."""
        found = self._numbers.get(name)
        if found is None:
            _check_text(name)
            found = self._numbers[name] = len(self.names)
            self.names.append(name)
        return found

    def get(self, name: str, default: int = -1) -> int:
        return self._numbers.get(name, default)


class ResourceGraph:
    """Vertices, their attributes and the edges between them. See the module's docstring."""

    def __init__(self) -> None:
        self.types = Interner(BUILTIN_TYPES)
        self.basenames = Interner()
        self.units = Interner([""])
        self.subsystems = Interner([CONTAINMENT])
        self.version = 0
        """Counts changes of shape (apply, remove, move) and size, so that caches detect them."""
        self.moves = 0
        """Counts the times that vertices moved to other parents."""
        self.type_id: NDArray[np.int32] = np.empty(0, np.int32)
        self.basename_id: NDArray[np.int32] = np.empty(0, np.int32)
        self.unit_id: NDArray[np.int32] = np.empty(0, np.int32)
        self.id: Ints = np.empty(0, np.int64)
        self.rank: Ints = np.empty(0, np.int64)
        self.size: Ints = np.empty(0, np.int64)
        self.uniq_id: Ints = np.empty(0, np.int64)
        self.up: Bools = np.empty(0, np.bool_)
        self.divisible: Bools = np.empty(0, np.bool_)
        self.occupied: Ints = np.empty(0, np.int64)
        """Amount of each pool in use outside of the matcher's jobs; see `set_occupied`."""
        self.closed: Bools = np.empty(0, np.bool_)
        """Vertices that accept no new job; running jobs keep what they hold there."""
        self.edge_source: Ints = np.empty(0, np.int64)
        self.edge_target: Ints = np.empty(0, np.int64)
        self.edge_subsystem: Ints = np.empty(0, np.int64)
        self._names: dict[int, str] = {}
        self._properties: dict[int, dict[str, str]] = {}
        self._paths: dict[int, dict[int, str]] = {}
        self._topologies: dict[str, Topology] = {}
        self._roots: dict[int, int] = {}
        """The root of each subsystem when it was last walked."""
        self._child_names: dict[tuple[int, str], dict[str, list[int]]] = {}
        self._path_index: dict[int, dict[str, list[int]]] | None = None
        """The vertices of each path in `_paths`, by subsystem; None until it is needed."""
        self._by_rank: tuple[Ints, Ints] | None = None

    # -- shape ---------------------------------------------------------------------------------

    @property
    def vertex_count(self) -> int:
        return len(self.id)

    @property
    def edge_count(self) -> int:
        return len(self.edge_source)

    def apply(self, patch: GraphPatch) -> None:
        """Add a patch's vertices and edges."""
        if patch.graph is not self or patch.first != self.vertex_count:
            raise GraphError("the patch was made for another graph or an earlier state of this one")
        _check_texts(patch)
        for column, values in patch.columns().items():
            self._extend(column, values)
        self._extend("occupied", np.zeros(patch.count, np.int64))
        self._extend("closed", np.zeros(patch.count, np.bool_))
        for column, values in patch.edge_columns().items():
            self._extend(column, values)
        self._names.update(patch.names)
        self._properties.update(patch.properties)
        for subsystem, paths in patch.paths.items():
            self._paths.setdefault(self.subsystems.number(subsystem), {}).update(paths)
        self._reshaped()

    def _extend(self, column: str, values: NDArray[Any]) -> None:
        old = getattr(self, column)
        setattr(self, column, np.concatenate((old, values)) if len(old) else values.copy())

    def remove(self, vertices: ArrayLike) -> None:
        """Remove vertices with all that they contain: the rows stay, their edges are deleted."""
        gone = self.contents(vertices)
        keep = ~(gone[self.edge_source] | gone[self.edge_target])
        for number, paths in self._paths.items():
            stale = gone | self._moved(number, keep)
            for vertex in np.flatnonzero(stale).tolist():
                paths.pop(vertex, None)
        for column in EDGE_COLUMNS:
            setattr(self, column, getattr(self, column)[keep])
        self._reshaped()

    def move(self, vertices: ArrayLike, parents: ArrayLike) -> None:
        """Put each vertex, with all that it contains, below another one than before.

        The vertices stay in their rows, so what jobs hold of them stays theirs. `moves` tells that
        placements name ancestors that are none any more.
        """
        rows = np.atleast_1d(np.asarray(vertices, np.int64))
        above = np.full(self.vertex_count, -1, np.int64)
        above[rows] = parents
        mine = (self.edge_subsystem == 0) & (above[self.edge_target] >= 0)
        self.edge_source = np.where(mine, above[self.edge_target], self.edge_source)
        below = self.contents(rows)
        paths = self._paths.get(0, {})
        for vertex in [vertex for vertex in paths if below[vertex]]:
            del paths[vertex]
        self.moves += 1
        self._reshaped()

    def _moved(self, subsystem: int, keep: Bools) -> Bools:
        """By row, what loses a parent with some edges and keeps another; with all below it."""
        mine = self.edge_subsystem == subsystem
        kept = np.zeros(self.vertex_count, dtype=np.bool_)
        kept[self.edge_target[mine & keep]] = True
        moved = np.zeros(self.vertex_count, dtype=np.bool_)
        lost = self.edge_target[mine & ~keep]
        vertices = lost[kept[lost]]
        while len(vertices):
            moved[vertices] = True
            below = self.edge_target[mine & moved[self.edge_source]]
            vertices = below[~moved[below]]
        return moved

    def contents(self, vertices: ArrayLike) -> Bools:
        """By row, some vertices and all that only they contain.

        What another vertex contains, too, such as storage that two racks share, is not part of it.
        """
        gone = np.zeros(self.vertex_count, dtype=np.bool_)
        gone[np.asarray(vertices, dtype=np.int64)] = True
        containing = self.edge_subsystem == 0
        sources, targets = self.edge_source[containing], self.edge_target[containing]
        while len(orphans := targets[gone[sources] & ~gone[targets]]):
            kept = np.zeros(self.vertex_count, dtype=np.bool_)
            kept[targets[~gone[sources]]] = True
            if kept[orphans].all():
                break
            gone[orphans[~kept[orphans]]] = True
        return gone

    def _reshaped(self) -> None:
        self.version += 1
        self._topologies.clear()
        self._child_names.clear()
        self._path_index = None
        self._by_rank = None

    def topology(self, subsystem: str = CONTAINMENT) -> Topology:
        """The tree of one subsystem in depth-first order (cached until the shape changes)."""
        found = self._topologies.get(subsystem)
        if found is None:
            found = self._topologies[subsystem] = self._build_topology(subsystem)
        return found

    def _build_topology(self, subsystem: str) -> Topology:
        number = self.subsystems.get(subsystem)
        mine = self.edge_subsystem == number
        sources, targets = self.edge_source[mine], self.edge_target[mine]
        root = self._root(number, sources, targets)
        try:
            found = build_topology(self.vertex_count, root, sources, targets)
        except TooManyPaths as error:
            raise GraphError(f"subsystem {subsystem!r}: {error}") from error
        self._roots[number] = root
        return found

    def _root(self, number: int, sources: Ints, targets: Ints) -> int:
        given = [v for v, path in self._paths.get(number, {}).items() if path.count("/") == 1]
        if len(given) > 1:
            names = ", ".join(self.name(v) for v in given[:3])
            raise GraphError(f"subsystem {self.subsystems.names[number]!r} has two roots: {names}")
        if given:
            return given[0]
        if len(sources) == 0:
            if number == 0 and self.vertex_count == 1:
                return 0
            if number in self._roots:  # all that it held was removed
                return self._roots[number]
            raise GraphError(f"no edge of the graph is in subsystem {number}")
        is_target = np.zeros(self.vertex_count, dtype=np.bool_)
        is_target[targets] = True
        roots = np.unique(sources[~is_target[sources]])
        if len(roots) != 1:
            found = ", ".join(self.name(v) for v in roots[:3].tolist()) or "none (a cycle)"
            name = self.subsystems.names[number]
            raise GraphError(f"subsystem {name!r} needs exactly one root, found {found}")
        return int(roots[0])

    def vertices_of_rank(self, rank: int) -> Ints:
        """The rows that carry an execution target's rank, in order; removed ones included."""
        if self._by_rank is None:
            order = np.argsort(self.rank, kind="stable")
            self._by_rank = order, self.rank[order]
        order, ranks = self._by_rank
        return order[np.searchsorted(ranks, rank) : np.searchsorted(ranks, rank, side="right")]

    def copy(self) -> ResourceGraph:
        """A deep copy: changes to one of the two do not affect the other."""
        twin = ResourceGraph()
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(twin, name, value.copy())
            elif isinstance(value, Interner):
                setattr(twin, name, Interner(value.names))
        twin.version, twin.moves = self.version, self.moves
        twin._names = dict(self._names)
        twin._properties = {vertex: dict(its) for vertex, its in self._properties.items()}
        twin._paths = {subsystem: dict(paths) for subsystem, paths in self._paths.items()}
        twin._roots = dict(self._roots)
        twin._topologies = dict(self._topologies)  # immutable, so both may share it
        return twin

    def is_like(self, other: ResourceGraph) -> bool:
        """Whether both have the same vertices in the same rows, and the same edges in one order.

        Their properties and units, and what is up, closed or occupied, may differ.
        """
        if (self.vertex_count, self.edge_count) != (other.vertex_count, other.edge_count):
            return False
        return (
            all(np.array_equal(getattr(self, each), getattr(other, each)) for each in _NUMBERS)
            and self._texts() == other._texts()
            and self._has_paths_of(other)
            and other._has_paths_of(self)
        )

    def _texts(self) -> tuple[list[str], ...]:
        """The interned attributes of vertices and edges as text, independent of their numbers."""
        types, subsystems = self.types.names, self.subsystems.names
        return (
            self.names(np.arange(self.vertex_count)),
            [self.basenames.names[number] for number in self.basename_id.tolist()],
            [types[number] for number in self.type_id.tolist()],
            [subsystems[number] for number in self.edge_subsystem.tolist()],
        )

    def _has_paths_of(self, other: ResourceGraph) -> bool:
        """Whether the paths that `other` stores are the same here, stored or derived."""
        return all(
            self.path(vertex, other.subsystems.names[number]) == path
            for number, paths in other._paths.items()
            for vertex, path in paths.items()
        )

    # -- one vertex ----------------------------------------------------------------------------

    def type_name(self, vertex: int) -> str:
        return self.types.names[int(self.type_id[vertex])]

    def basename(self, vertex: int) -> str:
        return self.basenames.names[int(self.basename_id[vertex])]

    def unit(self, vertex: int) -> str:
        return self.units.names[int(self.unit_id[vertex])]

    def name(self, vertex: int) -> str:
        given = self._names.get(vertex)
        if given is not None:
            return given
        return derived_name(self.basenames.names[self.basename_id[vertex]], int(self.id[vertex]))

    def names(self, vertices: Ints) -> list[str]:
        """The names of many vertices."""
        bases, given = self.basenames.names, self._names
        columns = zip(self.basename_id[vertices].tolist(), self.id[vertices].tolist(), strict=True)
        found = [f"{bases[base]}{id}" for base, id in columns]
        if given:
            rows = vertices.tolist()
            found = [given.get(row, name) for row, name in zip(rows, found, strict=True)]
        return found

    def path(self, vertex: int, subsystem: str = CONTAINMENT) -> str | None:
        """The path of a vertex in a subsystem, or None where it is not in it."""
        number = self.subsystems.get(subsystem)
        given = self._paths.get(number, {}).get(vertex)
        if given is not None:
            return given
        try:
            tree = self.topology(subsystem)
        except GraphError:
            return None
        parts: list[str] = []
        at = int(tree.position[vertex])
        if at < 0:
            return None
        given_paths = self._paths.get(number, {})
        while at >= 0:
            row = int(tree.vertex[at])
            if row in given_paths:
                return "/".join([given_paths[row], *reversed(parts)])
            parts.append(self.name(row))
            at = int(tree.parent[at])
        return "/" + "/".join(reversed(parts))

    def paths(self, vertex: int) -> dict[str, str]:
        """The paths of a vertex, by subsystem."""
        found = ((s, self.path(vertex, s)) for s in self.subsystems.names)
        return {subsystem: path for subsystem, path in found if path is not None}

    def all_paths(self, subsystem: str = CONTAINMENT) -> dict[int, str]:
        """The path of every vertex that is in a subsystem: what `path` returns for each."""
        given = self._paths.get(self.subsystems.get(subsystem), {})
        try:
            tree = self.topology(subsystem)
        except GraphError:
            return dict(given)
        rows, names = tree.vertex.tolist(), self.names(tree.vertex)
        found: list[str] = []
        for row, name, above in zip(rows, names, tree.parent.tolist(), strict=True):
            path = given.get(row)  # parents come first
            found.append(path or (f"{found[above]}/{name}" if above >= 0 else f"/{name}"))
        # Of several paths the first counts, so it comes last.
        return given | dict(zip(reversed(rows), reversed(found), strict=True))

    def find_path(self, path: str) -> list[int]:
        """The vertices at a path, in the first subsystem that has the path; none if none has."""
        if self._path_index is None:
            self._path_index = {}
            for number, paths in self._paths.items():
                index = self._path_index.setdefault(number, {})
                for vertex, its in paths.items():
                    index.setdefault(its, []).append(vertex)
        for number, subsystem in enumerate(self.subsystems.names):
            given = self._paths.get(number, {})
            found = set(self._path_index.get(number, {}).get(path, ()))
            walked = self._walk_path(path, subsystem)
            found.update(v for v in walked if given.get(v, path) == path)
            if walked and not self.topology(subsystem).is_tree:
                # A vertex has one path of its own, but any path that leads to it names it.
                own = {v for v in walked if self.path(v, subsystem) == path}
                found = own or found or set(walked)
            if found:
                return sorted(found)
        return []

    def _walk_path(self, path: str, subsystem: str) -> list[int]:
        try:
            tree = self.topology(subsystem)
        except GraphError:
            return []
        root = int(tree.vertex[0])
        top = self.path(root, subsystem) or ""
        if path == top:
            return [root]
        if not path.startswith(top + "/"):
            return []
        return self._walk_below(root, path[len(top) + 1 :].split("/"), subsystem)

    def _walk_below(self, parent: int, parts: list[str], subsystem: str) -> list[int]:
        """The vertices that a path leads to; names such as `nvidia.com/gpu0` span several parts."""
        found = self._children_named(parent, "/".join(parts), subsystem)
        for length in range(1, len(parts)):
            for child in self._children_named(parent, "/".join(parts[:length]), subsystem):
                found = found + self._walk_below(child, parts[length:], subsystem)
        return found

    def _children_named(self, parent: int, name: str, subsystem: str) -> list[int]:
        index = self._child_names.get((parent, subsystem))
        if index is None:
            index = self._child_names[parent, subsystem] = {}
            tree = self.topology(subsystem)
            for vertex in tree.vertex[tree.children(int(tree.position[parent]))].tolist():
                index.setdefault(self.name(vertex), []).append(vertex)
        return index.get(name, [])

    # -- what changes while jobs run -----------------------------------------------------------

    def properties(self, vertex: int) -> dict[str, str]:
        """The properties of a vertex, sorted by key."""
        return dict(sorted(self._properties.get(vertex, {}).items()))

    def has_property(self, vertex: int, key: str) -> bool:
        return key in self._properties.get(vertex, {})

    def vertices_with_properties(self) -> Mapping[int, dict[str, str]]:
        return self._properties

    def set_property(self, vertex: int, key: str, value: str) -> None:
        self._properties.setdefault(vertex, {})[key] = value

    def remove_property(self, vertex: int, key: str) -> None:
        self._properties.get(vertex, {}).pop(key, None)

    def replace_properties(self, properties: dict[int, dict[str, str]]) -> None:
        """Set the properties of all vertices; every property that is not given is removed."""
        self._properties = properties

    def set_status(self, vertex: int, up: bool) -> None:
        """Mark one vertex up or down; what it holds is unreachable while it is down."""
        self.up[vertex] = up

    def set_closed(self, vertex: int, closed: bool) -> None:
        """Close one vertex to new jobs, or open it again; running jobs keep what they hold."""
        self.closed[vertex] = closed

    def set_occupied(self, vertices: ArrayLike, amounts: ArrayLike) -> None:
        """Set the amounts of pools that are in use outside of the matcher's jobs.

        That changes what is free, not the size of the pools.
        """
        rows = np.atleast_1d(np.asarray(vertices, np.int64))
        if not self.divisible[rows].all():
            name = self.name(int(rows[~self.divisible[rows]][0]))
            raise GraphError(f"{name} is not a pool; only a pool can be occupied in part")
        self.occupied[rows] = np.maximum(amounts, 0)

    def set_size(self, vertex: int, size: int) -> None:
        """Resize a pool, whatever jobs hold of it."""
        if not self.divisible[vertex]:
            raise GraphError(f"{self.name(vertex)} is not a pool; its size cannot change")
        if not 0 <= size <= MAX_AMOUNT:
            type = self.type_name(vertex)
            raise GraphError(f"a pool of {size} {type}: expected 0 to {MAX_AMOUNT}")
        self.size[vertex] = size
        self.version += 1


def _check_texts(patch: GraphPatch) -> None:
    """Raise GraphError if a text of a patch cannot be stored; interned ones were checked before."""
    for name in patch.names.values():
        _check_text(name)
    for properties in patch.properties.values():
        for key, value in properties.items():
            _check_text(key)
            _check_text(value)
    for paths in patch.paths.values():
        for path in paths.values():
            _check_text(path)
