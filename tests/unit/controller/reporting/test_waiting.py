"""Which waiting groups are reported next."""

from __future__ import annotations

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cluster.groups import GroupKey
from fluxnetes.controller.reporting.waiting import IN_TURN, WaitingGroups


def a_key(number: int) -> GroupKey:
    return GroupKey("Pod", "default", f"p{number}")


def waiting(count: int) -> WaitingGroups:
    groups = WaitingGroups()
    for number in range(count):
        groups.add(a_key(number), float(number))
    return groups


def test_all_have_their_turn() -> None:
    groups = waiting(3 * IN_TURN)
    seen = [key for _ in range(3) for key in groups.take_turn()]
    assert sorted(seen) == sorted(map(a_key, range(3 * IN_TURN)))


def test_the_first_in_line_are_reported_again_only_after_a_step_of_the_queue() -> None:
    groups, first = waiting(5), [a_key(3), a_key(1)]
    assert list(groups.take_first(1, first)) == first
    assert list(groups.take_first(1, first)) == []
    assert list(groups.take_first(2, first)) == first


def test_those_that_were_left_out_come_first_the_next_time() -> None:
    groups, first = waiting(5), [a_key(number) for number in range(5)]
    assert list(islice(groups.take_first(1, first), 2)) == first[:2]
    assert list(groups.take_first(2, first)) == [*first[2:], *first[:2]]


def test_what_changed_does_not_wait_for_its_turn_nor_keep_others_from_theirs() -> None:
    groups = waiting(3 * IN_TURN)
    late = [a_key(number) for number in range(2 * IN_TURN, 3 * IN_TURN)]
    for key in late:
        groups.changed(key)
    begin = list(islice(groups.take_turn(), 6))
    assert begin == [late[0], a_key(0), late[1], a_key(1), late[2], a_key(2)]


def test_groups_that_wait_no_longer_are_not_reported() -> None:
    groups = waiting(3)
    groups.changed(a_key(1))
    groups.remove(a_key(1))
    groups.changed(a_key(1))
    assert list(groups.take_first(1, [a_key(1), a_key(2)])) == [a_key(2)]
    assert a_key(1) not in list(groups.take_turn())


_numbers = st.integers(0, 12)


@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "remove", "changed", "first", "turn"]), _numbers),
        max_size=60,
    )
)
def test_whatever_happens_only_waiting_groups_are_reported_each_once_per_turn(
    steps: list[tuple[str, int]],
) -> None:
    groups, present = WaitingGroups(), set[GroupKey]()
    for at, (what, number) in enumerate(steps):
        key = a_key(number)
        match what:
            case "add":
                groups.add(key, float(at))
                present.add(key)
            case "remove":
                groups.remove(key)
                present.discard(key)
            case "changed":
                groups.changed(key)
            case "first":
                seen = list(groups.take_first(at, [key, a_key(number + 1)]))
                assert set(seen) <= present and len(seen) == len(set(seen))
            case _:
                seen = list(groups.take_turn())
                assert set(seen) == present and len(seen) == len(set(seen))
