"""Decides what users are shown about which object, and when: events, pod conditions and FluxJobs.

What begins or ends is reported at once. Why a job waits, and until when, changes all the time and
takes a query to the queue. So it is computed in turn, for a limited number of groups per second.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import (
    LABELLED,
    POD,
    GroupKey,
    Member,
    WorkloadGroup,
    is_live,
)
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.cluster.pods.reader import notes
from fluxnetes.cluster.reason_text import KubernetesReasonText, moment_text
from fluxnetes.common.reasons import Message, Reason, code_of
from fluxnetes.controller.actions.types import Action, BindPod
from fluxnetes.controller.reporting.events import about
from fluxnetes.controller.reporting.fluxjob_view import FluxJobView
from fluxnetes.controller.reporting.jobspec_text import jobspec_text
from fluxnetes.controller.reporting.reports import Reports
from fluxnetes.controller.state import ControllerState
from fluxnetes.kube.objects.base import Owner
from fluxnetes.kube.objects.events import Reference
from fluxnetes.kube.objects.fluxjobs import Wrapped
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.match.gang.model import Gang
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.jobs import Origin, QueueJob
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, JobState

_WRAPPED = {"Pod": Wrapped.POD, "Job": Wrapped.JOB, "Group": Wrapped.GROUP}
_EXPLAINED_PER_TICK = 100
"""Maximum waiting groups whose reason is computed per tick (a second)."""
_EXPLAIN_SECONDS = 0.02
"""Maximum time per tick for that, so that rounds are not delayed."""
_REPORTED_PODS = 20
"""Maximum pods of a group that get an event or a condition about the whole group."""
_BAD_ENDS = (JobState.FAILED, JobState.TIMED_OUT, JobState.REJECTED)


@dataclass(slots=True, eq=False)
class Reporter:
    """Turns what happens into events, conditions and FluxJobs."""

    shared: ControllerState
    reports: Reports
    _waiting: dict[GroupKey, float] = field(default_factory=dict)
    """Waiting groups, and since when; those that were explained last come last."""
    _has_event: set[GroupKey] = field(default_factory=set)
    """Waiting groups whose pods have an event that says why."""
    _nodes: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """The nodes that each job was given last; its FluxJob names them after its end, too."""

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
        blocked = group.not_queued
        if group.is_gone:
            self._waiting.pop(group.key, None)
            self.reports.conditions.forget(group.reference)
            self.reports.fluxjobs.forget(group.reference)
        elif blocked is not None and blocked.is_refused:
            refused = Reason.of(Message.REFUSED, reason=blocked.reason).coded(blocked.reason.code)
            self._warn(group, "FailedScheduling", refused)
            self._condition(group, refused)
        elif blocked is not None:
            waits = Reason.of(Message.WAITS, reason=blocked.reason).coded(blocked.reason.code)
            self._condition(group, waits)
            if not group.pods and _is_suspended_by_us(group):
                self._warn(group, "FailedScheduling", waits)

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
        for id, job in changes.jobs.items():
            group = self.shared.group_of_job(job)
            if group is None:
                continue
            if id in arrived:
                self._report_ignored(group)
            if job.state in WAITING:
                self._waiting.setdefault(group.key, self.shared.clock)
            else:
                self._waiting.pop(group.key, None)
                self._has_event.discard(group.key)
                self.reports.conditions.forget(group.reference)
            known = self.shared.parts.get(id)
            if job.state not in WAITING or job.restarts:
                # A job that waits for the first time is explained within a second (`refresh`).
                self._want_fluxjob(group, job, known[1] if known is not None else None)
            if job.state in _BAD_ENDS:
                self._warn(group, _event_reason(job.state), job.reason, f"{job.state.value}: ")
                self._condition(group, job.reason, f"{job.state.value}: ")
            elif id in requeued:
                self._warn(group, "Requeued", requeued[id])

    def term_started(self, ended: Iterable[tuple[WorkloadGroup, QueueJob]]) -> None:
        """Report the state of everything that is queued or runs, and of what has ended.

        The previous term may not have reported some of the ends; without this, their FluxJobs would
        say for ever that they run.
        """
        for group, job in ended:
            self._want_fluxjob(group, job, None)
        for group, part in self.shared.parts.values():
            job = self.shared.job(part)
            if job.state in WAITING:
                self._waiting[group.key] = self.shared.clock
            self._want_fluxjob(group, job, part)
        self.reports.fluxjobs.settle()

    # -- in turn -------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Compute why jobs wait, for the waiting groups whose turn it is."""
        began = time.perf_counter()
        for key in list(self._waiting)[:_EXPLAINED_PER_TICK]:
            if time.perf_counter() - began > _EXPLAIN_SECONDS:
                return
            since = self._waiting.pop(key)
            group = self.shared.model.groups.get(key)
            part = group.waiting if group is not None else None
            if group is None or part is None:
                continue
            self._waiting[key] = since
            self._explain(group, part)

    def _explain(self, group: WorkloadGroup, part: GroupPart) -> None:
        explained = self.shared.scheduler.explain(part.job, self.shared.now)
        job = self.shared.job(part)
        position = None if explained.place is None else explained.place + 1
        eta = explained.until if job.plan is not None else None
        reason = explained.reason
        self._want_fluxjob(group, job, part, reason, position, eta)
        after = "" if eta is None else f"; it starts by {moment_text(eta)}"
        if position is not None:
            after += f"; position {position} in queue {job.queue}"
        self._condition(group, reason, after=after)
        if group.key not in self._has_event:
            # Reasons change all the time; the condition and the FluxJob follow, events do not.
            self._has_event.add(group.key)
            self._warn_pods(group, "FailedScheduling", reason, "not yet: ")

    def _job_name(self, id: int) -> str | None:
        """Users know other jobs by their workloads, not by job numbers."""
        job = self.shared.scheduler.jobs.get(id)
        if job is None or job.submission.origin is not Origin.CLUSTER:
            return None
        kind = job.submission.workload.partition("/")[0].lower()
        return f"{kind}/{job.submission.name}"

    def _text(self, reason: Reason | None) -> str:
        return KubernetesReasonText(self._job_name).render(reason)

    def _coded(self, reason: Reason | None, before: str, after: str = "") -> str:
        """A reason in words, with its code in front: `Resources: needs 9 pods ...`."""
        code = "" if reason is None else f"{reason.code.value}: "
        return f"{code}{before}{self._text(reason)}{after}"

    # -- conditions, events, FluxJobs ----------------------------------------------------------

    def _condition(
        self, group: WorkloadGroup, reason: Reason | None, before: str = "", after: str = ""
    ) -> None:
        pods = [
            member.pod.key
            for member in list(group.pods.values())[:_REPORTED_PODS]
            if is_live(member.pod) and not member.pod.spec.node_name and not _is_gated(member)
        ]
        if pods:
            message = self._coded(reason, before, after)
            self.reports.conditions.want(group.reference, pods, "Unschedulable", message)

    def _warn(
        self, group: WorkloadGroup, event: str, reason: Reason | None, before: str = ""
    ) -> None:
        """Record a warning event for the workloads of a group, and for its pods that wait."""
        for uid, workload in group.workloads.items():
            regarding = about(ADAPTERS[group.kinds[uid]].resource, workload)
            note = self._coded(reason, before)
            self.reports.events.record(regarding, event, note, type="Warning")
        event = "FailedScheduling" if event == "Rejected" else event
        self._warn_pods(group, event, reason, before)

    def _warn_pods(
        self, group: WorkloadGroup, event: str, reason: Reason | None, before: str
    ) -> None:
        note = self._coded(reason, before)
        for member in list(group.pods.values())[:_REPORTED_PODS]:
            if is_live(member.pod) and not member.pod.spec.node_name:
                self.reports.events.record(
                    about(PODS, member.pod),
                    event,
                    note,
                    type="Warning",
                    reporter=member.pod.spec.scheduler_name,
                )

    def _want_fluxjob(
        self,
        group: WorkloadGroup,
        job: QueueJob,
        part: GroupPart | None,
        reason: Reason | None = None,
        position: int | None = None,
        eta: int | None = None,
    ) -> None:
        """Update the FluxJob of a group; single pods have none, only their condition."""
        if group.key.kind == POD or (group.parts and group.parts[0].job != job.id):
            return  # the FluxJob of a group with several parts is about the first
        if group.is_deleted and group.key.kind != LABELLED:
            return  # the FluxJob was deleted with its workload
        if part is not None and part.holds:
            self._nodes[job.id] = tuple(dict.fromkeys(part.nodes))
        if job.state in WAITING:
            self._nodes.pop(job.id, None)
        nodes = self._nodes.get(job.id, ())
        if job.state in ENDED:
            self._nodes.pop(job.id, None)
        view = FluxJobView(
            namespace=group.key.namespace,
            name=group.key.name,
            kind=_WRAPPED[group.key.kind],
            state=job.state,
            reason=self._text(reason or job.reason),
            reason_code=code_of(reason or job.reason),
            queue=job.queue,
            position=position,
            eta=eta if eta is not None or job.plan is None else job.plan.start,
            start=job.start,
            end=job.end if job.state in ENDED else None,
            walltime=job.walltime,
            nodes=nodes,
            size=len(part.footprints) if part is not None else _size(job),
            job_id=job.id,
            owner=_owner(group),
            jobspec=jobspec_text(job),
        )
        self.reports.fluxjobs.want(group.reference, view)


def _owner(group: WorkloadGroup) -> Owner | None:
    """The workload of a group, if it is one object."""
    if len(group.workloads) != 1:
        return None
    ((uid, workload),) = group.workloads.items()
    resource = ADAPTERS[group.kinds[uid]].resource
    return Owner(resource.api_version, resource.kind, workload.metadata.name, uid)


def _is_gated(member: Member) -> bool:
    """Whether a pod has scheduling gates: the API server sets the condition of those itself."""
    return bool(member.pod.spec.scheduling_gates)


def _event_reason(state: JobState) -> str:
    """The state as the reason of an event: `timed out` is TimedOut."""
    return "".join(word.capitalize() for word in state.value.split())


def _size(job: QueueJob) -> int:
    """The number of pods that a job asked for."""
    request = job.submission.request
    return sum(shape.count for shape in request.shapes) if isinstance(request, Gang) else 1


def _is_suspended_by_us(group: WorkloadGroup) -> bool:
    """Whether a workload creates no pods because we suspended it."""
    return any(
        ADAPTERS[group.kinds[uid]].is_waiting_for_us(workload)
        for uid, workload in group.workloads.items()
    )
