"""Keeps the queue in step with the nodes, and resolves conflicts over their capacity.

Nodes come, go, close, open, and change size and labels; foreign pods take capacity and free it. The
queue is informed of all of it before it decides anything else. Where pods of ours lose the node
they were placed on, the queue places them again at once; where it cannot, their part is returned to
the queue.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from fluxnetes.cluster.demand import least_size
from fluxnetes.cluster.groups import WorkloadGroup
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.common.reasons import Message, Reason
from fluxnetes.controller.actions.queue import ActionQueue
from fluxnetes.controller.crowding import CrowdedNodes
from fluxnetes.controller.finish import end_tasks
from fluxnetes.controller.reconcile import Reconciler
from fluxnetes.controller.state import ControllerState
from fluxnetes.kube.objects.nodes import Node
from fluxnetes.queue.events import NodesClosed, Occupied, Reseat
from fluxnetes.queue.states import JobState

_log = logging.getLogger("fluxnetes.controller")


@dataclass(slots=True, eq=False)
class NodeSync:
    """Informs the queue about nodes and foreign usage."""

    shared: ControllerState
    reconciler: Reconciler
    actions: ActionQueue
    crowding: CrowdedNodes = field(init=False)
    _overcommitted: dict[str, float] = field(init=False, default_factory=dict)
    """Nodes on which foreign pods and ours hold more than there is, and since when."""

    def __post_init__(self) -> None:
        self.crowding = CrowdedNodes(self.shared)

    def nodes_changed(self, nodes: list[Node], gone: list[str]) -> None:
        """Nodes are new or changed, and the nodes of some names are gone."""
        node_graph = self.shared.model.node_graph
        changes = node_graph.put(nodes)
        self.crowding.pools_changed(changes)
        self.shared.send_node_changes(changes)
        for node in nodes:
            self.shared.model.foreign.touch(node.metadata.name)
            self.shared.recheck_node(node.metadata.name)
        gone = [name for name in gone if name in node_graph.nodes]
        if gone:
            # Tasks on those nodes may have to move to nodes that are new, so count those first.
            self.count_foreign_usage()
            self.shared.send(NodesClosed(tuple(gone)))
            for name in gone:
                self._clear_out(name)
            self.shared.send_node_changes(node_graph.drop(gone))

    # -- nodes that are gone -------------------------------------------------------------------

    def _clear_out(self, node: str) -> None:
        """Have the tasks on a node that is gone placed again, or end them."""
        for group, part, tasks in self.shared.seats_by_part(node):
            lost = [task for task in tasks if task in part.bound]
            ended = [task for task in lost if not self._lose_pod(group, part.pods[task])]
            moved = [task for task in tasks if task not in ended]
            if moved and not self._reseat(group, part, moved):
                if _can_spare(group, part, moved):
                    self._end_seats(group, part, moved)
                    continue
                gone = Reason.of(Message.NODE_GONE, node=node)
                why = Reason.of(Message.NO_OTHER_NODE, reason=gone).coded(gone.code)
                self.reconciler.give_up(group, part, why)
            self._hold_seats(part, lost, ended)
            self.shared.leave_nodes(part, tasks)
            self.shared.model.mark_dirty(group)

    def _lose_pod(self, group: WorkloadGroup, uid: str) -> bool:
        """A pod was on a node that is gone; whether a workload will replace it.

        The pod object may still exist, and is accounted for if the node comes back.
        """
        member = group.pods.get(uid)
        group.leave_seat(uid)
        if member is not None:
            self.shared.model.account(member.pod)
        return member is not None and bool(member.owner)

    def _hold_seats(self, part: GroupPart, lost: list[int], ended: list[int]) -> None:
        """Hold the seats of pods that will be replaced; the others end in this round."""
        for task in lost:
            seconds = 0.0 if task in ended else self.shared.settings.replacement_pod
            part.hold_seat(task, self.shared.clock + seconds, ok=False)

    def _reseat(self, group: WorkloadGroup, part: GroupPart, tasks: list[int]) -> bool:
        """Have the queue place some tasks of a part again; False if there is no capacity."""
        if self.shared.state(part) not in (JobState.ALLOCATED, JobState.RUNNING) or part.returning:
            return True
        for task in tasks:
            if task in part.pods:
                self.actions.revoke_bind(part.pods[task])
        if not self.shared.send(Reseat(part.job, tuple(tasks))):
            return False
        self.shared.leave_nodes(part, tasks)
        part.made_progress(self.shared.clock)
        self.shared.request_reconcile(group)
        return True

    def _end_seats(self, group: WorkloadGroup, part: GroupPart, tasks: list[int]) -> None:
        """End some tasks of a running part; the rest runs on, and their pods ask again."""
        for task in tasks:
            if task in part.pods:
                group.leave_seat(part.pods[task])
        end_tasks(self.shared, group, part, tasks)
        self.shared.model.mark_dirty(group)

    # -- foreign usage -------------------------------------------------------------------------

    def count_foreign_usage(self) -> list[str]:
        """Inform the queue of changes in foreign usage; returns the nodes that are affected.

        Binds to these nodes were held back since the change (`ForeignUsage.is_changed`).
        """
        nodes = self.shared.model.node_graph.nodes
        sums = self.shared.model.foreign.take()
        known = {
            node: {type: n for type, n in held.items() if n and type in nodes[node].pools}
            for node, held in sums.items()
            if node in nodes
        }
        if known:
            self.shared.send(Occupied(known))
        for node in known:
            self._check_overcommit(node)
        return list(known)

    def recheck_nodes(self) -> None:
        """Groups were looked at: seats may have become empty on nodes that are not suitable now."""
        for node in list(self._overcommitted):
            self._check_overcommit(node)
        for node in self.shared.take_nodes_to_recheck():
            why = self._why_unsuitable(node)
            if why:
                self._move_away(node, why)
                self._recheck_after_binds(node)

    def _why_unsuitable(self, node: str) -> Reason | None:
        """Why a node is not suitable for our seats on it any more; None if it is."""
        graph_node = self.shared.model.node_graph.nodes.get(node)
        seats = self.shared.seats_on.get(node)
        if graph_node is None or not seats:
            return None
        if graph_node.closed:
            return Reason.of(Message.NODE_CLOSED, node=node)
        graph = self.shared.matcher.graph
        rules = {self.shared.parts[job][1].footprints[task].rule for job, task in seats}
        if not all(graph.has_property(graph_node.vertex, rule) for rule in rules):
            return Reason.of(Message.NODE_RELABELLED, node=node)
        if self.crowding.exceeded(node):
            return Reason.of(Message.NODE_SHRANK, node=node)
        return None

    def _recheck_after_binds(self, node: str) -> None:
        """Binds in flight to a node cannot be stopped; if one fails, its seat has to move, too."""
        for job, task in self.shared.seats_on.get(node, ()):
            if self.actions.is_binding_pod(self.shared.parts[job][1].pods.get(task, "")):
                self.shared.recheck_node(node)

    def _check_overcommit(self, node: str) -> None:
        """Foreign pods may have taken capacity that our seats are meant to use."""
        if self.crowding.exceeded(node):
            self._move_away(node, Reason.of(Message.NODE_OVERCOMMITTED, node=node))
            if self.crowding.crowded(node):
                self._overcommitted.setdefault(node, self.shared.clock)
                return
            if self._has_unbound(node):  # a bind in flight may yet put a pod there
                self._overcommitted[node] = self.shared.clock
                return
        self._overcommitted.pop(node, None)

    def _has_unbound(self, node: str) -> bool:
        seats = self.shared.seats_on.get(node, ())
        return any(task not in self.shared.parts[job][1].bound for job, task in seats)

    def _move_away(self, node: str, why: Reason) -> bool:
        """Have tasks that are not bound to a node yet placed again; False if there are none."""
        moved = False
        for group, part, tasks in self.shared.seats_by_part(node):
            unbound = [task for task in tasks if self._can_move(part, task)]
            if unbound:
                moved = True
                if self._reseat(group, part, unbound):
                    continue
                is_running = self.shared.state(part) is JobState.RUNNING
                if is_running or _can_spare(group, part, unbound):
                    self._end_seats(group, part, unbound)
                else:
                    nowhere = Reason.of(Message.NO_OTHER_NODE, reason=why).coded(why.code)
                    self.reconciler.give_up(group, part, nowhere)
        return moved

    def _can_move(self, part: GroupPart, task: int) -> bool:
        return task not in part.bound and not self.actions.is_binding_pod(part.pods.get(task, ""))

    def resolve_overcommit(self) -> None:
        """Where pods crowd a node for long, the part of ours that came last gives up its seats."""
        timeout = self.shared.settings.node_conflict
        for node, since in list(self._overcommitted.items()):
            # A bind that was in flight when the foreign pods came may have failed since.
            why = Reason.of(Message.NODE_OVERCOMMITTED, node=node)
            if self.crowding.exceeded(node) and self._move_away(node, why):
                continue
            if self.shared.clock - since < timeout:
                continue
            self._give_up_last(node, self.crowding.crowded(node))

    def _give_up_last(self, node: str, crowded: set[str]) -> None:
        """Of the parts that hold some of what is too little, the last one gives up its seats.

        If that is not enough, the next one follows once the pods of the first are gone.
        """
        seats = self.crowding.parts_holding(node, crowded)
        if not seats:
            del self._overcommitted[node]
            return
        if any(p.returning or self.shared.state(p) is JobState.ENDING for _, p in seats):
            return
        self._overcommitted[node] = self.shared.clock
        group, part = max(seats, key=lambda seat: seat[1].last_progress)
        _log.warning("node %s is overcommitted; %s gives up its seats there", node, group.key)
        tasks = [task for task, name in enumerate(part.nodes) if name == node]
        taken = Reason.of(Message.CAPACITY_TAKEN, node=node)
        if _can_spare(group, part, tasks):
            self.reconciler.evict(group, part, tasks, taken)
        else:
            self.reconciler.give_up(group, part, taken)


def _can_spare(group: WorkloadGroup, part: GroupPart, tasks: list[int]) -> bool:
    """Whether a service runs on without some seats of a part: enough are left, or it is none that
    has to have several pods."""
    left = sum(each.seats for each in group.holding) - len(set(tasks) - part.ended)
    return group.is_service and (left >= least_size(group) or least_size(group) == 1)
