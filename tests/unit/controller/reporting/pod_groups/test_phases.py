"""The status of a PodGroup of scheduler-plugins says how far its pods are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from fluxnetes.controller.reporting.pod_groups.plugins import phase, plugins_status
from fluxnetes.controller.reporting.pod_groups.view import PodGroupView
from fluxnetes.kube.objects.podgroups import PodGroup, PodGroupStatus
from fluxnetes.queue.states import JobState
from tests.unit.cluster.builders import a_pod_group

S = JobState


def seen(state: JobState | None = None, **counts: Any) -> PodGroupView:
    return PodGroupView(state, **counts)


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (seen(), "Pending"),
        (seen(pods=1, live=1), "Pending"),
        (seen(S.GATHERING, pods=1, live=1), "Pending"),
        (seen(S.PENDING), "Pending"),  # a Job that is suspended until it starts
        (seen(S.PENDING, pods=3, live=3), "PreScheduling"),
        (seen(S.HELD, pods=3, live=3), "PreScheduling"),
        (seen(S.ALLOCATED, pods=3, live=3, bound=1), "Scheduling"),
        (seen(S.ALLOCATED, pods=3, live=3, bound=3, running=1), "Scheduled"),
        (seen(S.RUNNING, pods=3, live=3, bound=3, running=3), "Running"),
        (seen(S.RUNNING, pods=3, live=2, bound=3, running=2, succeeded=1), "Running"),
        (seen(S.RUNNING, pods=4, live=3, bound=3, running=2, failed=1), "Unknown"),
        (seen(S.RUNNING, pods=2, live=2, bound=2, running=2), "Unknown"),
        (seen(S.COMPLETED, pods=4, bound=4, succeeded=3, failed=1), "Finished"),
        (seen(S.FAILED, pods=3, bound=3, succeeded=2, failed=1), "Failed"),
        (seen(S.TIMED_OUT, pods=3, bound=3, failed=3), "Failed"),
        (seen(S.CANCELLED, pods=3, bound=3, succeeded=3), "Finished"),
        (seen(S.CANCELLED), "Pending"),
        (seen(S.REJECTED, pods=3, live=3), "Pending"),
        (seen(None, pods=3, bound=3, succeeded=3), "Finished"),
        (seen(None, pods=3, bound=3, succeeded=2, failed=1), "Failed"),
    ],
)
def test_the_phase_follows_from_the_pods_and_from_their_job(
    view: PodGroupView, expected: str
) -> None:
    assert phase(view, least=3) == expected


def applied(group: PodGroup, view: PodGroupView) -> PodGroup:
    """The PodGroup after its status was written."""
    patch = plugins_status(group, view)
    assert patch is not None and patch.content["metadata"] == {"uid": group.metadata.uid}
    before = msgspec.to_builtins(group.status)
    status = msgspec.convert({**before, **patch.content["status"]}, PodGroupStatus)
    return msgspec.structs.replace(group, status=status)


def test_counts_owners_and_the_time_of_the_start_are_written() -> None:
    view = seen(S.RUNNING, pods=3, live=3, bound=3, running=3, since=60, owners=("a/x", "a/y"))
    assert applied(a_pod_group("g", 3), view).status == PodGroupStatus(
        phase="Running",
        occupied_by="a/x,a/y",
        scheduled=3,
        running=3,
        schedule_start_time=datetime.fromtimestamp(60, UTC),
    )


def test_what_is_so_already_is_not_written() -> None:
    view = seen(S.RUNNING, pods=3, live=3, bound=3, running=3, since=60, owners=("a/x",))
    assert plugins_status(applied(a_pod_group("g", 3), view), view) is None


def test_a_count_that_newer_definitions_drop_is_not_written_for_ever() -> None:
    view = seen(S.RUNNING, pods=3, live=3, bound=3, running=3)
    written = applied(a_pod_group("g", 3), view)
    pruned = msgspec.structs.replace(written.status, scheduled=0)
    assert plugins_status(msgspec.structs.replace(written, status=pruned), view) is None


def test_the_end_stays_after_the_pods_are_deleted_until_there_are_others() -> None:
    ended = applied(a_pod_group("g", 3), seen(S.COMPLETED, pods=3, bound=3, succeeded=3))
    assert plugins_status(ended, seen()) is None
    again = applied(ended, seen(S.PENDING, pods=3, live=3))
    assert (again.status.phase, again.status.succeeded) == ("PreScheduling", 0)


def test_pods_that_are_deleted_before_their_end_leave_it_pending() -> None:
    running = applied(a_pod_group("g", 3), seen(S.RUNNING, pods=3, live=3, bound=3, running=3))
    assert applied(running, seen()).status.phase == "Pending"
