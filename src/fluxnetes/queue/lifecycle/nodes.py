"""Handles what happens to nodes, and what that means for jobs and promises.

Nodes are *lost*: jobs on them end. Nodes are *closed*: nothing new starts there, and jobs on them
continue. Foreign pods, which are no jobs of the queue, use more or less of nodes. And the graph
itself changes: nodes are added, removed for good, relabelled or resized.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.events import (
    GraphChanged,
    NodesBack,
    NodesClosed,
    NodesLost,
    NodesOpened,
    Occupied,
    PartsLost,
)
from fluxnetes.queue.jobs import OnLoss
from fluxnetes.queue.lifecycle.tasks import TaskHandlers
from fluxnetes.queue.lifecycle.transitions import Transitions
from fluxnetes.queue.states import EndCause, JobState

_NAMED = 5
"""Maximum nodes named in a reason, so that it stays readable."""


class NodeHandlers:
    """Handles the events of nodes."""

    def __init__(self, core: QueueCore, transitions: Transitions, tasks: TaskHandlers) -> None:
        self._core = core
        self._transitions = transitions
        self._tasks = tasks
        self._version = -1
        """The version of the graph for which jobs were last checked for lost resources."""
        self._moves = core.planning.engine.graph.moves
        """The moves of the graph that allocations follow."""

    def lost(self, event: NodesLost, now: int) -> None:
        core = self._core
        nodes = core.planning.nodes.named(event.nodes)
        core.planning.nodes.mark(nodes, up=False)
        lost = set(nodes.tolist())
        for job in list(core.records.holding.values()):
            mine = core.planning.nodes.of(core.allocations[job.id].placement)
            if job.state is not JobState.ENDING and not lost.isdisjoint(mine.tolist()):
                self._transitions.start_ending(
                    job, now, EndCause.LOST_NODES, Reason.of(Message.NODES_LOST_UNDER)
                )
        core.request_relayout(Reason.of(Message.NODES_LOST, nodes=_listed(event.nodes)), main=True)

    def parts_lost(self, event: PartsLost, now: int) -> None:
        jobs = [self._core.records.find(id) for id in event.jobs]
        for job in jobs:
            if job.state in (JobState.ALLOCATED, JobState.RUNNING):
                if event.fail:
                    job.submission = replace(job.submission, on_loss=OnLoss.FAIL)
                self._transitions.start_ending(job, now, EndCause.LOST_NODES, event.reason)

    def back(self, event: NodesBack, now: int) -> None:
        nodes = self._core.planning.nodes
        nodes.mark(nodes.named(event.nodes), up=True)
        self._core.request_relayout(Reason.of(Message.NODES_BACK))

    def closed(self, event: NodesClosed, now: int) -> None:
        nodes = self._core.planning.nodes
        if nodes.close(nodes.named(event.nodes), closed=True):
            self._core.request_relayout(
                Reason.of(Message.NODES_CLOSED, nodes=_listed(event.nodes)), main=True
            )

    def opened(self, event: NodesOpened, now: int) -> None:
        nodes = self._core.planning.nodes
        if nodes.close(nodes.named(event.nodes), closed=False):
            self._core.request_relayout(Reason.of(Message.NODES_OPENED))

    def occupied(self, event: Occupied, now: int) -> None:
        core = self._core
        shift = core.planning.nodes.occupy(event.nodes)
        if len(shift.more):
            core.resources_freed()
            core.foreign_usage_changed(Reason.of(Message.FOREIGN_LESS))
        if len(shift.less):
            names = core.planning.nodes.owning(shift.less)
            core.foreign_usage_changed(
                Reason.of(Message.FOREIGN_MORE, nodes=_listed(names)), main=True
            )

    def graph_changed(self, event: GraphChanged, now: int) -> None:
        core = self._core
        core.jobs_may_be_misplaced()
        core.estimates.clear()
        core.verdicts.graph_changed()
        core.planning.engine.relabelled()
        if self._version != core.planning.engine.version:
            self._version = core.planning.engine.version
            self._end_jobs_that_lost_resources(now, event.reason)
            self._follow_moves()
        core.request_relayout(event.reason, main=True)

    def _follow_moves(self) -> None:
        """Vertices that moved have other ancestors; jobs go on, and their allocations say so."""
        core = self._core
        moves = core.planning.engine.graph.moves
        if moves == self._moves:
            return
        self._moves = moves
        for id, allocation in list(core.allocations.items()):
            placement = core.planning.follow_moves(id, allocation.placement)
            if placement is not None:
                core.set_allocation(replace(allocation, placement=placement))

    def _end_jobs_that_lost_resources(self, now: int, reason: Reason) -> None:
        for job in list(self._core.records.holding.values()):
            if self._tasks.drop_vanished(job, now) and job.state is not JobState.ENDING:
                self._transitions.start_ending(job, now, EndCause.LOST_NODES, reason)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
