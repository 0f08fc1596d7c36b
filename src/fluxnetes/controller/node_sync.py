"""The ground that jobs stand on: what happens to nodes, and to what others hold of them.

Nodes come, go, close, open, change size and labels; others' pods take room and leave it. The queue
hears of all of it before it decides anything else. Where that pulls the ground from under pods of
ours, what can be placed anew is placed anew at once, and what cannot goes back to the queue.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from fluxnetes.cluster.groups import GroupPart, HeldSeat, WorkloadGroup
from fluxnetes.cluster.node_graph import NodeChanges
from fluxnetes.cluster.pods.reader import PodReader
from fluxnetes.controller.actions.executor import Executor
from fluxnetes.controller.reconcile import Reconciler
from fluxnetes.controller.state import ControllerState
from fluxnetes.kube.objects.nodes import Node
from fluxnetes.queue.events import (
    GraphChanged,
    NodesClosed,
    NodesOpened,
    Occupied,
    Reseat,
)
from fluxnetes.queue.states import JobState

_log = logging.getLogger("fluxnetes.controller")


@dataclass(slots=True, eq=False)
class NodeSync:
    """Tells the queue about nodes and others."""

    shared: ControllerState
    reconciler: Reconciler
    executor: Executor
    reader: PodReader
    changed: bool = False
    """The graph has other vertices or properties than were last written down."""
    crowded: dict[str, float] = field(default_factory=dict)
    """Nodes on which others and we hold more than there is, and since when."""

    def follow(self, nodes: list[Node], gone: list[str]) -> None:
        """Nodes came, changed or went."""
        node_graph = self.shared.model.node_graph
        self.tell(node_graph.put(nodes))
        for node in nodes:
            self.shared.model.foreign.touch(node.metadata.name)
            self.shared.doubtful.add(node.metadata.name)
        gone = [name for name in gone if name in node_graph.node_graph]
        if gone:
            # What is on them may have to go to nodes that have just come.
            self.count_others()
            self.shared.tell(NodesClosed(tuple(gone)))
            for name in gone:
                self._clear_out(name)
            self.tell(node_graph.drop(gone))

    def tell(self, turn: NodeChanges) -> None:
        """The graph changed; the queue must hear of it before anything else."""
        if turn.relabelled:
            self.shared.matcher.engine.relabelled()
        if turn.reshaped or turn.relabelled:
            self.changed = True
            self.shared.tell(GraphChanged())
        if turn.closed:
            self.shared.tell(NodesClosed(tuple(sorted(turn.closed))))
        if turn.opened:
            self.shared.tell(NodesOpened(tuple(sorted(turn.opened))))

    def tell_of_reading(self) -> None:
        """What reading pods added to the graph."""
        turn = self.reader.take_turn()
        if turn:
            self.tell(turn)

    # -- nodes that are gone -------------------------------------------------------------------

    def _clear_out(self, node: str) -> None:
        for group, part, tasks in self._seats_on(node):
            lost = [task for task in tasks if task in part.bound]
            over = [task for task in lost if not self._unseat(group, part, part.pods[task])]
            moved = [task for task in tasks if task not in over]
            if moved and not self._reseat(group, part, moved):
                why = f"node {node} is gone, and there is no room elsewhere"
                self.reconciler.give_up(group, part, why)
            self._keep(part, lost, over)
            self.shared.lift(part, tasks)
            self.shared.model.dirty[group.key] = None

    def _unseat(self, group: WorkloadGroup, part: GroupPart, uid: str) -> bool:
        """A pod went with its node; or did not, and then it is there when the node comes again.
        Whether another will be made."""
        member = group.pods.get(uid)
        group.leave(uid)
        if member is not None:
            self.shared.model.account(member.pod)
        return member is not None and bool(member.owner)

    def _keep(self, part: GroupPart, lost: list[int], over: list[int]) -> None:
        """Keep seats for pods that will be made again, and for nobody those that are over."""
        for task in lost:
            patience = 0.0 if task in over else self.shared.settings.keep_seat
            part.kept[task] = HeldSeat(self.shared.clock + patience, ok=False)

    def _seats_on(self, node: str) -> list[tuple[WorkloadGroup, GroupPart, list[int]]]:
        by_job: dict[int, list[int]] = {}
        for job, task in sorted(self.shared.seats_on.get(node, ())):
            by_job.setdefault(job, []).append(task)
        return [(*self.shared.parts[job], tasks) for job, tasks in by_job.items()]

    def _reseat(self, group: WorkloadGroup, part: GroupPart, tasks: list[int]) -> bool:
        """Place some of a group's pods anew; False if there is no room."""
        if self.shared.state(part) not in (JobState.ALLOCATED, JobState.RUNNING) or part.returning:
            return True
        for task in tasks:
            if task in part.pods:
                self.executor.revoke(part.pods[task])
        if not self.shared.tell(Reseat(part.job, tuple(tasks))):
            return False
        self.shared.lift(part, tasks)
        part.progress = self.shared.clock
        self.shared.carry(group)
        return True

    def _give_up_seats(self, group: WorkloadGroup, part: GroupPart, tasks: list[int]) -> None:
        """The rest of a group that runs does so; whoever was to sit there asks anew."""
        for task in tasks:
            if task in part.pods:
                group.leave(part.pods[task])
        badly = frozenset(t for t in tasks if t in part.kept and not part.kept.pop(t).ok)
        self.shared.end_tasks(part, tasks, badly)
        self.shared.model.dirty[group.key] = None

    # -- others --------------------------------------------------------------------------------

    def count_others(self) -> list[str]:
        """What others hold changed on some nodes; returns which."""
        node_graph = self.shared.model.node_graph.node_graph
        sums = self.shared.model.foreign.take()
        known = {
            node: {type: n for type, n in held.items() if n and type in node_graph[node].pools}
            for node, held in sums.items()
            if node in node_graph
        }
        if known:
            self.shared.tell(Occupied(known))
        for node in known:
            self._look_for_crowd(node)
        return list(known)

    def look_again(self) -> None:
        """After groups were settled: seats became empty, perhaps, where nobody should go now."""
        for node in list(self.crowded):
            self._look_for_crowd(node)
        doubtful, self.shared.doubtful = self.shared.doubtful, set()
        for node in doubtful:
            why = self._why_not(node)
            if why:
                self._move_away(node, why)
                self._remember_binds(node)

    def _why_not(self, node: str) -> str:
        """In words, why no pod of ours should go to a node now; empty if all may that sit there."""
        machine, seats = (
            self.shared.model.node_graph.node_graph.get(node),
            self.shared.seats_on.get(node),
        )
        if machine is None or not seats:
            return ""
        if machine.closed:
            return f"node {node} was closed"
        graph = self.shared.matcher.graph
        rules = {self.shared.parts[job][1].footprints[task].rule for job, task in seats}
        if not all(graph.has_property(machine.vertex, rule) for rule in rules):
            return f"node {node} has other labels or taints now"
        return f"there is less room on node {node}" if self._over(node) else ""

    def _remember_binds(self, node: str) -> None:
        """Who is on the way there cannot be stopped; if that fails we must look again."""
        for job, task in self.shared.seats_on.get(node, ()):
            if self.executor.is_flying(self.shared.parts[job][1].pods.get(task, "")):
                self.shared.doubtful.add(node)

    def _look_for_crowd(self, node: str) -> None:
        """Others may have taken what we are about to take."""
        if not self._over(node):
            self.crowded.pop(node, None)
            return
        self._move_away(node, f"others took room on node {node}")
        self.crowded.setdefault(node, self.shared.clock)

    def _move_away(self, node: str, why: str) -> bool:
        """Place anew who is not bound there yet; False if there is nobody."""
        moved = False
        for group, part, tasks in self._seats_on(node):
            unbound = [task for task in tasks if self._can_move(part, task)]
            if unbound:
                moved = True
                if self._reseat(group, part, unbound):
                    continue
                if self.shared.state(part) is JobState.RUNNING:
                    self._give_up_seats(group, part, unbound)
                else:
                    self.reconciler.give_up(group, part, f"{why}, and there is no room elsewhere")
        return moved

    def _can_move(self, part: GroupPart, task: int) -> bool:
        return task not in part.bound and not self.executor.is_flying(part.pods.get(task, ""))

    def _over(self, node: str) -> set[str]:
        """The types of which more is held on a node than there is."""
        machine = self.shared.model.node_graph.node_graph.get(node)
        held = dict(self.shared.model.foreign.sums.get(node, {}))
        if machine is None or not self.shared.seats_on.get(node):
            return set()
        for job, task in self.shared.seats_on[node]:
            part = self.shared.parts[job][1]
            for type, amount in part.footprints[task].amounts:
                held[type] = held.get(type, 0) + amount
        return {type for type, amount in held.items() if amount > machine.sizes.get(type, 0)}

    def settle_crowds(self) -> None:
        """Where a collision lasts, whoever of ours came last makes way."""
        patience = self.shared.settings.collision
        for node, since in list(self.crowded.items()):
            # A bind that was under way when others came may have failed since.
            if self._over(node) and self._move_away(node, f"others took room on node {node}"):
                continue
            if self.shared.clock - since < patience:
                continue
            del self.crowded[node]
            if any(_is_real(type) for type in self._over(node)):
                self._make_way(node)

    def _make_way(self, node: str) -> None:
        seats = self._seats_on(node)
        group, part, _ = max(seats, key=lambda seat: seat[1].progress)
        _log.warning("node %s holds more than it has; %s makes way", node, group.key)
        self.reconciler.give_up(group, part, f"others took the room that it has on node {node}")


def _is_real(type: str) -> bool:
    """Whether kubelets count it. What only we count others do not know; they may be there."""
    return type != "tenancy" and not type.startswith("apart:")
