"""Selects the vertices of a job from all vertices that qualify.

At every level of a request the best k candidates are taken, in the policy's order, and the same is
done below each of them. Candidates for the request's top level come from the whole graph; below
that they are the direct children of what was chosen above.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.jobspec.model import SLOT, Resource
from fluxnetes.match.engine.closure import VertexSelection
from fluxnetes.match.engine.first_fit import FirstFitWalk, VisitedMembers
from fluxnetes.match.engine.flexible import take
from fluxnetes.match.engine.intervals import SlotScores, interval_of
from fluxnetes.match.engine.packing import pack
from fluxnetes.match.engine.scores import MATCH_MET
from fluxnetes.match.engine.slots import alternatives, first_is_best, mixtures, share_of
from fluxnetes.match.engine.stages import Stage, StageKind
from fluxnetes.match.engine.states import (
    EvaluationContext,
    QualifiedEntries,
    States,
    below_members,
    entries_of,
    fit,
    join,
    quantity_below,
)


@dataclass(frozen=True, slots=True)
class SlotFilling:
    """Slots filled below some members: one row for each vertex used."""

    parent: Ints
    """Index into the members that were passed in."""
    slot: Ints
    """The number of the slot among its parent's."""
    stage: Ints
    """Index of the vertex's stage in `stages`."""
    member: Ints
    needs: Ints
    score: Ints
    stages: list[Stage]
    places: Ints
    """The tie-breaker between equal slots of different members."""
    made: int
    """Total number of filled slots."""

    def slots(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The slot of each row; then the parent, the number and the score of each slot."""
        width = int(self.slot.max()) + 1 if len(self.slot) else 1
        which, row, of_row = np.unique(
            self.parent * width + self.slot, return_index=True, return_inverse=True
        )
        score = np.full(len(which), MATCH_MET, np.int64)
        np.add.at(score, of_row, self.score)
        return of_row, self.parent[row], self.slot[row], score


class Chooser:
    """The selection of one traversal."""

    def __init__(
        self,
        states: States,
        context: EvaluationContext,
        walk: FirstFitWalk | None = None,
    ) -> None:
        self.states = states
        self.context = context
        self.walk = walk
        self.limit = context.limiter
        self.policy = context.policy
        self.flexible = context.flexible
        self._positions: list[Ints] = []
        self._needs: list[Ints] = []
        self._exclusive: list[Bools] = []
        self._labels: dict[int, str] = {}
        self._scores_seen: Ints = np.empty(0, np.int64)
        self._met: dict[int, VisitedMembers] | None = None

    def choose(self, root: Stage, resources: tuple[Resource, ...]) -> VertexSelection | None:
        """The best vertices for a whole request; None if there are not enough."""
        self._met = self.walk.meet(root, resources) if self.walk is not None else None
        for wanted in resources:
            if self._is_alternative(wanted, resources):
                continue
            if not self._choose_top(root, wanted):
                return None
        return VertexSelection(
            np.concatenate(self._positions),
            np.concatenate(self._needs),
            np.concatenate(self._exclusive),
            self._labels,
        )

    def _is_alternative(self, wanted: Resource, siblings: tuple[Resource, ...]) -> bool:
        """Whether a slot is an alternative to a later sibling, whose count applies to all."""
        if not self.flexible or wanted.type != SLOT:
            return False
        return wanted is not [s for s in siblings if s.type == SLOT][-1]

    # -- the top level -------------------------------------------------------------------------

    def _candidates(self, root: Stage, type: str) -> list[tuple[Stage, Bools]]:
        """The stages whose members compete for the request's top level, and those members."""
        reached = list(self._reach(root, None, type))
        if self._met is None:
            return reached
        return [(stage, self._only_met(stage, ok)) for stage, ok in reached]

    def _only_met(self, stage: Stage, ok: Bools) -> Bools:
        assert self._met is not None  # noqa: S101 - called only after a walk
        only = np.zeros(len(ok), np.bool_)
        met = self._met.get(id(stage))
        if met is not None:
            only[met.members] = ok[met.members]
        return only

    def _turns(self, stage: Stage, members: Ints) -> Ints:
        """The tie-breaker between equals at the top level: depth-first order, or the walk's."""
        if self._met is None:
            return stage.group.members[members]
        turn = np.zeros(len(stage.group), np.int64)
        met = self._met.get(id(stage))
        if met is not None:
            turn[met.members] = met.turn
        found: Ints = turn[members]
        return found

    def _reach(self, stage: Stage, gate: Bools | None, type: str) -> Iterator[tuple[Stage, Bools]]:
        ok = self.states[id(stage)].ok
        if gate is not None:
            ok = ok & gate[stage.group.above]
        if stage.kind is StageKind.PASS:
            passed = None if ok.all() else ok
            for below in stage.below:
                yield from self._reach(below, passed, type)
        elif stage.request is None:
            if type == SLOT:
                yield stage, ok
        elif stage.request.type == type:
            yield stage, ok

    def _choose_top(self, root: Stage, wanted: Resource) -> bool:
        candidates = self._candidates(root, wanted.type)
        if wanted.type == SLOT:
            return self._choose_top_slots(candidates, wanted)
        total = sum(self._total(stage, ok) for stage, ok in candidates)
        count = wanted.count.fit(total)
        if count == 0:
            return False
        stages = [stage for stage, _ in candidates]
        leading = [self._leading(n, stage, ok, count) for n, (stage, ok) in enumerate(candidates)]
        entries = self._rank(stages, leading)
        self._take(stages, entries, np.array([count]))
        return True

    def _total(self, stage: Stage, ok: Bools) -> int:
        amount = self.states[id(stage)].amount
        if amount is None:
            return int(np.count_nonzero(ok)) * stage.group.size
        return int(amount[ok].sum())

    def _leading(self, number: int, stage: Stage, ok: Bools, count: int) -> QualifiedEntries:
        """As many of a stage's best members as could be needed."""
        if self.policy.scoring == "interval" or self.walk is not None:
            member = ok.nonzero()[0]
        else:
            ranking = stage.group.ranking(self.policy.low)
            member = ranking[ok[ranking]][:count]
        parent = np.zeros(len(member), np.int64)
        return entries_of(number, stage, self.states[id(stage)], member, parent)

    def _rank(self, stages: list[Stage], parts: list[QualifiedEntries]) -> QualifiedEntries:
        """All candidates from the most to the least preferred."""
        if len(parts) == 1 and self.policy.scoring != "interval" and self.walk is None:
            return parts[0]
        joined = join(parts)
        turns = [self._turns(s, p.member) for s, p in zip(stages, parts, strict=True)]
        return joined.take(np.lexsort((np.concatenate(turns), self._key(joined.score))))

    def _key(self, score: Ints) -> Ints:
        """The sort key: ascending order puts the most preferred first."""
        if self.policy.scoring != "interval":
            return score if self.policy.low else -score
        self._scores_seen = np.unique(np.concatenate((self._scores_seen, score)))
        return -interval_of(self._scores_seen, score)

    def _choose_top_slots(self, candidates: list[tuple[Stage, Bools]], wanted: Resource) -> bool:
        slots = []
        for stage, ok in candidates:
            made = self.states[id(stage)].slots
            assert made is not None  # noqa: S101 - every slot stage counts its slots
            if self.walk is not None and len(stage.slots) == 1:
                made = np.minimum(made, wanted.count.largest)
            slots.append(np.where(ok, made, 0))
        count = wanted.count.fit(int(sum(s.sum() for s in slots)))
        if count == 0:
            return False
        seen = self._slot_scores(candidates, slots)
        fillings = []
        for (stage, _), made in zip(candidates, slots, strict=True):
            members = self._leading_members(stage, made, count, seen)
            wanted_of_each = made[members]
            if first_is_best(stage, self.policy):
                wanted_of_each = np.minimum(wanted_of_each, count)
            fillings.append(self._fill(stage, members, wanted_of_each))
        self._take_best_slots(fillings, count)
        return True

    def _slot_scores(self, candidates: list[tuple[Stage, Bools]], slots: list[Ints]) -> Ints | None:
        """All scores of the slots of all candidates, where the policy prefers slots by interval.

        None: they are not kept, or some slots are unreachable, so that the intervals differ.
        """
        found = [self._scores_seen]
        for (stage, _), made in zip(candidates, slots, strict=True):
            state = self.states[id(stage)]
            if state.scores is None or state.slots is None:
                return None
            if int(made.sum()) != int(state.slots.sum()):
                return None
            found.append(state.scores.seen())
        several = sum(map(len, found)) > len(found[-1])
        return np.unique(np.concatenate(found)) if several else found[-1]

    def _leading_members(
        self, stage: Stage, slots: Ints, count: int, seen: Ints | None = None
    ) -> Ints:
        """Members among whose slots the best `count` of all must be.

        If a member's best slot is not among the best `count` first slots, none of its slots is
        among the best `count` slots.
        """
        members = np.flatnonzero(slots)
        state = self.states[id(stage)]
        if state.scores is not None:
            return self._leaders_by_interval(state.scores, members, count, seen)
        best = state.best
        if best is None or len(members) <= count:
            return members
        key = best[members] if self.policy.low else -best[members]
        if count == 1:
            first = int(np.argmin(key))
            return members[first : first + 1]
        worst = np.partition(key, count - 1)[count - 1]
        better = key < worst
        ties = np.flatnonzero(key == worst)[: count - int(np.count_nonzero(better))]
        better[ties] = True
        leading: Ints = members[better]
        return leading

    def _leaders_by_interval(
        self, scores: SlotScores, members: Ints, count: int, seen: Ints | None
    ) -> Ints:
        """The same where the policy prefers slots by the interval of their scores: those of all
        stages together, since slots of one stage may be between those of another."""
        leaders = scores.leaders(count, seen) if len(members) and seen is not None else None
        if leaders is None or seen is None:
            return members
        self._scores_seen = seen
        return leaders

    def _take_best_slots(self, fillings: list[SlotFilling], count: int) -> None:
        if sum(filling.made for filling in fillings) <= count:
            for filling in fillings:
                self._take_filling(filling, None)
            return
        slots = [filling.slots() for filling in fillings]
        place = np.concatenate([f.places[s[1]] for f, s in zip(fillings, slots, strict=True)])
        number, score = (np.concatenate([s[i] for s in slots]) for i in (2, 3))
        best = np.lexsort((number, place, self._key(score)))[:count]
        chosen = np.zeros(len(score), np.bool_)
        chosen[best] = True
        offset = 0
        for filling, (of_row, parent, _, _) in zip(fillings, slots, strict=True):
            self._take_filling(filling, chosen[offset + of_row])
            offset += len(parent)

    # -- below what was chosen -----------------------------------------------------------------

    def _descend(self, stage: Stage, members: Ints, needs: Ints) -> None:
        """Take members of a stage, and below each what the request has below it."""
        group = stage.group
        self._positions.append(group.members[members])
        self._needs.append(needs)
        self._exclusive.append(np.full(len(members), stage.exclusive or group.divisible))
        if stage.request is not None and stage.request.label:
            self._labels.update(dict.fromkeys(group.members[members].tolist(), stage.request.label))
        asked = stage.request.children if stage.request is not None else ()
        for wanted in asked:
            if self._is_alternative(wanted, asked):
                continue
            if wanted.type == SLOT:
                self._choose_slots(stage, members, wanted)
            else:
                self._choose_below(stage, members, wanted)

    def _choose_below(self, stage: Stage, members: Ints, wanted: Resource) -> None:
        serving = stage.serving(wanted.type)
        count = fit(wanted.count, quantity_below(stage, self.states, members, wanted.type))
        entries = below_members(serving, self.states, members, self.policy.low)
        if self.limit is not None:
            met = self.limit.enough(entries, wanted.count.largest)
            entries = replace(met, divisible=entries.divisible)
        self._take(serving, entries, count)

    def _take(self, stages: list[Stage], entries: QualifiedEntries, count: Ints) -> None:
        """Take each parent's entries, in order, until its count is reached."""
        sums = np.cumsum(entries.amount) - entries.amount
        firsts = entries.parent.searchsorted(entries.parent)
        before = sums - sums[firsts]
        left = count[entries.parent] - before
        taken = left > 0
        needs = np.minimum(entries.amount, left) if entries.divisible else entries.amount
        for number, stage in enumerate(stages):
            mine = taken & (entries.stage == number)
            if mine.any():
                self._descend(stage, entries.member[mine], needs[mine])

    def _choose_slots(self, stage: Stage, members: Ints, wanted: Resource) -> None:
        made = self.states[id(stage)].slots
        assert made is not None  # noqa: S101 - every slot stage counts its slots
        count = fit(wanted.count, made[members])
        if first_is_best(stage, self.policy):
            filling = self._fill(stage, members, count)
            self._take_filling(filling, None)
            return
        filling = self._fill(stage, members, made[members])
        of_row, parent, number, score = filling.slots()
        order = np.lexsort((number, score if self.policy.low else -score, parent))
        ordinal = np.empty(len(order), np.int64)
        ordinal[order] = np.arange(len(order)) - np.searchsorted(parent[order], parent[order])
        self._take_filling(filling, (ordinal < count[parent])[of_row])

    def _fill(self, stage: Stage, members: Ints, slots: Ints) -> SlotFilling:
        """Fill `slots[i]` slots below member i."""
        if self.flexible:
            return self._fill_mixtures(stage, members, slots)
        stages: list[Stage] = []
        columns: list[tuple[Ints, ...]] = []
        for part in stage.slots[0].children:
            serving = stage.serving(part.type)
            if part.count.min == part.count.max:
                share = np.full(len(members), part.count.min, np.int64)  # there are slots: enough
            else:
                share = share_of(stage, self.states, members, part)
            if self.limit is None:
                entries = below_members(serving, self.states, members, self.policy.slots_low)
            else:
                most, shares = part.count.largest, stage.slots[0].count.largest
                entries = self.limit.below(serving, self.states, members, most, shares)
            rows, number, needs = pack(entries, share, slots)
            stage_number = entries.stage[rows] + len(stages)
            columns.append(
                (
                    entries.parent[rows],
                    number,
                    stage_number,
                    entries.member[rows],
                    needs,
                    entries.score[rows],
                )
            )
            stages.extend(serving)
        parent, slot, at, member, needed, score = (
            np.concatenate(column) for column in zip(*columns, strict=True)
        )
        places = self._turns(stage, members)
        made = int(slots.sum())
        return SlotFilling(parent, slot, at, member, needed, score, stages, places, made)

    def _fill_mixtures(self, stage: Stage, members: Ints, slots: Ints) -> SlotFilling:
        """The same where slots have alternatives: slot by slot."""
        stages: list[Stage] = []
        supply: dict[tuple[int, str], list[tuple[int, int, int, int, bool]]] = {}
        for type, serving, entries in alternatives(stage, self.states, self.context, members):
            rows = zip(
                entries.parent.tolist(),
                (entries.stage + len(stages)).tolist(),
                entries.member.tolist(),
                entries.score.tolist(),
                entries.amount.tolist(),
                strict=True,
            )
            for parent, at, member, score, amount in rows:
                row = (at, member, score, amount, entries.divisible)
                supply.setdefault((parent, type), []).append(row)
            stages.extend(serving)
        units = {key: sum(row[3] for row in rows) for key, rows in supply.items()}
        filled: list[tuple[int, ...]] = []
        found = mixtures(stage, self.states, self.context, members)
        for parent, mixture in enumerate(found):
            for number, way in enumerate(mixture[: int(slots[parent])]):
                for part in stage.slots[way].children:
                    rows_left = supply[parent, part.type]
                    needed = part.count.fit(units[parent, part.type])
                    for at_row, taken in take([r[3] for r in rows_left], needed, rows_left[0][4]):
                        at, member, score, amount, pool = rows_left[at_row]
                        rows_left[at_row] = (at, member, score, amount - taken, pool)
                        filled.append((parent, number, at, member, taken, score))
                    supply[parent, part.type] = [r for r in rows_left if r[3] > 0]
        parents, slot, at_stage, of, needs, scores = np.array(filled, np.int64).reshape(-1, 6).T
        places = self._turns(stage, members)
        made = int(slots.sum())
        return SlotFilling(parents, slot, at_stage, of, needs, scores, stages, places, made)

    def _take_filling(self, filling: SlotFilling, chosen: Bools | None) -> None:
        """Take the rows of chosen slots; None: of all."""
        for number, stage in enumerate(filling.stages):
            mine = filling.stage == number
            if chosen is not None:
                mine &= chosen
            if mine.any():
                self._descend(stage, filling.member[mine], filling.needs[mine])
