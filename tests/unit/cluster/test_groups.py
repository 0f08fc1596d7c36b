"""Seats: each has one pod at most, and a pod has one seat at most."""

from __future__ import annotations

import pytest

from fluxnetes.cluster.groups import (
    LABELLED,
    POD,
    ClosedGroup,
    GroupKey,
    Member,
    WorkloadGroup,
    is_live,
)
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.cluster.pods.footprint import Footprint
from fluxnetes.common.reasons import Message, Reason
from fluxnetes.jobspec.constraint import Properties
from fluxnetes.match.gang.model import Shape
from tests.unit.cluster.builders import one_pod

SMALL = Footprint((("cpu", 1000), ("pods", 1)), "rule-a")
LARGE = Footprint((("cpu", 4000), ("pods", 1)), "rule-a")
KEY = GroupKey("Job", "default", "train", "u1")


def placed(*nodes: str, footprints: tuple[Footprint, ...] = ()) -> GroupPart:
    part = GroupPart(1, footprints or (SMALL,) * len(nodes))
    part.place(list(nodes), ())
    return part


# -- footprints ------------------------------------------------------------------------------------


def test_a_footprint_is_a_shape_of_the_queue_and_back() -> None:
    shape = SMALL.shape(3)
    assert shape == Shape(3, SMALL.amounts, Properties(("rule-a",)))
    assert Footprint.of(shape) == SMALL


# -- seats -----------------------------------------------------------------------------------------


def test_a_part_that_waits_has_no_seats() -> None:
    part = GroupPart(1, (SMALL,))
    assert not part.holds
    assert part.seats == 0
    assert not part.is_filled
    assert part.first_free(SMALL) is None
    assert not part.is_free(0, SMALL)


def test_seats_are_offered_in_order_and_by_footprint() -> None:
    part = placed("n1", "n1", "n2", footprints=(SMALL, SMALL, LARGE))
    assert part.first_free(SMALL) == 0
    part.take_seat(0, "a")
    assert part.first_free(SMALL) == 1
    assert part.first_free(LARGE) == 2
    assert part.first_free(Footprint((), "rule-b")) is None
    part.take_seat(1, "b")
    assert part.first_free(SMALL) is None


def test_a_seat_that_is_taken_by_its_number_is_not_offered_again() -> None:
    part = placed("n1", "n2")
    assert part.is_free(0, SMALL)
    part.take_seat(0, "a")
    assert not part.is_free(0, SMALL)
    assert part.first_free(SMALL) == 1


def test_a_seat_that_is_left_is_the_first_to_be_taken_again() -> None:
    part = placed("n1", "n2", "n3")
    for task, uid in enumerate("abc"):
        part.take_seat(task, uid)
        part.pod_bound(task)
    assert part.is_filled
    part.leave_seat(1)
    assert part.first_free(SMALL) == 1
    assert not part.is_filled


def test_a_seat_that_has_ended_is_not_free() -> None:
    part = GroupPart(1, (SMALL,) * 3)
    part.place(["n1", "n2", "n3"], {0})
    assert part.seats == 2
    assert part.first_free(SMALL) == 1
    assert not part.is_free(0, SMALL)


def test_a_part_is_filled_when_a_pod_is_bound_to_every_seat_that_is_not_over() -> None:
    part = placed("n1", "n2")
    part.take_seat(0, "a")
    part.pod_bound(0)
    assert not part.is_filled
    part.end_tasks([1])
    assert part.is_filled


def test_a_held_seat_that_is_taken_is_not_held_any_more() -> None:
    part = placed("n1")
    part.hold_seat(0, 60.0, ok=True)
    part.take_seat(0, "a")
    assert not part.held


def test_a_part_that_grew_offers_the_seats_that_are_new() -> None:
    part = placed("n1")
    part.take_seat(0, "a")
    part.place(["n1", "n2", "n3"], ())
    assert part.first_free(SMALL) == 1
    assert part.footprints == (SMALL,) * 3


def test_a_part_that_was_seated_anew_keeps_its_pods_on_their_seats() -> None:
    part = placed("n1", "n2")
    part.take_seat(0, "a")
    part.place(["n3", "n2"], ())
    assert part.pods == {0: "a"}
    assert part.nodes[0] == "n3"
    assert part.first_free(SMALL) == 1


def test_a_part_that_went_back_offers_nothing_and_can_be_placed_again() -> None:
    group, part = WorkloadGroup(KEY), placed("n1", "n2")
    group.add_part(part)
    group.take_seat("a", part, 0)
    part.start_return(Reason.from_text("why not"))
    group.requeue_part(part)
    assert not part.holds and not part.pods and not part.returning
    assert not group.seats
    assert group.waiting is part
    part.place(["n3"], ())
    assert part.first_free(SMALL) == 0


