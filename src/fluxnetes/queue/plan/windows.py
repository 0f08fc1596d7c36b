"""Manages windows: nodes set aside for a time.

During a *maintenance window* no job runs on its nodes: jobs that would run into it wait or start on
other nodes. An *advance reservation* is for some users and namespaces, whose jobs run in it if they
name it. Both are whole nodes, chosen when the window is made. Setting a maintenance window may move
promises; an advance reservation may not, and is refused where it would.
"""

from __future__ import annotations

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.jobspec.build import jobspec, node, slot
from fluxnetes.jobspec.constraint import Hostlist
from fluxnetes.queue.changes import NodeWindow
from fluxnetes.queue.core import QueueCore
from fluxnetes.queue.errors import QueueRefused
from fluxnetes.queue.events import Maintain, Reserve
from fluxnetes.queue.jobs import QueueJob, Submission
from fluxnetes.queue.plan.builder import PlanBuilder


class WindowHandlers:
    """Sets and removes windows."""

    def __init__(self, core: QueueCore, plan_builder: PlanBuilder) -> None:
        self._core = core
        self._builder = plan_builder

    def maintain(self, event: Maintain, now: int) -> None:
        self._check(event.name, event.start, event.end, now)
        planning = self._core.planning
        nodes = planning.nodes.allowed(event.nodes)
        if not len(nodes):
            raise QueueRefused(f"maintenance window {event.name}: its constraint matches no node")
        names = tuple(planning.nodes.names(nodes))
        window = NodeWindow(event.name, max(event.start, now), event.end, names, event.nodes)
        self._core.set_window(window)
        self._core.request_relayout(Reason.of(Message.MAINTENANCE, name=event.name), main=True)

    def reserve(self, event: Reserve, now: int) -> None:
        self._check(event.name, event.start, event.end, now)
        core = self._core
        # Promises need witnesses before nodes beside them can be searched for.
        self._builder.rebuild(now, Reason.of(Message.RESERVATION, name=event.name), by_vertex=True)
        wanted = jobspec(slot(event.count, node(1)), constraint=event.nodes)
        start = max(event.start, now)
        find = core.planning.find_now if start == now else core.planning.find_later
        found = find(wanted, start, event.end)
        if found is None:
            core.request_relayout(Reason.of(Message.RESERVATION_REFUSED), main=True)
            raise QueueRefused(
                f"advance reservation {event.name}: {event.count} nodes are not free of jobs and "
                f"promises from {start} to {event.end}"
            )
        nodes = found.held.position[found.held.exclusive]
        window = NodeWindow(
            event.name,
            start,
            event.end,
            tuple(core.planning.nodes.names(nodes)),
            event.nodes,
            event.users,
            event.namespaces,
            maintenance=False,
        )
        self._core.set_window(window)
        core.request_relayout(Reason.of(Message.RESERVATION, name=event.name), main=True)

    def remove(self, name: str) -> None:
        if name not in self._core.windows:
            raise QueueRefused(f"there is no window {name}")
        self._core.remove_window(name)
        self._core.request_relayout(Reason.of(Message.WINDOW_REMOVED, name=name))

    def _check(self, name: str, start: int, end: int, now: int) -> None:
        if name in self._core.windows:
            raise QueueRefused(f"window {name} already exists")
        if not start < end or end <= now:
            raise QueueRefused(f"window {name}: {start} to {end} is empty or in the past")

    # -- access to reservations ----------------------------------------------------------------

    def refuses(self, job: QueueJob) -> Reason | None:
        """Why a job may not run in the reservation it names; None if it may or names none."""
        submission = job.submission
        name = submission.reservation
        if name is None:
            return None
        window = self._core.windows.get(name)
        if window is None or window.maintenance:
            return Reason.of(Message.NO_SUCH_RESERVATION, name=name)
        if submission.user in window.users or submission.namespace in window.namespaces:
            return _too_long(job, window)
        return Reason.of(
            Message.RESERVATION_NOT_FOR,
            name=name,
            namespace=submission.namespace,
            user=submission.user,
        )

    def constraint(self, submission: Submission) -> Hostlist | None:
        """The nodes of the reservation that a job names."""
        window = self._core.windows.get(submission.reservation or "")
        return None if window is None else Hostlist(frozenset(window.nodes))


def _too_long(job: QueueJob, window: NodeWindow) -> Reason | None:
    """Why a job does not fit into what is left of a reservation; None if it does."""
    left = window.end - max(job.submitted, window.start)
    if job.walltime is not None and job.walltime <= left:
        return None
    asked = "no walltime" if job.walltime is None else f"a walltime of {job.walltime} s"
    return Reason.of(Message.RESERVATION_SHORT, asked=asked, name=window.name, left=left)
