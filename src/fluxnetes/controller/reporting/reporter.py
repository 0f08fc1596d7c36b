"""Decides what users are shown about which object, and when: events, pod conditions and FluxJobs.

What begins or ends is reported at once. Why a group waits, and until when, changes all the time and
takes a query to the queue. So it is computed in turn (`waiting`), for a limited time per second.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import (
    GroupKey,
    Member,
    NotQueued,
    WorkloadGroup,
    is_live,
)
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.cluster.pods.reader import notes
from fluxnetes.common.reasons import Message, Reason, code_of
from fluxnetes.controller.actions.types import Action, BindPod
from fluxnetes.controller.reporting.events import EventType, about
from fluxnetes.controller.reporting.fluxjob_builder import WaitForecast
from fluxnetes.controller.reporting.fluxjob_reports import FluxJobReports, reason_of
from fluxnetes.controller.reporting.job_names import text_for
from fluxnetes.controller.reporting.reports import Reports
from fluxnetes.controller.reporting.start_events import StartEvents
from fluxnetes.controller.reporting.wait_texts import WaitTexts
from fluxnetes.controller.reporting.waiting import FIRST_IN_LINE, WaitingGroups
from fluxnetes.controller.state import ControllerState
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
"""Maximum pods of a group that get an event or a condition about the whole group."""
_BAD_ENDS = (JobState.FAILED, JobState.TIMED_OUT, JobState.REJECTED)
_PLAN_EVENTS = ("planned", "unplanned")


@dataclass(slots=True, eq=False)
class Reporter:
    """Turns what happens into events, conditions and FluxJobs."""

    shared: ControllerState
    reports: Reports
    _waiting: WaitingGroups = field(default_factory=WaitingGroups)
    _start_events: StartEvents = field(default_factory=StartEvents)
    _unqueued: dict[GroupKey, float] = field(default_factory=dict)
    """When groups that are not queued last changed."""
    _fluxjobs: FluxJobReports = field(init=False)

    def __post_init__(self) -> None:
        self._fluxjobs = FluxJobReports(self.shared, self.reports.fluxjobs)

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
        version = ADAPTERS[kind].resource.api_version if kind in ADAPTERS else "v1"
        regarding = Reference(version, kind, action.name, action.uid, action.namespace)
        self.reports.events.record(regarding, "FailedScheduling", why, type="Warning")

    def group_settled(self, group: WorkloadGroup) -> None:
        """A group was looked at; it may wait for something that the queue does not know."""
        self._fluxjobs.group_settled(group)
        blocked = group.not_queued
        if group.is_gone:
            self._waits_no_longer(group)
            self._fluxjobs.forget(group)
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
            self._waits_no_longer(group)

    def _waits_no_longer(self, group: WorkloadGroup) -> None:
        self._waiting.remove(group.key)
        self._unqueued.pop(group.key, None)
        self._start_events.forget(group.key)
        self.reports.conditions.forget(group.reference)

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
        for id, job in changes.jobs.items():
            group = self.shared.group_of_job(job)
            if group is None:
                continue
            if id in arrived:
                self._report_ignored(group)
            if job.state in WAITING:
                self._waiting.add(group.key, self.shared.clock)
            else:
                self._waits_no_longer(group)
            if id in planned:
                self._waiting.changed(group.key)
            known = self.shared.parts.get(id)
            if job.state not in WAITING or job.restarts:
                # A job that waits for the first time is explained within a second (`refresh`).
                self._fluxjobs.want(group, job, known[1] if known is not None else None)
            if job.state in _BAD_ENDS:
                self._warn(group, _event_reason(job.state), job.reason, f"{job.state.value}: ")
                self._condition(group, job.reason, f"{job.state.value}: ")
            elif id in requeued:
                self._warn(group, "Requeued", requeued[id])

    def term_started(self, ended: Iterable[tuple[WorkloadGroup, QueueJob]]) -> None:
        """Report the state of everything that is queued or runs, and of what has ended."""
        self._fluxjobs.term_started(ended)
        for group, part in self.shared.parts.values():
            if self.shared.state(part) in WAITING:
                self._waiting.add(group.key, self.shared.clock)

    # -- in turn -------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Report what changes by itself: why groups wait, and where the pods of others are."""
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
        self._condition(group, explained.reason, after=texts.after)
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
        self, group: WorkloadGroup, reason: Reason | None, before: str = "", after: str = ""
    ) -> None:
        pods = [m.pod.key for m in _waiting_pods(group) if not m.pod.spec.scheduling_gates]
        if pods:  # of gated pods the API server sets the condition itself
            message = self._coded(group, reason, before, after)
            self.reports.conditions.want(group.reference, pods, "Unschedulable", message)

    def _warn(
        self, group: WorkloadGroup, event: str, reason: Reason | None, before: str = ""
    ) -> None:
        """Record a warning event for the workloads of a group, and for its pods that wait."""
        self._record(group, event, self._coded(group, reason, before), "Warning")

    def _record(self, group: WorkloadGroup, event: str, note: str, type: EventType) -> None:
        for uid, workload in group.workloads.items():
            regarding = about(ADAPTERS[group.kinds[uid]].resource, workload)
            self.reports.events.record(regarding, event, note, type=type)
        event = "FailedScheduling" if event == "Rejected" else event
        for member in _waiting_pods(group):
            regarding, scheduler = about(PODS, member.pod), member.pod.spec.scheduler_name
            self.reports.events.record(regarding, event, note, type=type, reporter=scheduler)


def _waiting_pods(group: WorkloadGroup) -> Iterator[Member]:
    """The first pods of a group, as far as they wait."""
    for member in list(group.pods.values())[:_REPORTED_PODS]:
        if is_live(member.pod) and not member.pod.spec.node_name:
            yield member


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
