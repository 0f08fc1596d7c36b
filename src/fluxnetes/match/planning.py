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
from fluxnetes.jobspec.model import SLOT, Count, Jobspec, Resource
from fluxnetes.match.candidate import Candidate
from fluxnetes.match.engine.closure import HeldVertices
from fluxnetes.match.engine.engine import MatchEngine, NothingHeld
from fluxnetes.match.gang.fixed_placement import gang_at
from fluxnetes.match.gang.model import Gang
from fluxnetes.match.jobs import MatchedJob
from fluxnetes.match.ledger.aggregates import add_up
from fluxnetes.match.ledger.ledger import JobHolding
from fluxnetes.match.ledger.views import LedgerView
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.nodes import NodeIndex
from fluxnetes.match.requests import InvalidRequest

_ONE = Count(1, 1)
_FEW = 16
"""Number of vertices up to which a Python loop is quicker than array operations."""


class Planning:
    """Searches and records on one matcher, in windows that the caller chooses."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.nodes = NodeIndex(matcher)
        self._amounts_below = lru_cache(maxsize=256)(self._count_below)
        self._last: tuple[HeldVertices, Placement] | None = None
        """The last allocation and its placement; consecutive jobs often have the same one."""

    @property
    def engine(self) -> MatchEngine:
        return self.matcher.engine

    # -- searches ------------------------------------------------------------------------------

    def judge(self, asked: Jobspec | Gang) -> Reason | None:
        """Why this graph can never satisfy a request; None if it can."""
        answer = self.matcher.satisfiable(asked)
        if not answer:
            return answer.reason
        try:
            found = self._find(asked, self.engine.ledger.everything())
        except NothingHeld:
            found = None
        if found is None:
            return Reason.of(Message.NOTHING_EXCLUSIVE)
        return None

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
            return Reason.from_text(str(invalid), ReasonCode.INVALID)
        if request.select(self.engine.ledger.now()) is not None:
            return None
        return request.why(ever=False)

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

        Where nodes are allocated whole, slots below a shared vertex are not.
        """
        engine = self.engine
        if isinstance(one, Gang) or not slots_below(one.resources[0]):
            return True
        return not engine.policy.node_exclusive and not engine.flexible

    def _most_units(self, one: Jobspec | Gang, view: LedgerView) -> int:
        """An upper bound for the number of units that fit."""
        found = self._find(one, view)
        if found is None:
            return 0
        held = found.held
        top = held.position[held.exclusive]
        # Each unit needs at least the same amount of the first type that it holds exclusively.
        type_ = self.engine.types[top[0]]
        same = self.engine.types == type_
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
        for number, name in enumerate(self.engine.graph.types.names):
            running = self._amounts_below(version, number)
            below = int((running[tree.end[roots]] - running[roots + 1]).sum())
            if below:
                amounts[name] = amounts.get(name, 0) + below

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
        sums = np.bincount(engine.types, weights=engine.ledger.nominal, minlength=len(names))
        return {names[t]: int(sums[t]) for t in np.flatnonzero(sums).tolist()}

    def held_beyond(self) -> dict[str, int]:
        """The amount of each type that is held now in excess of the total."""
        engine, ledger = self.engine, self.engine.ledger
        names = engine.graph.types.names
        over = np.maximum(ledger.held - ledger.nominal, 0)
        sums = np.bincount(engine.types, weights=over, minlength=len(names))
        return {names[t]: int(sums[t]) for t in np.flatnonzero(sums).tolist()}

    def is_overbooked(self, now: int) -> bool:
        """Whether at any time from now on more of a vertex is held and booked than is usable."""
        ledger = self.engine.ledger
        view = ledger.ever_since(now)
        return bool((view.held > ledger.size).any())

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
