"""The matching engine: finds where a request fits on one tree, and records what jobs hold.

The engine answers "where does this request fit, in this window of time?" and records the vertices
of each job. It knows nothing of operations, of assigning job ids or of text formats; those belong
to the matcher.

Everything computed from the shape of the graph (groups, scores, orders) is kept until the shape
changes; then the matcher builds a new engine and enters the jobs again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.placement import Placement
from fluxnetes.jobspec.constraint import Constraint
from fluxnetes.jobspec.model import Resource
from fluxnetes.match.engine.allowed_nodes import AllowedNodes
from fluxnetes.match.engine.chooser import Chooser
from fluxnetes.match.engine.closure import (
    NOTHING,
    HeldVertices,
    VertexSelection,
    hold,
    propagate_down,
)
from fluxnetes.match.engine.evaluate import evaluate
from fluxnetes.match.engine.first_fit import EdgeWeights, FirstFitWalk, WalkLimit
from fluxnetes.match.engine.flexible import split_xor_slots
from fluxnetes.match.engine.groups import build_groups
from fluxnetes.match.engine.paths.contested import ContestedVertices, find_contested
from fluxnetes.match.engine.paths.path_finder import PathFinder
from fluxnetes.match.engine.scores import score_tree, unscorable
from fluxnetes.match.engine.stages import CompileRules, Stage, compile_stages
from fluxnetes.match.engine.states import EvaluationContext, States
from fluxnetes.match.gang.gang_matcher import GangMatcher
from fluxnetes.match.ledger.aggregates import AggregateProfile, add_up
from fluxnetes.match.ledger.ledger import JobHolding, Ledger
from fluxnetes.match.ledger.prune_filters import parse_filters
from fluxnetes.match.ledger.views import LedgerView, WhatIfView, WholeGraphView
from fluxnetes.match.policy import MatchPolicy

_MAX_PLANS = 64
"""Maximum number of compiled requests, and of evaluated constraints, that an engine caches: each
holds columns as long as the tree."""


@dataclass(slots=True, eq=False)
class CompiledRequest:
    """A request compiled for the tree, with the states of its last evaluations."""

    resources: tuple[Resource, ...]
    constraint: Constraint | None
    stage: Stage | None
    whole: Bools | None
    """By position, vertices that are allocated whole when any part of them is used."""
    allowed: Bools | None = None
    """By position, whether the constraint allows the vertex; None without a constraint."""
    labels: int = -1
    """The engine's count of property changes from which `allowed` was computed."""
    now: States = field(default_factory=dict)
    """The states in the view of now, updated incrementally."""
    clock: int = -1
    """The ledger's clock when `now` was last updated; -1: never."""
    ever: States = field(default_factory=dict)
    """The states on the empty graph, which change only with the graph or its properties."""
    sums: dict[str, int] | None = None
    """Its minimum amounts, by tracked type."""
    contested: ContestedVertices | None = None
    """The vertices that it can reach by several paths; None if there are none."""
    tried: States = field(default_factory=dict)
    """The states of the last traversal, from which a failure is explained."""
    context: EvaluationContext | None = None
    """The context of the last traversal."""