def test_binds_are_requested_once_in_order_and_again_only_for_pods_that_are_not_bound() -> None:
    part = placed("n1", "n2", "n3")
    for task in (2, 0, 1):
        part.take_seat(task, f"pod-{task}")
    assert part.take_binds() == [0, 1, 2]
    assert part.take_binds() == []
    part.pod_bound(1)
    part.retry_binds()
    assert part.take_binds() == [0, 2]


def test_released_seats_are_not_held_any_more_and_those_of_failed_pods_are_returned() -> None:
    part = placed("n1", "n2", "n3")
    part.hold_seat(0, 60.0, ok=True)
    part.hold_seat(1, 60.0, ok=False)
    assert part.release_seats([0, 1, 2]) == {1}
    assert not part.held


def test_a_part_that_is_returned_for_another_reason_keeps_its_retry_delay() -> None:
    part = placed("n1")
    gone = Reason.of(Message.NODE_GONE, node="n1")
    part.start_return(Reason.of(Message.STALLED, seconds="60"), retry_delay=60)
    part.start_return(gone)
    assert (part.returning, part.retry_delay) == (gone, 60)
    part.requeue()
    assert (part.returning, part.retry_delay) == (None, 0)


# -- groups ----------------------------------------------------------------------------------------


def test_taking_and_leaving_a_seat_changes_group_and_part() -> None:
    group, part = WorkloadGroup(KEY), placed("n1")
    group.add_part(part)
    group.take_seat("a", part, 0)
    assert group.seats == {"a": (part, 0)}
    group.leave_seat("a")
    assert not group.seats and not part.pods


def test_a_part_that_ends_takes_its_own_seats_alone_with_it() -> None:
    group, one, other = WorkloadGroup(KEY), placed("n1"), placed("n2")
    group.add_part(one)
    group.add_part(other)
    group.take_seat("a", one, 0)
    group.take_seat("b", other, 0)
    group.remove_part(one)
    assert group.parts == [other]
    assert list(group.seats) == ["b"]


def test_the_part_that_waits_is_found_beside_those_that_hold_something() -> None:
    group, waiting = WorkloadGroup(KEY), GroupPart(2, (SMALL,))
    group.add_part(placed("n1"))
    group.add_part(waiting)
    assert group.waiting is waiting


def test_a_group_is_gone_when_nothing_of_it_is_left_and_no_job_stands_for_it() -> None:
    group, part = WorkloadGroup(KEY), GroupPart(1, (SMALL,))
    assert group.is_gone
    group.add_part(part)
    assert not group.is_gone
    group.remove_part(part)
    group.pods["a"] = Member(one_pod())
    assert not group.is_gone


def test_workloads_and_pods_are_known_by_uid_too_and_label_groups_by_name() -> None:
    """Else a Job that is made anew would be taken for the one before it."""
    references = {
        GroupKey("Job", "default", "train", "u1"): "Job/default/train/u1",
        GroupKey(POD, "default", "solo", "u2"): "Pod/default/solo/u2",
        GroupKey(LABELLED, "default", "ring"): "Group/default/ring",
    }
    for key, reference in references.items():
        assert WorkloadGroup(key).reference == reference
        assert GroupKey.of(reference) == key


def test_keys_read_as_in_kubectl() -> None:
    assert str(KEY) == "job default/train"


@pytest.mark.parametrize(
    ("closed", "expected"),
    [
        (None, {"old": False, "new": False}),
        (ClosedGroup(frozenset({"old"}), for_good=False), {"old": True, "new": False}),
        (ClosedGroup(frozenset({"old"}), for_good=True), {"old": True, "new": True}),
    ],
)
def test_what_was_there_when_a_group_was_closed_is_not_queued_again(
    closed: ClosedGroup | None, expected: dict[str, bool]
) -> None:
    group = WorkloadGroup(KEY, closed=closed)
    assert {uid: group.is_closed_to(uid) for uid in expected} == expected


@pytest.mark.parametrize(
    ("phase", "going", "live"),
    [
        ("Pending", False, True),
        ("Running", False, True),
        ("Unknown", False, True),
        ("Running", True, False),
        ("Succeeded", False, False),
        ("Failed", False, False),
    ],
)
def test_a_pod_lives_until_it_ends_or_is_deleted(phase: str, going: bool, live: bool) -> None:
    assert is_live(one_pod(phase=phase, going=going)) == live
