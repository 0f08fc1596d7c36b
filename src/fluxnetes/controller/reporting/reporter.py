"""Decides what users are shown about which object, and when: events, conditions, statuses.

What begins or ends is reported at once. Why a group waits, and until when, changes all the time and
takes a query to the queue. So it is computed in turn (`waiting`), for a limited time per second.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.adapters.owners import OWNERS
from fluxnetes.cluster.groups import (
    GroupKey,
    Member,
    NotQueued,
    WorkloadGroup,
    is_live,
)
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.cluster.pods.reader import notes
from fluxnetes.common.reasons import Message, Reason, ReasonCode, code_of
from fluxnetes.controller.actions.types import Action, BindPod
from fluxnetes.controller.growth import GrowthResumer
from fluxnetes.controller.reporting.conditions import UNSCHEDULABLE
from fluxnetes.controller.reporting.events import EventType, about
from fluxnetes.controller.reporting.fluxjob_builder import WaitForecast
from fluxnetes.controller.reporting.fluxjob_reports import FluxJobReports, reason_of
from fluxnetes.controller.reporting.job_names import text_for
from fluxnetes.controller.reporting.pod_groups.reports import PodGroupReports
from fluxnetes.controller.reporting.reports import Reports
from fluxnetes.controller.reporting.start_events import StartEvents
from fluxnetes.controller.reporting.wait_texts import WaitTexts
from fluxnetes.controller.reporting.waiting import FIRST_IN_LINE, WaitingGroups
from fluxnetes.controller.state import ControllerState
from fluxnetes.kube.objects.base import Key
from fluxnetes.kube.objects.events import Reference
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import HOLDING, WAITING, JobState

_FIRST_SECONDS = 0.1
"""Maximum time per tick (a second) for reports on the first in line, so that rounds are not
delayed."""
_TURN_SECONDS = 0.02
"""The same for all other reports that are made in turn."""
_QUIET_FOR = 2.0
"""Seconds without a change after which it is reported that a group is not queued: while its pods
are being created, it is about to become complete."""
_GATHERS_FOR = 5.0
"""Seconds after which it is reported anyway."""
_REPORTED_PODS = 20
"""Maximum pods of a group that get an event about the whole group."""
_BAD_ENDS = (JobState.FAILED, JobState.TIMED_OUT, JobState.REJECTED)
_STARTED = (JobState.ALLOCATED, JobState.RUNNING)
_PLAN_EVENTS = ("planned", "unplanned")


@dataclass(slots=True, eq=False)
class Reporter:
    """Turns what happens into events, conditions, FluxJobs and the status of PodGroups."""

    shared: ControllerState
    reports: Reports
    resumer: GrowthResumer
    _waiting: WaitingGroups = field(default_factory=WaitingGroups)
    _start_events: StartEvents = field(default_factory=StartEvents)
    _unqueued: dict[GroupKey, float] = field(default_factory=dict)
    """When groups that are not queued last changed."""
    _fluxjobs: FluxJobReports = field(init=False)
    _pod_groups: PodGroupReports = field(init=False)

    def __post_init__(self) -> None:
        self._fluxjobs = FluxJobReports(self.shared, self.reports.fluxjobs)
        self._pod_groups = PodGroupReports(self.shared, self.reports.pod_groups)

    # -- at once -------------------------------------------------------------------------------

    def pod_bound(self, bind: BindPod) -> None:
        """A pod was bound."""
        pod = Reference("v1", "Pod", bind.name, bind.uid, bind.namespace)
        note = f"Successfully assigned {bind.namespace}/{bind.name} to {bind.node}"
        self.reports.events.record(
            pod, "Scheduled", note, reporter=bind.scheduler or "fluxnetes", action="Binding"
        )

    def action_failed(self, action: Action, why: str) -> None:
        """An action failed for good."""
        kind = getattr(action, "kind", "Pod")
        known = OWNERS.get(kind) or (ADAPTERS[kind].resource if kind in ADAPTERS else PODS)
        regarding = Reference(known.api_version, kind, action.name, action.uid, action.namespace)
        self.reports.events.record(regarding, "FailedScheduling", why, type="Warning")

    def group_settled(self, group: WorkloadGroup) -> None:
        """A group was looked at; it may wait for something that the queue does not know."""
        self._fluxjobs.group_settled(group)
        self._pod_groups.changed(group)
        blocked = group.not_queued
        if group.is_gone:
            self._waits_no_longer(group)
            self._fluxjobs.forget(group)
            self._pod_groups.gone(group)
        elif blocked is not None:
            reason = reason_of(blocked)
            self._condition(group, reason)
            if blocked.is_refused or blocked.reason.message is Message.POD_GROUP_DELETED:
                self._warn(group, "FailedScheduling", reason)
            if not group.parts:
                self._unqueued[group.key] = self.shared.clock
                self._waiting.add(group.key, self.shared.clock)
                self._waiting.changed(group.key)
        elif not group.parts:
            self._leaves_line(group)
            self._report_refused(group)

    def _waits_no_longer(self, group: WorkloadGroup) -> None:
        self._leaves_line(group)
        self._forget_condition(group)

    def _leaves_line(self, group: WorkloadGroup) -> None:
        self._waiting.remove(group.key)
        self._unqueued.pop(group.key, None)
        self._start_events.forget(group.key)

    def _report_refused(self, group: WorkloadGroup) -> None:
        """No job stands for a group. Pods that never start say why, also those that a workload
        creates after its job was rejected."""
        closed = group.closed
        if closed is not None and closed.is_refused and closed.state is not None:
            self._report_end(group, closed.state, closed.reason)
        else:
            self._forget_condition(group)

    def _forget_condition(self, group: WorkloadGroup) -> None:
        self.reports.conditions.forget(group.reference)
        self._pod_groups.waits_no_longer(group)

    def group_incomplete(self, group: WorkloadGroup, reason: Reason) -> None:
        """A group runs without some of its pods; its FluxJob has the reason from its job."""
        self._warn(group, "Incomplete", reason)

    def walltime_changed(self, group: WorkloadGroup, reason: Reason) -> None:
        """A running group has more or less time."""
        self._record_running(group, "WalltimeChanged", self._coded(group, reason), "Normal")

    def walltime_refused(self, group: WorkloadGroup, reason: Reason) -> None:
        """A running group cannot have the walltime that it asks for; it keeps what it has."""
        note = self._coded(group, reason, "the walltime stays: ")
        self._record_running(group, "WalltimeRefused", note, "Warning")

    def _record_running(self, group: WorkloadGroup, event: str, note: str, type: EventType) -> None:
        """Record an event for the workloads of a group or, without any, for its pods."""
        about_them = [
            about(ADAPTERS[group.kinds[uid]].resource, each)
            for uid, each in group.workloads.items()
        ] or [about(PODS, member.pod) for member in list(group.pods.values())[:_REPORTED_PODS]]
        for regarding in about_them:
            self.reports.events.record(regarding, event, note, type=type)

    def _report_ignored(self, group: WorkloadGroup) -> None:
        """A group is queued: report which of its settings are ignored."""
        for member in list(group.pods.values())[:1]:
            options = member.options if member.options is not None else group.options
            for note in notes(member.pod.spec, options):
                self.reports.events.record(about(PODS, member.pod), "NotHonoured", note)
        for uid, workload in group.workloads.items():
            adapter = ADAPTERS[group.kinds[uid]]
            for note in notes(group.template(uid).spec, group.options):
                self.reports.events.record(about(adapter.resource, workload), "NotHonoured", note)

    def changes_written(self, changes: Changes) -> None:
        """The queue decided this, and it is written to the store."""
        moves = [event for event in changes.events if event.kind == "transition"]
        arrived = {move.job for move in moves if move.before is None}
        # A requeued job may have been given other nodes in the same step.
        requeued = {m.job: m.reason for m in moves if m.before in HOLDING and m.after in WAITING}
        planned = {event.job for event in changes.events if event.kind in _PLAN_EVENTS}
        moved = {move.job for move in moves} - arrived
        for id, job in changes.jobs.items():
            group = self.shared.group_of_job(job)
            if group is None:
                continue
            if id in arrived:
                self._report_ignored(group)
            if job.state in WAITING or group.waiting is not None:
                # Pods that came late wait as a job of their own, while the others of a group run.
                self._waiting.add(group.key, self.shared.clock)
            else:
                self._waits_no_longer(group)
            if id in planned or id in moved:
                self._waiting.changed(group.key)
            self._pod_groups.changed(group)
            known = self.shared.parts.get(id)
            if job.state not in WAITING or job.restarts:
                # A job that waits for the first time is explained within a second (`refresh`).
                self._fluxjobs.want(group, job, known[1] if known is not None else None)
            if job.state in _BAD_ENDS:
                self._report_end(group, job.state, job.reason)
            elif id in requeued:
                self._warn(group, "Requeued", requeued[id])
            elif job.state in _STARTED and group.waiting is None:
                self._condition_of_rest(group)

    def _report_end(self, group: WorkloadGroup, state: JobState, reason: Reason | None) -> None:
        before = f"{state.value}: "
        self._warn(group, _event_reason(state), reason, before)
        self._condition(group, reason, before)

    def term_started(self, ended: Iterable[tuple[WorkloadGroup, QueueJob]]) -> None:
        """Report the state of everything that is queued or runs, and of what has ended."""
        self._fluxjobs.term_started(ended)
        for group, part in self.shared.parts.values():
            if self.shared.state(part) in WAITING:
                self._waiting.add(group.key, self.shared.clock)

    # -- in turn -------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Report what changes by itself: why groups wait, and where the pods of others are."""
        self._pod_groups.refresh()
        self._fluxjobs.take_over()
        for key in self._fluxjobs.take_pods_changed():
            self._fluxjobs.follow_pods(key)
        first = self._waiting.take_first(self.shared.scheduler.step, self._first_in_line())
        for key in _in_time(first, _FIRST_SECONDS):
            self._report_waiting(key)
        for key in _in_time(self._waiting.take_turn(), _TURN_SECONDS):
            self._report_waiting(key)

    def _first_in_line(self) -> Iterator[GroupKey]:
        for job in self.shared.scheduler.first_in_line(FIRST_IN_LINE):
            known = self.shared.parts.get(job.id)
            if known is not None:  # else it is the job of a gRPC caller
                yield known[0].key

    def _report_waiting(self, key: GroupKey) -> None:
        group = self.shared.model.groups.get(key)
        part = group.waiting if group is not None else None
        if group is not None and part is not None:
            self._explain(group, part)
        elif group is not None and group.not_queued is not None and not group.parts:
            self._explain_unqueued(group, group.not_queued)
        else:
            self._waiting.remove(key)

    def _explain(self, group: WorkloadGroup, part: GroupPart) -> None:
        """Report why a group waits in the queue, and until when."""
        job = self.shared.job(part)
        explained = self.shared.scheduler.explain(part.job, self.shared.now)
        texts = WaitTexts.of(explained, job, lambda reason: self._text(group, reason))
        forecast = WaitForecast(
            self._text(group, explained.reason),
            code_of(explained.reason),
            texts.position,
            texts.eta,
        )
        self._fluxjobs.want(group, job, part, forecast)
        grows = explained.wants_nodes
        self._condition(group, explained.reason, after=texts.after, grows=grows)
        if grows:
            self.resumer.lacks_nodes(group, job)
        news = self._start_events.news(
            group.key,
            texts.code,
            texts.eta,
            clock=self.shared.clock,
            objects=len(group.workloads) + sum(1 for _ in _waiting_pods(group)),
        )
        for what, before in news:
            note, type = texts.event(what, before)
            self._record(group, what.value, note, type)

    def _explain_unqueued(self, group: WorkloadGroup, blocked: NotQueued) -> None:
        """Report why a group is not in the queue."""
        clock, key = self.shared.clock, group.key
        is_quiet = clock - self._unqueued.get(key, clock) >= _QUIET_FOR
        if not is_quiet and clock - self._waiting.since(key) < _GATHERS_FOR:
            self._waiting.changed(key)  # it is looked at again after the next tick
            return
        self._fluxjobs.want_unqueued(group, blocked)
        reason = reason_of(blocked)
        news = self._start_events.news(
            group.key,
            blocked.reason.message,
            None,
            clock=self.shared.clock,
            objects=len(group.workloads) + sum(1 for _ in _waiting_pods(group)),
        )
        for what, _ in news:
            note = self._coded(group, reason)
            self._record(group, what.value, note, "Warning")
            if blocked.reason.message is Message.PODS_IN_SEQUENCE:
                self._record_for_owners(group, what.value, note)

    def _record_for_owners(self, group: WorkloadGroup, event: str, note: str) -> None:
        """Record a warning for the objects that created the pods of a group, each once."""
        owners = (member.pod.metadata.controller for member in _waiting_pods(group))
        for owner in {each.uid: each for each in owners if each is not None}.values():
            regarding = Reference(
                owner.api_version, owner.kind, owner.name, owner.uid, group.key.namespace
            )
            self.reports.events.record(regarding, event, note, type="Warning")

    # -- conditions and events -----------------------------------------------------------------

    def _text(self, group: WorkloadGroup, reason: Reason | None) -> str:
        return text_for(self.shared, reason, group.key.namespace)

    def _coded(
        self, group: WorkloadGroup, reason: Reason | None, before: str = "", after: str = ""
    ) -> str:
        """A reason in words, with its code in front: `Resources: needs 9 pods ...`."""
        code = "" if reason is None else f"{reason.code.value}: "
        return f"{code}{before}{self._text(group, reason)}{after}"

    def _condition(
        self,
        group: WorkloadGroup,
        reason: Reason | None,
        before: str = "",
        after: str = "",
        *,
        grows: bool = False,
    ) -> None:
        """Say why the pods of a group wait; `grows`: to autoscalers, that they lack nodes."""
        if self._pod_groups.names_any(group):
            self._pod_groups.waits(group, self._coded(group, reason, before))
        if any(_unseated_pods(group)):
            said = UNSCHEDULABLE if grows else code_of(reason) or ReasonCode.UNKNOWN.value
            message = self._coded(group, reason, before, after)
            pods = partial(_unseated_pods, group)
            self.reports.conditions.want(group.reference, pods, said, message)

    def _condition_of_rest(self, group: WorkloadGroup) -> None:
        """A group has started, perhaps without some of its pods: those ask for no nodes."""
        missing = sum(1 for _ in _unseated_pods(group))
        if missing:
            need = missing + len(group.seats)
            self._condition(group, Reason.of(Message.GANG_INCOMPLETE, missing=missing, need=need))

    def _warn(
        self, group: WorkloadGroup, event: str, reason: Reason | None, before: str = ""
    ) -> None:
        """Record a warning event for the workloads of a group, and for its pods that wait."""
        self._record(group, event, self._coded(group, reason, before), "Warning")

    def _record(self, group: WorkloadGroup, event: str, note: str, type: EventType) -> None:
        for uid, workload in group.workloads.items():
            regarding = about(ADAPTERS[group.kinds[uid]].resource, workload)
            self.reports.events.record(regarding, event, note, type=type)
        event = "FailedScheduling" if event in ("Rejected", "Cancelled") else event
        for member in _waiting_pods(group):
            regarding, scheduler = about(PODS, member.pod), member.pod.spec.scheduler_name
            self.reports.events.record(regarding, event, note, type=type, reporter=scheduler)


def _waiting_pods(group: WorkloadGroup) -> Iterator[Member]:
    """The first pods of a group, as far as they wait."""
    for member in list(group.pods.values())[:_REPORTED_PODS]:
        if is_live(member.pod) and not member.pod.spec.node_name:
            yield member


def _unseated_pods(group: WorkloadGroup) -> Iterator[Key]:
    """All pods of a group that wait, but for those that are about to be bound."""
    for uid, member in group.pods.items():
        if is_live(member.pod) and not member.pod.spec.node_name and uid not in group.seats:
            yield member.pod.key


def _in_time(keys: Iterable[GroupKey], seconds: float) -> Iterator[GroupKey]:
    """As many of the keys as can be processed in a time."""
    until = time.perf_counter() + seconds
    for key in keys:
        yield key
        if time.perf_counter() > until:
            return


def _event_reason(state: JobState) -> str:
    """The state as the reason of an event: `timed out` is TimedOut."""
    return "".join(word.capitalize() for word in state.value.split())
