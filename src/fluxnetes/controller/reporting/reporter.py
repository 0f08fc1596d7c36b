"""What users hear: which words about which object, and when.

Words for what is over or begins are told at once. Why something waits, and until when, changes all
the time and takes a look at the queue, so it is worked out in turn, some groups a second, for those
that have waited for a while.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import (
    LABELLED,
    POD,
    GroupKey,
    GroupPart,
    Member,
    WorkloadGroup,
    is_live,
)
from fluxnetes.cluster.pods.reader import notes
from fluxnetes.controller.actions.types import Action, BindPod
from fluxnetes.controller.reporting.events import about
from fluxnetes.controller.reporting.fluxjob_view import FluxJobView
from fluxnetes.controller.reporting.jobspec_text import jobspec_text
from fluxnetes.controller.reporting.reports import Reports
from fluxnetes.controller.reporting.units import in_users_units, moment
from fluxnetes.controller.state import ControllerState
from fluxnetes.kube.objects.base import Owner
from fluxnetes.kube.objects.events import Reference
from fluxnetes.kube.objects.fluxjobs import Wrapped
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.match.gang.model import Gang
from fluxnetes.queue.changes import Changes
from fluxnetes.queue.jobs import QueueJob
from fluxnetes.queue.states import ENDED, HOLDING, WAITING, JobState

_WRAPPED = {"Pod": Wrapped.POD, "Job": Wrapped.JOB, "Group": Wrapped.GROUP}
_AT_ONCE = 100
"""Groups that wait whose words are worked out in one go."""
_LONGEST_LOOK = 0.02
"""Seconds in a second that this may take."""
_TOLD_PODS = 20
"""Pods of a group that an event about all of it is told for."""
_JOB_NUMBER = re.compile(r"\bjob (\d{1,15})\b")
_BAD_ENDS = (JobState.FAILED, JobState.TIMED_OUT, JobState.REJECTED)


@dataclass(slots=True, eq=False)
class Reporter:
    """Turns what happens into events, conditions and FluxJobs."""

    shared: ControllerState
    reports: Reports
    _waiting: dict[GroupKey, float] = field(default_factory=dict)
    """Groups that wait, and since when; those that were looked at last come last."""

    _told: set[GroupKey] = field(default_factory=set)
    """Groups that wait and whose pods have an event about it."""
    _nodes: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """The nodes that each job was given last; a record says them after its end, too."""

    # -- at once -------------------------------------------------------------------------------

    def bound(self, bind: BindPod) -> None:
        """A pod has its node."""
        pod = Reference("v1", "Pod", bind.name, bind.uid, bind.namespace)
        note = f"Successfully assigned {bind.namespace}/{bind.name} to {bind.node}"
        self.reports.events.tell(
            pod, "Scheduled", note, reporter=bind.scheduler or "fluxnetes", action="Binding"
        )

    def failed(self, action: Action, why: str) -> None:
        """Something could not be done."""
        kind = getattr(action, "kind", "Pod")
        version = ADAPTERS[kind].resource.api_version if kind in ADAPTERS else "v1"
        thing = Reference(version, kind, action.name, action.uid, action.namespace)
        self.reports.events.tell(thing, "FailedScheduling", why, type="Warning")

    def look_at(self, group: WorkloadGroup) -> None:
        """A group was settled; it may wait for something that the queue knows nothing of."""
        if group.is_gone:
            self._waiting.pop(group.key, None)
            self.reports.conditions.forget(group.reference)
            self.reports.records.forget(group.reference)
        elif group.told.startswith("refused: "):
            self._warn(group, "FailedScheduling", group.told)
            self._condition(group, "Unschedulable", group.told)
        elif group.told:
            self._condition(group, "Unschedulable", f"waits: {group.told}")
            if not group.pods and _is_kept_waiting(group):
                self._warn(group, "FailedScheduling", f"waits: {group.told}")

    def note(self, group: WorkloadGroup) -> None:
        """A group is queued; say what of it is left out."""
        for member in list(group.pods.values())[:1]:
            options = member.options if member.options is not None else group.options
            for note in notes(member.pod.spec, options):
                self.reports.events.tell(about(PODS, member.pod), "NotHonoured", note)
        for uid, workload in group.workloads.items():
            adapter = ADAPTERS[group.kinds[uid]]
            for note in notes(group.template(uid).spec, group.options):
                self.reports.events.tell(about(adapter.resource, workload), "NotHonoured", note)

    def take(self, changes: Changes) -> None:
        """The queue decided something, and it is written down."""
        moves = [event for event in changes.events if event.kind == "transition"]
        arrived = {move.job for move in moves if move.before is None}
        # It may have been given other nodes in the same breath.
        back = {m.job: m.reason for m in moves if m.before in HOLDING and m.after in WAITING}
        for id, job in changes.jobs.items():
            group = self.shared.group_of_job(job)
            if group is None:
                continue
            if id in arrived:
                self.note(group)
            if job.state in WAITING:
                self._waiting.setdefault(group.key, self.shared.clock)
            else:
                self._waiting.pop(group.key, None)
                self._told.discard(group.key)
                self.reports.conditions.forget(group.reference)
            known = self.shared.parts.get(id)
            if job.state not in WAITING or job.restarts:
                # What waits for the first time is told of within a second, with its place and why.
                self._record(group, job, known[1] if known is not None else None)
            if job.state in _BAD_ENDS:
                words = f"{job.state.value}: {in_users_units(job.reason)}"
                self._warn(group, _reason_word(job.state), words)
                self._condition(group, "Unschedulable", words)
            elif id in back:
                self._warn(group, "Requeued", back[id])

    def recover(self, ended: Iterable[tuple[WorkloadGroup, QueueJob]]) -> None:
        """A term begins: say what is the matter with all that is queued or runs.

        Of what has ended the last term may not have come to tell; then its record would say for
        ever that it runs.
        """
        for group, job in ended:
            self._record(group, job, None)
        for group, part in self.shared.parts.values():
            job = self.shared.job(part)
            if job.state in WAITING:
                self._waiting[group.key] = self.shared.clock
            self._record(group, job, part)
        self.reports.records.settle()

    # -- in turn -------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Work out why some of those wait that do."""
        began = time.perf_counter()
        for key in list(self._waiting)[:_AT_ONCE]:
            if time.perf_counter() - began > _LONGEST_LOOK:
                return
            since = self._waiting.pop(key)
            group = self.shared.model.groups.get(key)
            part = group.waiting if group is not None else None
            if group is None or part is None:
                continue
            self._waiting[key] = since
            self._explain(group, part)

    def _explain(self, group: WorkloadGroup, part: GroupPart) -> None:
        told = self.shared.scheduler.explain(part.job, self.shared.now)
        job = self.shared.job(part)
        place = None if told.place is None else told.place + 1
        eta = told.until if job.plan is not None else None
        reason = words = self._with_names(in_users_units(told.reason))
        self._record(group, job, part, reason, place, eta)
        if eta is not None:
            words += f"; it starts by {moment(eta)}"
        if place is not None:
            words += f"; it is number {place} in queue {job.queue}"
        self._condition(group, "Unschedulable", words)
        if group.key not in self._told:
            # Reasons change all the time; the condition and the record follow, an event does not.
            self._told.add(group.key)
            self._tell_pods(group, "FailedScheduling", f"not yet: {reason}")

    def _with_names(self, reason: str) -> str:
        """Users know other jobs by what they called them."""

        def name(found: re.Match[str]) -> str:
            job = self.shared.scheduler.jobs.get(int(found[1]))
            if job is None or not job.submission.workload:
                return found[0]
            kind = job.submission.workload.partition("/")[0].lower()
            return f"{kind}/{job.submission.name}"

        return _JOB_NUMBER.sub(name, reason)

    # -- the three ways ------------------------------------------------------------------------

    def _condition(self, group: WorkloadGroup, reason: str, message: str) -> None:
        pods = [
            member.pod.key
            for member in list(group.pods.values())[:_TOLD_PODS]
            if is_live(member.pod) and not member.pod.spec.node_name and not _is_gated(member)
        ]
        if pods:
            self.reports.conditions.want(group.reference, pods, reason, message)

    def _warn(self, group: WorkloadGroup, reason: str, note: str) -> None:
        """Tell it of the workloads, and of pods that nobody made."""
        for uid, workload in group.workloads.items():
            thing = about(ADAPTERS[group.kinds[uid]].resource, workload)
            self.reports.events.tell(thing, reason, note, type="Warning")
        self._tell_pods(group, "FailedScheduling" if reason == "Rejected" else reason, note)

    def _tell_pods(self, group: WorkloadGroup, reason: str, note: str) -> None:
        for member in list(group.pods.values())[:_TOLD_PODS]:
            if is_live(member.pod) and not member.pod.spec.node_name:
                self.reports.events.tell(
                    about(PODS, member.pod),
                    reason,
                    note,
                    type="Warning",
                    reporter=member.pod.spec.scheduler_name,
                )

    def _record(
        self,
        group: WorkloadGroup,
        job: QueueJob,
        part: GroupPart | None,
        reason: str = "",
        place: int | None = None,
        eta: int | None = None,
    ) -> None:
        """The FluxJob of a group; single pods go without, they have their condition."""
        if group.key.kind == POD or (group.parts and group.parts[0].job != job.id):
            return  # of a group that is queued in parts, the record tells of the first
        if group.is_deleted and group.key.kind != LABELLED:
            return  # the record went with its workload
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
            reason=reason or in_users_units(job.reason),
            queue=job.queue,
            position=place,
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
        self.reports.records.want(group.reference, view)


def _owner(group: WorkloadGroup) -> Owner | None:
    """The one object that is the workload."""
    if len(group.workloads) != 1:
        return None
    ((uid, workload),) = group.workloads.items()
    resource = ADAPTERS[group.kinds[uid]].resource
    return Owner(resource.api_version, resource.kind, workload.metadata.name, uid)


def _is_gated(member: Member) -> bool:
    """The API server keeps the condition of gated pods itself."""
    return bool(member.pod.spec.scheduling_gates)


def _reason_word(state: JobState) -> str:
    """`timed out` is TimedOut."""
    return "".join(word.capitalize() for word in state.value.split())


def _size(job: QueueJob) -> int:
    """How many pods a job asked for."""
    request = job.submission.request
    return sum(shape.count for shape in request.shapes) if isinstance(request, Gang) else 1


def _is_kept_waiting(group: WorkloadGroup) -> bool:
    """Whether it is us who keep a workload from making its pods."""
    return any(
        ADAPTERS[group.kinds[uid]].is_waiting_for_us(workload)
        for uid, workload in group.workloads.items()
    )
