"""What must hold in a play at every moment, read from the cluster as far as it can be.

- No bind puts more on a node than it has, counting all pods of ours and those of others that the
  controller had seen when the bind took off.
- A seat has one pod at most, a pod one seat, and all books of the controller say the same.
- A group that never was complete does not keep some of its pods bound while nothing moves.
- No pods of ours leave a node for lack of capacity, unless pods took it: a node that only shrank
  keeps what it holds.
- No Job dies of its deadline while it waits, unless it is refused, actions fail or news are late.
- A group that runs without some of its pods says so, and not for longer than it asked for.
- A job that runs has the walltime that it asks for, or was refused it.
- What the queue checks of itself (`queue/persist/validate.py`) holds, too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from fluxnetes.cluster.demand import least_size, missing_pods
from fluxnetes.cluster.groups import GroupKey, WorkloadGroup, is_live
from fluxnetes.cluster.labels.names import EXCLUSIVE
from fluxnetes.cluster.parts import NO_NODE, GroupPart
from fluxnetes.cluster.pods.requests import held_amounts
from fluxnetes.common.reasons import code_of
from fluxnetes.controller.actions.types import BindPod
from fluxnetes.controller.crowding import CrowdedNodes
from fluxnetes.kube.objects.jobs import Job
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.states import HOLDING, WAITING, JobState
from tests.unit.controller.cluster import is_ours
from tests.unit.controller.play import Play

SLACK = 8
"""Seconds beyond the stall time: to take Jobs back and let their pods go takes a few."""


@dataclass
class Partial:
    """A group of which some pods are bound, though not enough, and that never was complete."""

    bound: frozenset[str]
    since: int


@dataclass(frozen=True)
class Aware:
    """What the controller knew of a node when a bind took off."""

    foreign: frozenset[str]
    sizes: dict[str, int]


class Inspector:
    """Looks at a play after every round."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._aware: dict[str, Aware] = {}
        """By the uid of the pod."""
        self._partial: dict[GroupKey, Partial] = {}
        self._started: set[GroupKey] = set()
        self._ran: set[str] = set()
        """Uids of Jobs of which a pod was bound."""
        self._incomplete: dict[GroupKey, int] = {}
        """Since when groups run incomplete that asked not to."""
        self._had_trouble = self._had_gap = False
        self.attend()

    def attend(self) -> None:
        """A term begins."""
        play = self._play
        play.looked = self.look
        play.executor.takes_off, play.executor.lands = self._takes_off, self._lands
        play.controller.node_sync.crowding = _Witness(play.shared, play)
        self._partial.clear()
        self._incomplete.clear()

    def expect_lost_time(self) -> None:
        """No controller sees what happens for a while: time of deadlines that passes then is
        lost."""
        self._had_trouble = self._had_gap = True

    # -- binds ---------------------------------------------------------------------------------

    def _takes_off(self, bind: BindPod) -> None:
        pods, model = self._play.cluster.pods, self._play.shared.model
        seen = (uid for uid in model.foreign.pods if uid in pods and not is_ours(pods[uid]))
        machine = model.node_graph.nodes.get(bind.node)
        self._aware[bind.uid] = Aware(frozenset(seen), dict(machine.sizes) if machine else {})

    def _lands(self, bind: BindPod) -> None:
        """A pod was bound just now."""
        cluster, aware = self._play.cluster, self._aware[bind.uid]
        mine, there = cluster.pods[bind.uid], cluster.on(bind.node)
        if mine.metadata.controller is not None:
            self._ran.add(mine.metadata.controller.uid)
        seen = [pod for pod in there if is_ours(pod) or pod.metadata.uid in aware.foreign]
        held = Counter[str]()
        for pod in seen:
            held.update(dict(held_amounts(pod)))
        over = [t for t, _ in held_amounts(mine) if held[t] > aware.sizes.get(t, held[t])]
        assert not over, f"{bind} puts too much {over} on its node: {held} of {aware.sizes}"
        clashes = [pod.metadata.name for pod in seen if pod is not mine and _clash(mine, pod)]
        assert not clashes, f"{bind} puts a pod beside {clashes}"

    # -- rounds --------------------------------------------------------------------------------

    def look(self) -> None:
        """A round is over."""
        self._check_books()
        self._had_trouble |= bool(self._play.lags or self._play.executor.luck)
        for group in self._play.shared.model.groups.values():
            self._check_seats(group)
            self._check_partial(group)
            self._check_deadlines(group)
            self._check_incomplete(group)
            self._check_walltimes(group)

    def _check_walltimes(self, group: WorkloadGroup) -> None:
        shared, asked = self._play.shared, group.options.walltime
        jobs = [shared.job(part) for part in group.holding]
        if asked is None or self._had_gap or not self._has_looked(group):
            return  # after a gap a job may have the walltime that it was found with for a moment
        for job in jobs if all(each.state is JobState.RUNNING for each in jobs) else ():
            refused = self._play.controller.walltimes._refused.get(job.id)
            assert asked in (job.walltime, refused), f"{group.key} runs for {job.walltime} s"

    def _check_incomplete(self, group: WorkloadGroup) -> None:
        shared = self._play.shared
        jobs = [shared.job(part) for part in group.holding]
        runs = any(job.state is JobState.RUNNING for job in jobs)
        leaves = any(part.returning for part in group.holding)
        if not runs or leaves or any(job.state is JobState.ENDING for job in jobs):
            self._incomplete.pop(group.key, None)
            return
        lacks, said = missing_pods(group), code_of(jobs[0].reason)
        if self._has_looked(group) and lacks is not None:
            assert said == "Incomplete", f"{group.key} lacks {lacks}, and says {said!r}"
        if lacks is None or group.options.incomplete == "wait":
            self._incomplete.pop(group.key, None)
            return
        since = self._incomplete.setdefault(group.key, self._play.cluster.now)
        most = self._play.options.settings.incomplete + SLACK
        assert self._play.cluster.now - since <= most, f"{group.key} lacks {lacks} for too long"

    def _has_looked(self, group: WorkloadGroup) -> bool:
        """Whether the controller has looked at a group since something happened to it."""
        shared = self._play.shared
        is_decided = shared.events_sent == self._play.controller._events_decided
        return is_decided and group.key not in shared.model._dirty

    def _check_deadlines(self, group: WorkloadGroup) -> None:
        blocked = group.not_queued
        may_never_run = group.closed is not None or group.options.max_size is not None
        jobs = {uid: each for uid, each in group.workloads.items() if isinstance(each, Job)}
        for uid, each in jobs.items():
            wants_none = not each.spec.parallelism
            if may_never_run or wants_none or (blocked is not None and blocked.is_refused):
                self._ran.add(uid)  # so it does not wait, or may do so for ever
        if self._had_trouble:
            return
        for uid, job in jobs.items():
            # The walltime of a group ends all of its Jobs, by a deadline of one second.
            if job.end is None or job.spec.active_deadline_seconds == 1:
                continue
            is_late = job.end.reason == "DeadlineExceeded"
            assert not is_late or uid in self._ran, f"{group.key} died while it waited"

    def _check_books(self) -> None:
        shared = self._play.shared
        on_nodes: Counter[tuple[str, int, int]] = Counter()
        for group, part in shared.parts.values():
            assert shared.model.groups.get(group.key) is group, f"{group.key} was forgotten"
            assert part in group.parts
            for task, node in enumerate(part.nodes):
                if task not in part.ended and node != NO_NODE:
                    on_nodes[node, part.job, task] += 1
        listed = {(node, *seat) for node, seats in shared.seats_on.items() for seat in seats}
        stale = {seat for seat in listed - set(on_nodes) if not self._is_ended(seat)}
        assert not stale, f"seats without a part: {stale}"
        assert set(on_nodes) <= listed, f"seats that are not listed: {set(on_nodes) - listed}"
        if (
            shared.events_sent == self._play.controller._events_decided
        ):  # else the queue is ahead of the groups
            self._check_jobs()

    def _check_jobs(self) -> None:
        shared = self._play.shared
        jobs = shared.scheduler.jobs.values()
        waiting = {job.id for job in jobs if job.state in WAITING}
        holding = {job.id for job in jobs if job.state in HOLDING}
        known = {id: part.holds for id, (_, part) in shared.parts.items()}
        assert {id for id, holds in known.items() if not holds} == waiting, f"{known}, {waiting}"
        assert {id for id, holds in known.items() if holds} == holding, f"{known}, {holding}"

    def _is_ended(self, seat: tuple[str, int, int]) -> bool:
        """Seats that are over stay listed until the queue's word on them is written down."""
        _, job, task = seat
        known = self._play.shared.parts.get(job)
        return known is not None and task in known[1].ended

    def _check_seats(self, group: WorkloadGroup) -> None:
        for uid, (part, task) in group.seats.items():
            assert part in group.parts and part.pods.get(task) == uid, f"{uid} has no seat"
        for part in group.parts:
            self._check_part(group, part)

    def _check_part(self, group: WorkloadGroup, part: GroupPart) -> None:
        for task, uid in part.pods.items():
            assert group.seats.get(uid) == (part, task), f"{uid} does not know its seat"
            assert task not in part.ended, f"{uid} has a seat that has ended"
        assert part.bound <= set(part.pods), f"bound without a pod: {part}"
        assert not set(part.held) & set(part.pods), f"held and taken: {part}"
        for task in part.bound:
            member = group.pods.get(part.pods[task])
            node = member.pod.spec.node_name if member is not None else ""
            assert node in ("", part.nodes[task]), f"{part.pods[task]} is on {node}: {part}"

    # -- groups that are half there ------------------------------------------------------------

    def _check_partial(self, group: WorkloadGroup) -> None:
        now = self._play.cluster.now
        there = frozenset(uid for uid, m in group.pods.items() if self._is_placed(uid))
        if not there and not group.parts:
            self._started.discard(group.key)
        # The minimum of a PodGroup may be raised while a start is written down.
        is_whole = group.pod_group is not None and any(part.is_filled for part in group.holding)
        if is_whole or len(there) >= least_size(group):
            self._started.add(group.key)
        if not there or group.key in self._started or group.closed is not None:
            self._partial.pop(group.key, None)
            return
        known = self._partial.get(group.key)
        if known is None or known.bound != there:
            self._partial[group.key] = Partial(there, now)
            return
        most = self._play.options.settings.stalled_group + SLACK
        assert now - known.since <= most, f"half of {group.key} is bound: {sorted(there)}"

    def _is_placed(self, uid: str) -> bool:
        pod = self._play.cluster.pods.get(uid)
        return pod is not None and bool(pod.spec.node_name) and is_live(pod)


@dataclass(slots=True, eq=False)
class _Witness(CrowdedNodes):
    """Looks whether a node is really crowded when one of ours is about to leave it."""

    play: Play

    def parts_holding(self, node: str, types: set[str]) -> list[tuple[WorkloadGroup, GroupPart]]:
        found = CrowdedNodes.parts_holding(self, node, types)
        # What is late is not known, so only what came can be judged.
        if found and not self.play.lags and not self.play.cluster.news:
            really = self.play.cluster.crowded(node)
            assert types <= really, f"{node} is not crowded by {types}, at most by {really}"
        return found


def _clash(one: Pod, other: Pod) -> bool:
    """Whether two pods must not be on one node, as one of them says."""
    alone = EXCLUSIVE in (*one.metadata.annotations, *other.metadata.annotations)
    lonely = one.spec.affinity is not None or other.spec.affinity is not None
    alike = lonely and one.metadata.labels.get("of") == other.metadata.labels.get("of")
    return alone or alike or bool(_ports(one) & _ports(other))


def _ports(pod: Pod) -> set[int]:
    return {port.host_port for container in pod.spec.containers for port in container.ports}
