"""Views of the nodes of a matcher: what is free, reserved and held, and by which jobs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from fluxnetes.cluster.topology import LEVEL
from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.match.engine.engine import MatchEngine
from fluxnetes.match.jobs import MatchedJob
from fluxnetes.match.matcher import Matcher
from fluxnetes.service.values import HeldShare, NodeView, Pool
from fluxnetes.service.views.shares import NODE, amounts_by_node, node_name


def node_names(matcher: Matcher) -> list[str]:
    """The names of all nodes, in tree order."""
    engine = matcher.engine
    return [node_name(engine.graph, v) for v in engine.tree.vertex[engine.nodes].tolist()]


def _any_job(job: int) -> bool:
    return True


def node_views(
    matcher: Matcher, positions: Sequence[int], shows: Callable[[int], bool] = _any_job
) -> Iterator[NodeView]:
    """The nodes at these positions of the tree, with the shares of jobs that are to be shown."""
    engine = matcher.engine
    vertices = engine.tree.vertex[np.array(positions, np.int64)].tolist()
    held, unusable = _shares_by_node(matcher, frozenset(vertices)), _unusable(engine)
    for position, vertex in zip(positions, vertices, strict=True):
        view = _view(engine, position, vertex, held.get(vertex, []), unusable)
        yield replace(view, shares=tuple(share for share in view.shares if shows(share.job)))


def positions_of(matcher: Matcher, names: Collection[str]) -> dict[str, int]:
    """The positions of nodes by name, of the names that exist."""
    wanted = set(names)
    pairs = zip(node_names(matcher), matcher.engine.nodes.tolist(), strict=True)
    return {name: position for name, position in pairs if name in wanted}


def totals(matcher: Matcher) -> tuple[Pool, ...]:
    """The totals of the whole graph, by type."""
    engine = matcher.engine
    return tuple(_pools(engine, slice(0, len(engine.tree)), [], _unusable(engine)))


def _unusable(engine: MatchEngine) -> Bools:
    """By position, whether a vertex is down or held exclusively, or below one that is."""
    ledger, tree = engine.ledger, engine.tree
    whole = (ledger.held > 0) & ~engine.graph.divisible[tree.vertex]
    first = np.flatnonzero(whole | ~ledger.up)
    count = len(tree) + 1
    opened = np.bincount(first, minlength=count) - np.bincount(tree.end[first], minlength=count)
    unusable: Bools = np.cumsum(opened)[:-1] > 0
    return unusable


_Held = tuple[MatchedJob, dict[str, int]]


def _shares_by_node(matcher: Matcher, nodes: frozenset[int]) -> dict[int, list[_Held]]:
    """What jobs hold of some nodes, which are given as rows of the graph."""
    found: dict[int, list[_Held]] = {}
    rows = np.array(sorted(nodes), np.int64)
    for job in matcher.jobs.values():
        if job.cancelled or not np.isin(job.placement.vertex, rows).any():
            continue
        for node, amounts in amounts_by_node(matcher.graph, job.placement).items():
            if node in nodes:
                found.setdefault(node, []).append((job, amounts))
    return found


def _view(
    engine: MatchEngine, position: int, vertex: int, held: list[_Held], unusable: Bools
) -> NodeView:
    graph = engine.graph
    return NodeView(
        node_name(graph, vertex),
        graph.path(vertex) or "",
        bool(engine.ledger.up[position]),
        graph.properties(vertex),
        tuple(_pools(engine, engine.tree.subtree(position), held, unusable)),
        tuple(HeldShare(job.jobid, amounts, job.reserved) for job, amounts in held),
    )


def _pools(
    engine: MatchEngine, subtree: slice, held: list[_Held], unusable: Bools
) -> Iterator[Pool]:
    """The pools of a part of the tree, by type; nodes and what is above them are left out."""
    ledger, graph = engine.ledger, engine.graph
    part = _each_once(engine, subtree)
    types, left = engine.types[part], ledger.size[part] - ledger.held[part]
    columns = (ledger.nominal[part], np.where(unusable[part], 0, left))
    others = ledger.nominal[part] - ledger.size[part]
    for number in np.unique(types).tolist():
        name = graph.types.names[number]
        if name in _NOT_COUNTED or name.startswith(LEVEL):
            continue
        here = types == number
        total, free = (int(np.maximum(column[here], 0).sum()) for column in columns)
        unit = graph.unit(int(engine.tree.vertex[part][here][0]))
        reserved = _reserved(held, name, total)
        yield Pool(name, total, free, reserved, int(others[here].sum()), unit)


def _each_once(engine: MatchEngine, subtree: slice) -> slice | Ints:
    """Positions of a part of the tree, one for each vertex."""
    if engine.tree.is_tree:
        return subtree
    first: Ints = np.unique(engine.tree.vertex[subtree], return_index=True)[1] + subtree.start
    return first


_NOT_COUNTED = frozenset({"cluster", "subnet", "rack", "node"})


def _reserved(held: list[_Held], type: str, total: int) -> int:
    """The maximum of a type that is reserved on a node at any one time in the future."""
    steps: list[tuple[int, int]] = []
    for job, amounts in held:
        amount = total if NODE in amounts else amounts.get(type, 0)
        if job.reserved:
            steps += [(job.at, amount), (job.end, -amount)]
    # At the same time, ends (negative amounts) sort before starts.
    return max(accumulate(amount for _, amount in sorted(steps)), default=0)
