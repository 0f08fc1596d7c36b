"""The matcher's interface for a queue: candidates in any window, bookings, and records.

The matcher's own operations decide and record in one step. A queue decides more slowly: it tries
many windows, books capacity for jobs that start later (*bookings*), moves bookings, and cancels
them. Here it can search without recording, and record what it found.

A booking blocks its vertices for its span in every search, as a reservation does. It is identified
by a key that the caller chooses and that is not the number of a job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.common.reasons import Message, Reason, ReasonCode
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.topology import ragged
from fluxnetes.jobspec.model import SLOT, XOR_SLOT, Count, Jobspec, Resource
from fluxnetes.match.candidate import Candidate
from fluxnetes.match.causes import with_causes
from fluxnetes.match.engine.closure import HeldVertices, propagate_down
from fluxnetes.match.engine.engine import MatchEngine, NothingHeld
from fluxnetes.match.gang.fixed_placement import gang_at
from fluxnetes.match.gang.model import Gang
from fluxnetes.match.jobs import MatchedJob
from fluxnetes.match.ledger.aggregates import add_up
from fluxnetes.match.ledger.ledger import JobHolding
from fluxnetes.match.ledger.views import LedgerView
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.nodes import NodeIndex
from fluxnetes.match.requests import InvalidRequest, UnknownType

_ONE = Count(1, 1)
_FEW = 16
"""Number of vertices up to which a Python loop is quicker than array operations."""


class Planning:
    """Searches and records on one matcher, in windows that the caller chooses."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.nodes = NodeIndex(matcher)
        self._sizes = lru_cache(maxsize=1)(self._find_sizes)
        self._amounts_below = lru_cache(maxsize=256)(self._count_below)
        self._last: tuple[HeldVertices, Placement] | None = None
        """The last allocation and its placement; consecutive jobs often have the same one."""

    @property
    def engine(self) -> MatchEngine:
        return self.matcher.engine

    # -- searches ------------------------------------------------------------------------------

    def judge(self, asked: Jobspec | Gang) -> Reason | None:
        """Why a request cannot be satisfied, even if all of the graph were up and idle; None if it
        can.

        The code is Invalid if the request makes no sense, and Unsatisfiable if another graph could
        serve it, such as one with a type that this one does not have.
        """
        try:
            request = self.matcher.request(asked)
        except UnknownType as unknown:
            return Reason.of(Message.NO_SUCH_TYPE, type=unknown.type)
        except InvalidRequest as invalid:
            return invalid.reason
        try:
            if request.select(self.engine.ledger.everything()) is not None:
                return None
        except NothingHeld:
            return Reason.of(Message.NOTHING_EXCLUSIVE)
        reason = request.why(ever=True)
        assert reason is not None  # noqa: S101 - the attempt failed
        is_invalid = reason.message.code is ReasonCode.INVALID
        return reason.coded(ReasonCode.INVALID if is_invalid else ReasonCode.UNSATISFIABLE)

    def is_too_large(self, asked: Jobspec | Gang) -> bool:
        """Whether a request needs more of a type than there is: in all, or for a pod on one node.

        True is certain, and quick.
        """
        totals, largest = self._sizes(self.engine.version)
        if isinstance(asked, Gang):
            for shape in asked.shapes:
                if any(amount > largest.get(type, 0) for type, amount in shape.amounts):
                    return True
        return any(
            amount > totals.get(type, 0) and type not in (SLOT, XOR_SLOT)
            for type, amount in self.least(asked).items()
        )

    def _find_sizes(self, version: int) -> tuple[dict[str, int], dict[str, int]]:
        """The total of each type, and its largest pool."""
        engine, names = self.engine, self.engine.graph.types.names
        largest = np.zeros(len(names), np.int64)
        np.maximum.at(largest, engine.types, engine.ledger.nominal)
        return self.totals(), dict(zip(names, largest.tolist(), strict=True))

    def find_now(self, asked: Jobspec | Gang, now: int, until: int) -> Candidate | None:
        """A candidate from now on, bookings respected."""
        return self._find(asked, self.engine.ledger.during(now, until))

    def find_now_if_nothing_were_booked(self, asked: Jobspec | Gang) -> Candidate | None:
        """A candidate at this moment, bookings for later ignored."""
        return self._find(asked, self.engine.ledger.now())

    def find_later(self, asked: Jobspec | Gang, start: int, until: int) -> Candidate | None:
        """A candidate in a window after now, bookings respected."""
        return self._find(asked, self.engine.ledger.later(start, until))

    def find_on_everything(self, asked: Jobspec | Gang) -> Candidate | None:
        """A candidate on the whole graph, as if all were up and idle."""
        return self._find(asked, self.engine.ledger.everything())

    def found_at(self, asked: Jobspec | Gang, nodes: Sequence[str]) -> Candidate | Reason:
        """A gang on the named nodes, one per pod; or the reason why that is impossible."""
        if not isinstance(asked, Gang):
            return Reason.of(Message.GANGS_ONLY)
        return gang_at(self.engine, self.nodes, asked.tidied(), nodes)

    def is_free(self, found: Candidate, now: int, start: int, until: int) -> bool:
        """Whether an earlier candidate is still free through a window, bookings respected."""
        engine, held = self.engine, found.held
        if found.version != engine.version:
            return False
        ledger = engine.ledger
        view = ledger.during(start, until) if start <= now else ledger.later(start, until)
        depth = engine.tree.depth[held.position]
        is_inner = engine.tree.end[held.position] - held.position > 1
        for level in np.unique(depth).tolist():
            here = depth == level
            position, mine = held.position[here], held.exclusive[here]
            fits = view.is_open(position, level)
            fits &= ~mine | (view.free(position, level) >= held.needs[here])
            fits &= ~(mine & is_inner[here]) | view.is_alone(position, level)
            if not fits.all():
                return False
        return True

    def why_not_now(self, asked: Jobspec | Gang) -> Reason | None:
        """Why it does not fit at this moment; None if it does."""
        try:
            request = self.matcher.request(asked)
        except InvalidRequest as invalid:  # the last vertices of a type were removed since
            return invalid.reason
        if request.select(self.engine.ledger.now()) is not None:
            return None
        reason = request.why(ever=False)
        return None if reason is None else with_causes(self.engine, request, reason)

    def capacity(self, one: Jobspec | Gang) -> int:
        """The number of times that a request for one unit fits on all that is up, if idle.

        The units must be independent of each other, such as slots, or pods of one shape.
        """
        if isinstance(one, Gang) and not one.shared and len(one.shapes) == 1:
            return self.engine.gangs.count(one.tidied().shapes[0], self.engine.ledger.idle())
        view = self.engine.ledger.idle()
        if isinstance(one, Jobspec) and (slots := slots_below(one.resources[0])):
            plan = self.engine.plan(one.resources, one.constraint)
            return self.engine.count_bundles(plan, slots, view)
        low, high = 0, self._most_units(one, view)
        middle = high  # most often the bound itself is the answer
        while low < high:
            if self._find(times(one, middle), view) is not None:
                low = middle
            else:
                high = middle - 1
            middle = (low + high + 1) // 2
        return low

    def can_count(self, one: Jobspec | Gang) -> bool:
        """Whether units of a request are independent of each other, so that `capacity` is exact.

        Where nodes are allocated whole, slots below a shared vertex are not, and neither are parts
        of nodes: of one job several are on one node, of two jobs none. Nor are pods that have to be
        close together or apart.
        """
        engine = self.engine
        if not engine.tree.is_tree:
            return False  # what two vertices share is there once
        if isinstance(one, Gang):
            return one.topology is None or not one.topology.is_binding
        if slots_below(one.resources[0]):
            return not engine.policy.node_exclusive and not engine.flexible
        return not (engine.policy.node_exclusive and self._is_inside_nodes(one.resources[0]))

    def _is_inside_nodes(self, top: Resource) -> bool:
        """Whether a part of a request, or of its slot, may be a part of a node."""
        engine = self.engine
        is_node = np.zeros(len(engine.tree), np.bool_)
        is_node[engine.nodes] = True
        inside = propagate_down(engine.tree, is_node) & ~is_node
        parts = top.children if top.type == SLOT else (top,)
        wanted = [engine.graph.types.get(part.type) for part in parts]
        return bool(np.isin(engine.types[inside], wanted).any())

    def _most_units(self, one: Jobspec | Gang, view: LedgerView) -> int:
        """An upper bound for the number of units that fit."""
        found = self._find(one, view)
        if found is None:
            return 0
        held = found.held
        top = int(held.position[held.exclusive][0])
        same = self.engine.types == self.engine.types[top]
        if not self.engine.graph.divisible[self.engine.tree.vertex[top]]:
            return int(np.count_nonzero(view.size[same]))  # each unit takes at least a whole one
        # Each unit needs at least the same amount of the first type that it holds exclusively.
        return int(view.size[same].sum()) // max(1, int(held.needs[held.exclusive][0]))

    def _find(self, asked: Jobspec | Gang, view: LedgerView) -> Candidate | None:
        try:
            request = self.matcher.request(asked)
        except InvalidRequest:  # a type that the graph had when the request was first tried
            return None
        held = request.select(view)
        return None if held is None else Candidate(held, request.seats, self.engine.version)

    # -- amounts -------------------------------------------------------------------------------

    def amounts(self, found: Candidate) -> dict[str, int]:
        """The amount of each type that a job holds, whole vertices with all below them."""
        held = found.held
        mine = held.position[held.exclusive]
        needs = held.needs[held.exclusive]
        tree = self.engine.tree
        if len(mine) <= _FEW and (tree.end[mine] == mine + 1).all():
            return self._few_amounts(mine.tolist(), needs.tolist())
        # What is below a vertex that is held whole is counted with it.
        reach = np.maximum.accumulate(np.concatenate(([0], tree.end[mine])))[:-1]
        outermost = mine >= reach
        mine, needs = mine[outermost], needs[outermost]
        types = self.engine.types
        names = self.engine.graph.types.names
        sums = np.bincount(types[mine], weights=needs, minlength=len(names))
        whole = tree.end[mine] - mine > 1
        amounts = {names[t]: int(sums[t]) for t in np.flatnonzero(sums).tolist()}
        if whole.any():
            self._add_below(amounts, mine[whole])
        return amounts

    def _few_amounts(self, mine: list[int], needs: list[int]) -> dict[str, int]:
        """The same for a few leaves, such as the pools of one pod."""
        engine = self.engine
        names = engine.graph.types.names
        amounts: dict[str, int] = {}
        for position, amount in zip(mine, needs, strict=True):
            if amount:
                name = names[engine.types[position]]
                amounts[name] = amounts.get(name, 0) + amount
        return amounts

    def _add_below(self, amounts: dict[str, int], roots: Ints) -> None:
        tree, version = self.engine.tree, self.engine.version
        if not tree.is_tree:
            self._add_each_once(amounts, roots)
            return
        for number, name in enumerate(self.engine.graph.types.names):
            running = self._amounts_below(version, number)
            below = int((running[tree.end[roots]] - running[roots + 1]).sum())
            if below:
                amounts[name] = amounts.get(name, 0) + below

    def _add_each_once(self, amounts: dict[str, int], roots: Ints) -> None:
        """The same where several vertices may share what is below them."""
        engine, tree = self.engine, self.engine.tree
        vertices = np.unique(tree.vertex[ragged(roots + 1, tree.end[roots] - roots - 1)])
        inside = tree.position[vertices]
        sums = np.bincount(engine.types[inside], weights=engine.ledger.nominal[inside])
        for number in np.flatnonzero(sums).tolist():
            name = engine.graph.types.names[number]
            amounts[name] = amounts.get(name, 0) + int(sums[number])

    def _count_below(self, version: int, type_number: int) -> Ints:
        """The running total of one type's sizes along the tree."""
        sizes = np.where(self.engine.types == type_number, self.engine.ledger.nominal, 0)
        return np.concatenate(([0], np.cumsum(sizes)))

    def least(self, asked: Jobspec | Gang) -> dict[str, int]:
        """The minimum amount of each type that a request needs, wherever it is placed."""
        if isinstance(asked, Gang):
            return asked.needs()
        every = frozenset(self.engine.graph.types.names)
        return add_up(asked.resources, every, flexible=self.engine.flexible)

    def totals(self) -> dict[str, int]:
        """The total amount of each type, up or down."""
        engine = self.engine
        names = engine.graph.types.names
        once = engine.tree.once()
        types, sizes = engine.types[once], engine.ledger.nominal[once]
        sums = np.bincount(types, weights=sizes, minlength=len(names))
        return {names[t]: int(sums[t]) for t in np.flatnonzero(sums).tolist()}

    def held_beyond(self) -> dict[str, int]:
        """The amount of each type that is held now in excess of the total."""
        engine, ledger = self.engine, self.engine.ledger
        names = engine.graph.types.names
        once = engine.tree.once()
        over = np.maximum(ledger.held - ledger.nominal, 0)[once]
        sums = np.bincount(engine.types[once], weights=over, minlength=len(names))
        return {names[t]: int(sums[t]) for t in np.flatnonzero(sums).tolist()}

    def is_overbooked(self, now: int) -> bool:
        """Whether at any time from now on more of a vertex is held and booked than is usable."""
        ledger = self.engine.ledger
        view = ledger.ever_since(now)
        return bool((view.held > ledger.size).any())

    def neighbours(self, level: str, nodes: Iterable[str]) -> list[str]:
        """The names of all nodes in the domains of a level that some nodes are in."""
        return self.engine.gangs.neighbours(level, nodes)

    def loose_pools(self, type: str) -> list[int]:
        """The sizes of the reachable pools of a type that are in no node."""
        return self.engine.gangs.loose_pools(type)

    # -- records -------------------------------------------------------------------------------

    def allocate(self, jobid: int, found: Candidate, now: int, until: int) -> Placement:
        """Allocate a candidate to a job, from now on."""
        placement = self._placement(found.held, now, until)
        self.matcher.jobs[jobid] = MatchedJob(jobid, now, until, False, placement)
        self.engine.enter(jobid, found.held, now, until, reserved=False, now=now)
        return placement

    def _placement(self, held: HeldVertices, now: int, until: int) -> Placement:
        if self._last is not None and self._last[0] is held:
            placement = self._last[1]
            if (placement.start, placement.end) == (now, until):
                return placement
        placement = self.engine.placement(held, now, until, None)
        self._last = (held, placement)
        return placement

    def readmit(self, jobid: int, placement: Placement) -> None:
        """Restore a job's allocation from before a restart."""
        self.matcher.readmit(MatchedJob(jobid, placement.start, placement.end, False, placement))

    def follow_moves(self, jobid: int, placement: Placement) -> Placement | None:
        """A job's placement below the ancestors that its vertices have now; None: it is as it was.

        To be called when vertices have moved, for placements that the caller keeps.
        """
        engine = self.engine
        held = engine.held(placement)
        found = engine.placement(held, placement.start, placement.end, placement.queue)
        if np.array_equal(found.vertex, placement.vertex) and np.array_equal(
            found.parent, placement.parent
        ):
            return None
        found = replace(found, labels=placement.labels)
        self.matcher.jobs[jobid].placement = found
        return found

    def prolong(self, jobid: int, until: int) -> None:
        """Change the end of a job's allocation, to a later or an earlier time."""
        job = self.matcher.jobs[jobid]
        job.end = until
        job.placement = replace(job.placement, end=until)
        self._enter_again(job)

    def reduce(self, jobid: int, placement: Placement) -> Candidate:
        """Reduce a job's allocation to this placement; returns that on the tree."""
        job = self.matcher.jobs[jobid]
        job.placement = placement
        return self._enter_again(job)

    def _enter_again(self, job: MatchedJob) -> Candidate:
        engine = self.engine
        held = engine.held(job.placement)
        engine.leave(job.jobid)
        engine.enter(job.jobid, held, job.at, job.end, reserved=False, moved=True)
        return Candidate(held)

    def free(self, jobid: int) -> None:
        """Release all that a job holds, and delete its record."""
        if jobid in self.matcher.jobs:
            self.engine.leave(jobid)
            del self.matcher.jobs[jobid]

    def book(self, key: int, found: Candidate, start: int, until: int) -> None:
        held = found.held
        holding = JobHolding(held.position, held.needs, held.exclusive, start, until, True)
        self.engine.ledger.add(key, holding)

    def unbook(self, key: int) -> None:
        self.engine.ledger.drop(key)

    @contextmanager
    def absent(self, jobs: Iterable[int]) -> Iterator[None]:
        """Search as if some jobs held nothing, inside the `with` block."""
        ledger = self.engine.ledger
        gone = {job: holding for job in jobs if (holding := ledger.drop(job)) is not None}
        try:
            yield
        finally:
            for job, holding in gone.items():
                ledger.add(job, holding)


def slots_below(resource: Resource) -> int:
    """The slots that a request takes below one vertex that it shares; 0 if it is not of that form.

    In `rack: 1 > node: 1 > slot: 2 > core`, the rack and the node only say that both slots are on
    one node; other jobs may use the rest of it. So what counts is how many times two slots fit on
    each node.
    """
    if resource.type == SLOT:
        return 0
    while resource.type != SLOT:
        if resource.exclusive is True or resource.count != _ONE or len(resource.children) != 1:
            return 0
        resource = resource.children[0]
    return resource.count.min


def times(one: Jobspec | Gang, count: int) -> Jobspec | Gang:
    """The same request for `count` units, whatever number of units it has."""
    if isinstance(one, Gang):
        return replace(one, shapes=(replace(one.shapes[0], count=count), *one.shapes[1:]))
    top = replace(one.resources[0], count=Count(count, count))
    return replace(one, resources=(top, *one.resources[1:]))


__all__ = ["Candidate", "InvalidRequest", "Planning", "slots_below", "times"]