class MatchEngine:
    """Matching on one subsystem's tree under one policy."""

    def __init__(
        self,
        graph: ResourceGraph,
        *,
        policy: MatchPolicy,
        subsystem: str,
        filters: str,
        flexible: bool = False,
        leaf_types: frozenset[str] = frozenset(),
    ) -> None:
        self.graph = graph
        self.policy = policy
        self.subsystem = subsystem
        self.flexible = flexible
        self.version = graph.version
        self.tree = graph.topology(subsystem)
        self.ledger = Ledger(graph, self.tree)
        self.groups = build_groups(graph, self.tree)
        self.labels = 0
        """Counts changes of properties."""
        self.types: NDArray[np.int32] = graph.type_id[self.tree.vertex]
        self.nodes: Ints = self._find_nodes()
        self._path_finder: PathFinder | None = None
        self._up: Bools | None = None
        self._node_count_up: int | None = None
        self.leaf_types = leaf_types | self._find_leaf_types()
        """The types that are at a leaf, or once were: the reference never drops one."""
        self.filters = parse_filters(filters, sorted(self.leaf_types, key=graph.types.get))
        self._root_types = self.filters.of(self.groups.type, graph.types)
        self.root_types = [graph.types.names[number] for number in self._root_types]
        """The types whose sums the root tracks over time."""
        self._is_tracked: Bools = np.array([n in self.filters.tracked for n in graph.types.names])
        self._profile = AggregateProfile(self._totals())
        self._uncounted: dict[int, tuple[HeldVertices, int, int]] = {}
        self._excluded = self._find_excluded()
        self._rescore()
        self._plans: OrderedDict[object, CompiledRequest] = OrderedDict()
        self._constraints: dict[Constraint, tuple[int, Bools]] = {}
        self._allowed_nodes = AllowedNodes(graph, self.tree)
        self.gangs = GangMatcher(self)
        self.what_if: dict[tuple[bool, bool], tuple[tuple[int, int], WhatIfView]] = {}
        """Views of what is not so, to find causes; see `match.causes`."""
        self.weights = EdgeWeights(graph, self.tree, self.filters) if policy.first else None

    # -- shape ---------------------------------------------------------------------------------

    def _find_nodes(self) -> Ints:
        """The positions of the nodes, each node once."""
        nodes = np.flatnonzero(self.types == self.graph.types.get("node"))
        paths = self.tree.paths
        return nodes if paths is None else nodes[paths.primary[nodes]]

    def _find_leaf_types(self) -> frozenset[str]:
        leaves = self.tree.first_child[1:] == self.tree.first_child[:-1]
        names = self.graph.types.names
        return frozenset(names[t] for t in np.unique(self.types[leaves]).tolist())

    def _totals(self) -> Ints:
        once = self.tree.once()
        types, sizes = self.types[once][1:], self.ledger.nominal[once][1:]
        sums = np.bincount(types, weights=sizes, minlength=len(self.graph.types))
        return sums.astype(np.int64)[self._root_types]

    def _find_excluded(self) -> Bools | None:
        excluded = unscorable(self.graph, self.tree, self.policy)
        return excluded if excluded.any() else None

    def _rescore(self) -> None:
        scores = score_tree(self.graph, self.tree, self.policy)
        pending = [self.groups]
        while pending:
            group = pending.pop()
            group.rescore(scores)
            pending.extend(group.below)

    def relabelled(self) -> None:
        """Properties changed: recompute constraints, and scores that depend on properties."""
        self.labels += 1
        self._allowed_nodes.relabelled()
        self.gangs.relabelled()
        if self.policy.scoring == "property":
            self._rescore()
            self._plans.clear()

    def inherit(self, old: MatchEngine) -> None:
        """Copy the edge weights of the engine for the graph's previous shape."""
        if self.weights is not None and old.weights is not None:
            self.weights.inherit(old.weights)

    def follow_status(self, position: int) -> None:
        """Update the ledger after the graph marked a vertex up or down, closed or open."""
        vertex = int(self.tree.vertex[position])
        self.ledger.mark(position, bool(self.graph.up[vertex] and not self.graph.closed[vertex]))
        self._up, self._node_count_up = None, None

    def reachable(self) -> Bools:
        """By position, whether a vertex and, on one path, all above it are up and not closed."""
        if self._up is None:
            up = ~propagate_down(self.tree, ~self.ledger.up)
            if self.tree.paths is not None:  # one path is enough
                up[self.tree.everywhere(np.flatnonzero(up))] = True
            self._up = up
        return self._up

    @property
    def node_count(self) -> int:
        return len(self.nodes)

    def nodes_up(self) -> int:
        """Number of nodes that are up, and so is all above them."""
        if self._node_count_up is None:
            self._node_count_up = int(np.count_nonzero(self.reachable()[self.nodes]))
        return self._node_count_up

    def nodes_closed(self) -> int:
        """Number of nodes that are closed, or below something closed, and not down."""
        down = propagate_down(self.tree, ~self.graph.up[self.tree.vertex])[self.nodes]
        return int(np.count_nonzero(~down & ~self.reachable()[self.nodes]))

    def nodes_allowed(self, plan: CompiledRequest, *, status: bool) -> int:
        """Number of nodes that a request's constraint allows; with `status`, only those up."""
        assert plan.allowed is not None  # noqa: S101 - called only for constrained requests
        allowed = plan.allowed[self.nodes]
        if status:
            allowed = allowed & self.reachable()[self.nodes]
        return int(np.count_nonzero(allowed))

    # -- matching ------------------------------------------------------------------------------

    def plan(
        self, resources: tuple[Resource, ...], constraint: Constraint | None
    ) -> CompiledRequest:
        """The request compiled for the tree, from the cache if possible."""
        key = (resources, constraint)
        plan = self._plans.get(key)
        if plan is None:
            whole_types = exclusive_types(resources)
            if self.policy.node_exclusive:
                whole_types |= {"node"}
            rules = CompileRules(whole_types, self.flexible)
            stage = compile_stages(self.groups, resources, rules)
            plan = CompiledRequest(resources, constraint, stage, self._of_types(whole_types))
            plan.contested = find_contested(self.tree, stage) if stage is not None else None
            self._plans[key] = plan
            if len(self._plans) > _MAX_PLANS:
                self._plans.popitem(last=False)
        else:
            self._plans.move_to_end(key)
        if constraint is not None and plan.labels != self.labels:
            plan.allowed = self.allowed(constraint)
            plan.labels = self.labels
            plan.now, plan.clock, plan.ever = {}, -1, {}
        return plan

    def _of_types(self, names: frozenset[str]) -> Bools | None:
        numbers = [self.graph.types.get(name) for name in sorted(names)]
        return np.isin(self.types, numbers) if numbers else None

    def plans(
        self, resources: tuple[Resource, ...], constraint: Constraint | None
    ) -> list[CompiledRequest]:
        """The plans of a request's variants: one, unless it has xor slots."""
        variants = split_xor_slots(resources) if self.flexible else [resources]
        return [self.plan(variant, constraint) for variant in variants]

    def select(self, plans: Iterable[CompiledRequest], view: LedgerView) -> HeldVertices | None:
        """The vertices for the first variant of a request that fits a view; None: none fits.

        Raises NothingHeld if it fits but would hold nothing exclusively.
        """
        for plan in plans:
            held = self._select(plan, view)
            if held is not None:
                return held
        return None

    def count_bundles(self, plan: CompiledRequest, slots: int, view: LedgerView) -> int:
        """How many times so many slots fit below one vertex, each time below any vertex.

        Exact where equal bundles alone use what a vertex has for slots.
        """
        if plan.stage is None:
            return 0
        context = EvaluationContext(view, plan.allowed, self._excluded, self.policy, self.flexible)
        states: States = {}
        if plan.contested is not None:
            states = plan.contested.settle(context)
        else:
            evaluate(plan.stage, states, context, None)
        reachable = self.reachable()
        found = 0
        for stage in plan.stage.all():
            state = states[id(stage)]
            if state.slots is not None:
                usable = state.ok & reachable[stage.group.members]
                found += int((state.slots[usable] // slots).sum())
        return found

    def sums(self, plan: CompiledRequest) -> dict[str, int]:
        """The minimum amounts of a plan's request, by tracked type."""
        if plan.sums is None:
            plan.sums = add_up(plan.resources, self.filters.tracked, flexible=self.flexible)
        return plan.sums

    def context(self, plan: CompiledRequest, view: LedgerView) -> EvaluationContext:
        """The context in which a plan's stages are evaluated for a view."""
        limit = WalkLimit(self.weights, self.policy.low) if self.weights is not None else None
        return EvaluationContext(
            view, plan.allowed, self._excluded, self.policy, self.flexible, limit
        )

    def _select(self, plan: CompiledRequest, view: LedgerView) -> HeldVertices | None:
        if plan.stage is None:
            return None
        context = self.context(plan, view)
        states = plan.tried = self._states(plan, context)
        plan.context = context
        walk = FirstFitWalk(self.weights, states) if self.weights is not None else None
        selection = Chooser(states, context, walk).choose(plan.stage, plan.resources)
        if selection is None:
            return None
        held = hold(self.tree, self.ledger.size, plan.whole, selection)
        if held is None:
            raise NothingHeld
        return held

    def _states(self, plan: CompiledRequest, context: EvaluationContext) -> States:
        assert plan.stage is not None  # noqa: S101 - called only for plans that may match
        if plan.contested is not None:
            if self.weights is None:
                return plan.contested.settle(context)
            return plan.contested.settle_walk(context, self.weights, plan.resources)
        if type(context.view) is WholeGraphView:
            if not plan.ever:
                evaluate(plan.stage, plan.ever, context, None)
            return plan.ever
        if type(context.view) is not LedgerView:
            states: States = {}
            evaluate(plan.stage, states, context, None)
            return states
        changed = self.ledger.changed_since(plan.clock) if plan.clock >= 0 else None
        if changed is None or len(changed):
            evaluate(plan.stage, plan.now, context, changed)
        plan.clock = self.ledger.clock
        return plan.now

    def allowed(self, constraint: Constraint) -> Bools:
        known = self._constraints.get(constraint)
        if known is None or known[0] != self.labels:
            if len(self._constraints) > _MAX_PLANS:
                self._constraints.clear()
            found = self._allowed_nodes.allowed(constraint)
            known = self._constraints[constraint] = (self.labels, found)
        return known[1]

    # -- recording -----------------------------------------------------------------------------

    def enter(
        self,
        jobid: int,
        held: HeldVertices,
        start: int,
        end: int,
        *,
        reserved: bool,
        now: int = 0,
        adopted: bool = False,
        moved: bool = False,
    ) -> None:
        """Record what a job holds, from now on or for a later span.

        `adopted`: another scheduler placed it. `moved`: the job was recorded before, and its
        holding or the graph's shape changed; the edge weights of its first record remain.
        """
        if not len(held.position):
            return
        holding = JobHolding(held.position, held.needs, held.exclusive, start, end, reserved)
        self.ledger.add(jobid, holding)
        self._uncounted[jobid] = (held, start, end)
        if self.weights is not None:
            self.weights.enter(jobid, held, start, end)
            if not moved:
                self.weights.weigh(held, None if adopted else now)

    @property
    def profile(self) -> AggregateProfile:
        """The amounts that the root has left over time; computed on demand."""
        for jobid, (held, start, end) in self._uncounted.items():
            counts = self._root_counts(held)
            if counts is not None:
                self._profile.add(jobid, start, end, counts)
        self._uncounted.clear()
        return self._profile

    def _root_counts(self, held: HeldVertices) -> Ints | None:
        """The amounts of a job in the sums that the root tracks; None if it has none of them."""
        below = held.position > 0
        types = self.types[held.position[below]]
        if not self._is_tracked[types].any():
            return None
        taken = np.where(held.exclusive, held.needs, 0)[below]
        sums = np.bincount(types, weights=taken, minlength=len(self.graph.types))
        return sums.astype(np.int64)[self._root_types]

    def leave(self, jobid: int) -> None:
        """Release what a job holds."""
        if self.ledger.drop(jobid) is None:
            return
        if self._uncounted.pop(jobid, None) is None:
            self._profile.drop(jobid)
        if self.weights is not None:
            self.weights.leave(jobid)

    def placement(self, held: HeldVertices, start: int, end: int, queue: str | None) -> Placement:
        """What a job holds, as rows of the graph in the order of output."""
        order = np.argsort(self.tree.post[held.position])
        position = held.position[order]
        parent = self.tree.parent[position]
        return Placement(
            vertex=self.tree.vertex[position],
            parent=np.where(parent < 0, -1, self.tree.vertex[parent]),
            depth=self.tree.depth[position],
            needs=held.needs[order],
            exclusive=held.exclusive[order],
            start=start,
            end=end,
            queue=queue,
            subsystem=self.subsystem,
            labels={int(self.tree.vertex[p]): label for p, label in held.labels.items()},
        )

    def held(self, placement: Placement) -> HeldVertices:
        """The reverse of `placement`: the vertices of it that are still in this tree."""
        mine = placement.exclusive
        return self.hold(placement.vertex[mine], placement.needs[mine], along=placement)

    def hold_adopted(self, selection: VertexSelection) -> HeldVertices | None:
        """What an adopted job holds: whole nodes under a node-exclusive policy."""
        whole = self._of_types(frozenset({"node"})) if self.policy.node_exclusive else None
        return hold(self.tree, self.ledger.size, whole, selection)

    def shown(self, position: Ints, usage: dict[int, dict[str, str]] | None) -> Placement:
        """Positions, children first, as the answer to a query."""
        parent = self.tree.parent[position]
        return Placement(
            vertex=self.tree.vertex[position],
            parent=np.where(parent < 0, -1, self.tree.vertex[parent]),
            depth=self.tree.depth[position],
            needs=self.ledger.nominal[position],
            exclusive=np.ones(len(position), np.bool_),
            subsystem=self.subsystem,
            usage=usage,
        )

    def joined(self, one: Placement, other: Placement) -> HeldVertices:
        """What a job holds that has all that two placements hold exclusively."""
        both = (one, other)
        position = [self.positions(each.vertex[each.exclusive], each) for each in both]
        needs = [each.needs[each.exclusive] for each in both]
        return self._hold_at(np.concatenate(position), np.concatenate(needs))

    def hold(self, vertices: Ints, needs: Ints, *, along: Placement | None = None) -> HeldVertices:
        """What a job holds that has these vertices exclusively; removed vertices are omitted.

        Where vertices have several parents, `along` has the path to each of them.
        """
        return self._hold_at(self.positions(vertices, along), needs)

    def _hold_at(self, position: Ints, needs: Ints) -> HeldVertices:
        there = position >= 0
        selection = VertexSelection(
            position[there], needs[there], np.ones(int(there.sum()), np.bool_)
        )
        held = hold(self.tree, self.ledger.size, None, selection)
        return held if held is not None else NOTHING

    def positions(self, vertices: Ints, along: Placement | None) -> Ints:
        """The positions of vertices, by the paths of a placement; -1: not in this tree."""
        if self.tree.paths is None or along is None or not len(along):
            return self.tree.position[vertices]
        if self._path_finder is None:
            self._path_finder = PathFinder(self.tree, self.tree.paths)
        located = self._path_finder.locate(along)
        order = np.argsort(along.vertex)
        return located[order[along.vertex[order].searchsorted(vertices)]]


class NothingHeld(Exception):  # noqa: N818 - a signal within this layer, not an error
    """A request matched, but nothing in it is exclusive, so its job would hold nothing."""


def exclusive_types(resources: Iterable[Resource]) -> frozenset[str]:
    """The types of which a request asks for exclusive vertices."""
    found: frozenset[str] = frozenset()
    for resource in resources:
        if resource.exclusive is True:
            found |= {resource.type}
        found |= exclusive_types(resource.children)
    return found
