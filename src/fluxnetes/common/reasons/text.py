"""The English of reasons, in the units of the queue: the only place where it is written.

`ReasonText` renders every message from a template and its arguments. An audience with other units
derives from it and overrides how arguments are written, and single templates. Text is for people:
nothing reads it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fluxnetes.common.reasons.messages import Message
from fluxnetes.common.reasons.model import Amount, Argument, JobRef, Moment, Reason, ResourceHours

_MOST = "the most that one {holder} has free now is {best_value}"

TEMPLATES: Mapping[Message, str] = {
    Message.TEXT: "{text}",
    Message.WAITS: "waits: {reason}",
    Message.BECAUSE: "{reason} ({because})",
    Message.SEVERAL: "{reasons}",
    Message.CANNOT_HOLD: "needs {needs}, which nothing in this graph can hold as it is asked for",
    Message.OUT_OF_REACH: "what could serve is out of reach: something above it is down or held",
    Message.SIDE_BY_SIDE: "two requests side by side ask for {type}; only one of them can",
    Message.UNKNOWN_TYPE: "no resource of type {type!r} is known here; the graph has {types}",
    Message.NO_SUCH_SHAPE: "nothing in this graph is built like {shape}",
    Message.NONE_FREE: "needs {needs}; none can be had now",
    Message.FEW_FREE: "needs {needs}; only {have} can be had now",
    Message.NONE_EXISTS: "needs {needs}; none in this graph could serve",
    Message.FEW_EXIST: "needs {needs}; only {have} in this graph could serve",
    Message.MOST_FREE_ON_ONE: "needs {needs} on one {holder}; " + _MOST,
    Message.LARGEST_HAS: "needs {needs} on one {holder}; the largest {holder} has {best_value}",
    Message.SLOT_NOT_BELOW: "a slot of {shape} cannot be filled directly below one {holder}",
    Message.SLOTS_FREE_ON_ONE: "needs {needs} of {shape} on one {holder}; " + _MOST,
    Message.SLOTS_OF_LARGEST: "needs {needs} of {shape} on one {holder}; "
    "the largest {holder} has {best_value}",
    Message.NODES_UP: "needs {needs}; {up} of {all} are up",
    Message.NODES_ALLOWED: "needs {needs} that its constraint allows; there are {allowed}",
    Message.ENDLESS_AHEAD: "{reason}; what is in the way has no end",
    Message.GRAPH_ENDS: "the graph ends at {horizon}",
    Message.TIMES_TRIED: "no start was found among the next {times} times at which jobs start or "
    "end; ask again later",
    Message.NOT_TOGETHER: "each of {shape} can be had, but not all of them together",
    Message.COUNT_OF_ZERO: "asks for 0 {type}; a request asks for at least 1",
    Message.COUNT_RANGE: "asks for {least} to {most} {type}; no number is in that range",
    Message.CONSTRAINT_UNMET: "no node satisfies its constraint",
    Message.CONSTRAINT_SHUT: "no node that satisfies its constraint is up and takes new jobs",
    Message.OF_ALLOWED: "{reason} (of the nodes that satisfy its constraint)",
    Message.CLOSED_IN_THE_WAY: "{reason}; it would fit with {nodes}, which take no new jobs",
    Message.FOREIGN_IN_THE_WAY: "{reason}; it would fit without what others use on {nodes}",
    Message.CLOSED_AND_FOREIGN: "{reason}; it would fit with {nodes}, which take no new jobs, "
    "and without what others use on {used}",
    Message.NODES_OPEN: "needs {needs}; of {all}, {down} are down and {closed} take no new jobs",
    Message.NOTHING_EXCLUSIVE: "nothing in the request is exclusive, so the job would hold nothing",
    Message.NO_SUCH_TYPE: "there is no {type} here",
    Message.HELD_THEN: "{path} is held by another job then",
    Message.NO_NODE_OF_KIND: "no node is of the kind that it asks for",
    Message.NO_NODE_OPEN: "no node that it may use is up and takes new work",
    Message.SHARED_POOL: "needs {needs} that no node owns; the most in one place is {best_value}",
    Message.SHARED_POOL_FREE: "needs {needs} that no node owns; "
    "the most that is free in one place is {best_value}",
    Message.POD_ON_ONE_NODE: "needs {needs} on one node; the most that one has is {best_value}",
    Message.POD_FREE_ON_ONE_NODE: "needs {needs} on one node; "
    "the most that one has free is {best_value}",
    Message.PODS: "needs {count} pods of {pod}; {found} fit now",
    Message.PODS_EVER: "needs {count} pods of {pod}; all nodes together fit {found}",
    Message.UNKNOWN_SHARED_POOL: "it holds something that no node owns, and which is not known",
    Message.PODS_AND_NODES: "it has {pods} pods, and {nodes} nodes are given",
    Message.NO_SUCH_NODE: "there is no node {node}",
    Message.GANGS_ONLY: "only gangs say what they take of which node",
    Message.GROUP_INCOMPLETE: "its group is not complete",
    Message.SUBMITTED_HELD: "submitted on hold",
    Message.HELD: "held by its user",
    Message.SUSPENDED_BY_USER: "suspended by its user",
    Message.BEGINS: "begins at {begin} at the earliest",
    Message.TRIED_AGAIN: "it is tried again at {begin} at the earliest; {reason}",
    Message.AFTER_JOB: "{kind} {job}",
    Message.NOTHING_SERVES: "{reason}; it waits for nodes that can serve it",
    Message.AFTER_UNKNOWN: "{kind} {name}: nothing of that name was queued so far",
    Message.QUEUE_STOPPED: "queue {queue} is stopped",
    Message.ARRAY_ALL_STARTED: "all {tasks} tasks were started; {running} have not ended",
    Message.ARRAY_AT_ONCE: "{running} tasks are there, and it may have {at_once} at a time",
    Message.PREEMPTING: "waits for preempted jobs to leave: {jobs}",
    Message.NO_START_KNOWN: "no start is known: jobs without a walltime are in the way ({lacks})",
    Message.NO_START_KNOWN_FIRST: "no start is known: "
    "jobs without a walltime are in the way ({lacks}). "
    "Room is kept for it as soon as they end",
    Message.KEPT_FOR: "what is free is kept for {job}",
    Message.PROMISED_BEFORE: "its capacity is promised to jobs before it",
    Message.PROMISED_TO_OTHERS: "what is free is promised to others",
    Message.MOVED_LATER: "{reason}; moved later because {because}",
    Message.WOULD_DELAY: "it would delay jobs that were promised a start, or its turn has not come",
    Message.WINDOW_OPENS: "{kind} {name} opens at {start}",
    Message.RUNS_INTO: "it would run into {windows}",
    Message.WINDOW_SPAN: "{kind} {name} ({start} to {end})",
    Message.MAY_WAIT: "{account} may have {most} waiting jobs in {queue}, and has them",
    Message.MAY_RUN: "limit: {account} may run {most} jobs at a time",
    Message.MAY_HOLD: "limit: {account} may hold {most} at a time, and this job "
    "needs {needs_value}",
    Message.BUDGET_NEEDS_WALLTIME: "budget {budget}: a job without a walltime cannot be committed",
    Message.BUDGET_SHORT: "budget {budget}: needs {needs} and {left_value} of {all_value} are left",
    Message.BUDGET_EXCEEDED: "budget {budget}: needs {needs}, more than all of it, {all_value}",
    Message.NO_SUCH_QUEUE: "there is no queue {queue}; there is {queues}",
    Message.QUEUE_DRAINED: "queue {queue} is drained: it takes in no more jobs",
    Message.UNKNOWN_DEPENDENCY: "it depends on {job}, which is not known",
    Message.AFTER_FAILED: "{kind} {name}: that has failed, and will never succeed",
    Message.DEPENDENCY_FAILED: "it was to run after {job} succeeded, and that {state}",
    Message.WALLTIME_TOO_SHORT: "a walltime of {walltime} s: expected 1 or more",
    Message.WALLTIME_TOO_LONG: "a walltime of {walltime} s; queue {queue} allows {most}",
    Message.WALLTIME_MISSING: "it has no walltime; queue {queue} allows {most} s",
    Message.NOT_A_MULTIPLE: "an elastic group must be a multiple of one unit: slots, "
    "nodes or equal pods",
    Message.ELASTIC_RANGE: "an elastic group of {min} to {max}: expected 1 <= min <= max",
    Message.ARRAY_TASKS: "an array of {tasks} tasks: expected 1 or more",
    Message.ARRAY_AT_ONCE_RANGE: "an array with {tasks} tasks at once: expected 1 or more",
    Message.ARRAY_ELASTIC: "an array can be neither elastic nor gathering",
    Message.NO_SUCH_RESERVATION: "there is no advance reservation {name}",
    Message.RESERVATION_OVER: "advance reservation {name} is over",
    Message.RESERVATION_NOT_FOR: "advance reservation {name} is not for {namespace}/{user}",
    Message.RESERVATION_SHORT: "{asked}; advance reservation {name} is there for {left} s",
    Message.SUBMITTED: "submitted",
    Message.GROUP_COMPLETE: "its group is complete",
    Message.RELEASED: "released",
    Message.SERVABLE_AGAIN: "there are nodes that can serve it",
    Message.ARRAY_TASK: "task {index} of array {array}",
    Message.FOUND_RUNNING: "found running",
    Message.BACKFILLED: "backfilled",
    Message.NO_WALLTIME: "its walltime has no end",
    Message.WALLTIME_OVER: "its walltime of {walltime} s is over",
    Message.PREEMPTED: "preempted by {job} of a higher class",
    Message.NODES_LOST_UNDER: "nodes that it ran on were lost",
    Message.PART_LOST: "a part of what it held is gone",
    Message.GRAPH_LOST: "the graph no longer has the resources it held",
    Message.GRAPH_CHANGED: "the graph grew or shrank",
    Message.GRAPH_REPLACED: "the graph was replaced",
    Message.FAILED: "it failed",
    Message.TASKS_FAILED: "{failed} of its tasks failed",
    Message.ARRAY_TASKS_FAILED: "{failed} of {tasks} tasks did not succeed",
    Message.ARRAY_TASKS_SUCCEEDED: "all {tasks} tasks succeeded",
    Message.WORKLOAD_FAILED: "{workload} failed: {why}",
    Message.WORKLOAD_TIMED_OUT: "{workload} exceeded its deadline: {why}",
    Message.POD_FAILED: "pod {pod} failed: {why}",
    Message.POD_TIMED_OUT: "pod {pod} exceeded its deadline",
    Message.REQUEUED: "requeued: {reason}",
    Message.CANCELLED_BY_USER: "cancelled by its user",
    Message.CANCELLED_BY_CALLER: "cancelled by its caller",
    Message.DELETED_BY_USER: "deleted by its user",
    Message.WITHDRAWN: "withdrawn: {reason}",
    Message.PODS_MISSING: "{have} of the {need} pods of {group} exist",
    Message.PODS_IN_SEQUENCE: "{have} of the {need} pods of {group} exist, and {owner} creates the "
    "next one only when those run (podManagementPolicy: OrderedReady). "
    "Use podManagementPolicy: Parallel",
    Message.GROUP_TOO_LARGE: "{key}: found {size}, and {workload} has at most {most} pods at a "
    "time. Lower it, raise spec.parallelism, or name a group that more pods belong to "
    "({group_key})",
    Message.MEMBERS_DISAGREE: "the members of {group} disagree on {key}: {one}, {other}. "
    "Nothing of it starts until they say the same",
    Message.POD_GROUP_MISSING: "there is no PodGroup {name} yet",
    Message.POD_GROUP_DELETED: "PodGroup {name} was deleted. Create it again, or say the size by "
    "{key}",
    Message.IN_ANOTHER_GROUP: "it is a part of {group} now",
    Message.NOTHING_TO_PLACE: "nothing of it is left to be placed",
    Message.PART_ENDING: "another part of its group is ending",
    Message.PODS_ENDED: "all of its pods have ended, and {workload} has not",
    Message.PODS_REPLACED: "other pods run in place of its own",
    Message.PODS_ELSEWHERE: "its pods run on nodes that it was not given",
    Message.POD_DELETED: "a pod of the group was deleted before it could start",
    Message.TEMPLATE_DIFFERS: "its pods ask for something else than their template said",
    Message.STALLED: "not all of its pods were placed, and there was no progress for {seconds} s",
    Message.GANG_INCOMPLETE: "it runs without {missing} of its {need} pods, "
    "which wait for capacity",
    Message.TIME_LOST: "its time was over before it could start",
    Message.NODE_GONE: "node {node} is gone",
    Message.NODE_CLOSED: "node {node} was closed",
    Message.NODE_RELABELLED: "node {node} has other labels or taints now",
    Message.NODE_SHRANK: "node {node} has less capacity now",
    Message.NODE_OVERCOMMITTED: "other pods took capacity on node {node}",
    Message.NO_OTHER_NODE: "{reason}, and no other node has capacity",
    Message.CAPACITY_TAKEN: "other pods took its capacity on node {node}",
    Message.REFUSED: "refused: {reason}",
    Message.NO_PINS: "{reason}; this system promises times, not nodes: "
    "Submit the job to its queue instead",
    Message.PROMISED_NOT_NOW: "the free resources are promised to other jobs",
    Message.NO_ROOM_AT_ONCE: "it could not start at once",
    Message.CALLER_UNANSWERED: "the scheduler restarted before it was decided",
    Message.CALLER_LEFT: "its caller left before the answer",
    Message.LEASE_EXPIRED: "neither renewed nor used for {seconds} s",
    Message.FINISHED_BY_CALLER: "finished",
    Message.FAILED_BY_CALLER: "failed",
    Message.MATCHED: "matched",
    Message.ROUGH_ESTIMATE: "rough estimate: the queue is too long to simulate in full; "
    "the start may be much earlier",
    Message.ALTERED: "{changes}",
    Message.ALTERED_REQUEST: "it asks for something else",
    Message.ALTERED_PLAN: "it was changed",
    Message.WALLTIME_SET: "walltime {walltime} s",
    Message.HAS_RUN_LONGER: "it has already run for {seconds} s",
    Message.MORE_TIME_DELAYS: "more time would delay jobs that were promised a start",
    Message.KUBERNETES_ENDS_IT: "activeDeadlineSeconds of {object} ends it after {seconds} s",
    Message.RESIZED: "holds {after} after {before}",
    Message.TASKS_MOVED: "tasks were moved: {moves}",
    Message.QUEUE_STARTS: "the queue starts",
    Message.OTHER_KIND_CAME: "jobs of another kind came",
    Message.OTHER_KIND_LEFT: "jobs of another kind left",
    Message.COUNTABLE_AGAIN: "units can be counted again",
    Message.COUNTING_FELL_SHORT: "counting was not enough",
    Message.ADOPTED_JOB: "{job} was found running",
    Message.GROUP_SHRANK: "a group shrank by a part of a unit",
    Message.CLUSTER_CHANGED: "the cluster changed",
    Message.NODES_LOST: "nodes were lost: {nodes}",
    Message.NODES_BACK: "nodes came back",
    Message.NODES_CLOSED: "nodes were closed: {nodes}",
    Message.NODES_OPENED: "nodes were opened",
    Message.FOREIGN_MORE: "others took capacity on {nodes}",
    Message.FOREIGN_LESS: "others released capacity",
    Message.OVERRAN: "{jobs} overran its walltime",
    Message.NOT_FREE_WHEN_DUE: "its capacity was not free when it was due",
    Message.ORDERED_BEFORE: "{job} is ordered before it",
    Message.MAINTENANCE: "maintenance window {name}",
    Message.RESERVATION: "advance reservation {name}",
    Message.RESERVATION_REFUSED: "an advance reservation was refused",
    Message.WINDOW_OVER: "window {name} is over",
    Message.WINDOW_REMOVED: "window {name} was removed",
}


class ReasonText:
    """Renders reasons in the units of the queue: plain numbers, seconds, job numbers."""

    templates: ClassVar[Mapping[Message, str]] = TEMPLATES

    def render(self, reason: Reason | None) -> str:
        """A reason in words; empty where there is none."""
        if reason is None:
            return ""
        values: dict[str, str] = {}
        for name, value in reason.args:
            values[name] = self.named(name, value)
            if isinstance(value, Amount | ResourceHours):
                values[f"{name}_value"] = self.value_alone(value)
        return self.template(reason).format_map(values)

    def template(self, reason: Reason) -> str:
        return self.templates[reason.message]

    def named(self, name: str, value: Argument) -> str:
        """An argument in words, by its name in the message."""
        if name == "jobs" and isinstance(value, tuple):  # earlier versions stored plain numbers
            value = tuple(JobRef(each) if isinstance(each, int) else each for each in value)
        return self.argument(value, "; " if name == "reasons" else ", ")

    def argument(self, value: Argument, separator: str = ", ") -> str:
        """One argument in words."""
        match value:
            case Amount():
                return self.amount(value)
            case ResourceHours():
                return self.hours(value)
            case Moment():
                return self.moment(value.at)
            case JobRef():
                return self.job(value.id)
            case Reason():
                return self.render(value)
            case tuple():
                return self.several(value, separator)
            case _:
                return str(value)

    def several(self, values: tuple[Argument, ...], separator: str) -> str:
        return separator.join(filter(None, (self.argument(each) for each in values)))

    def amount(self, amount: Amount) -> str:
        at_least = "at least " if amount.at_least else ""
        return f"{at_least}{amount.value} {amount.type}"

    def hours(self, hours: ResourceHours) -> str:
        return f"{hours.value:.1f} {hours.type}-hours"

    def value_alone(self, amount: Amount | ResourceHours) -> str:
        """An amount whose type was said before."""
        if isinstance(amount, ResourceHours):
            return f"{amount.value:.1f}"
        return str(amount.value)

    def moment(self, at: int) -> str:
        return str(at)

    def job(self, id: int) -> str:
        return f"job {id}"


_QUEUE_UNITS = ReasonText()


def reason_text(reason: Reason | None) -> str:
    """A reason in the units of the queue; empty where there is none."""
    return _QUEUE_UNITS.render(reason)
