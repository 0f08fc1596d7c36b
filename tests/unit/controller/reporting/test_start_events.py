"""Which events a waiting group gets, and how many."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cluster.groups import GroupKey
from fluxnetes.common.reasons import ReasonCode
from fluxnetes.controller.reporting.start_events import StartEventLimits, StartEvents, WaitNews

KEY = GroupKey("Job", "default", "train", "u1")
FREE = StartEventLimits(why_again=0.0, start_again=0.0)


def tell(
    events: StartEvents,
    code: ReasonCode = ReasonCode.RESOURCES,
    start: int | None = None,
    *,
    clock: float = 0.0,
    objects: int = 1,
    key: GroupKey = KEY,
) -> list[tuple[WaitNews, int | None]]:
    return list(events.news(key, code, start, clock=clock, objects=objects))


def test_a_promise_is_told_when_it_is_made_moved_and_lost() -> None:
    events = StartEvents(FREE)
    assert tell(events) == [(WaitNews.WHY, None)]
    assert tell(events, start=100) == [(WaitNews.PLANNED, None)]
    assert tell(events, start=100) == []
    assert tell(events, start=200) == [(WaitNews.MOVED, 100)]
    assert tell(events) == [(WaitNews.LOST, 200)]
    assert tell(events, ReasonCode.HELD) == [(WaitNews.WHY, None)]


def test_what_is_held_back_is_told_later_if_it_still_holds() -> None:
    events = StartEvents(StartEventLimits(start_again=30.0))
    tell(events, start=100)
    assert tell(events, start=200, clock=10) == []
    assert tell(events, start=300, clock=31) == [(WaitNews.MOVED, 100)]
    assert tell(events, start=400, clock=40) == []
    assert tell(events, start=300, clock=70) == [], "it moved back before it was told"


def test_a_group_that_waits_again_is_told_again() -> None:
    events = StartEvents()
    tell(events, start=100)
    events.forget(KEY)
    assert tell(events, start=100) == [(WaitNews.WHY, None), (WaitNews.PLANNED, None)]


def test_groups_share_a_limit_and_all_are_told_in_the_end() -> None:
    events = StartEvents(StartEventLimits(a_second=10.0, burst=20.0))
    keys = [GroupKey("Job", "default", f"j{number}") for number in range(50)]
    told = [key for key in keys if tell(events, key=key)]
    assert len(told) == 20
    for second in range(1, 10):
        told += [key for key in keys if tell(events, key=key, clock=float(second))]
    assert sorted(told) == sorted(keys)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([ReasonCode.RESOURCES, ReasonCode.PROMISED, ReasonCode.HELD]),
            st.none() | st.integers(1, 4),
            st.floats(0.1, 40.0),
        ),
        min_size=1,
        max_size=80,
    )
)
def test_a_group_is_told_the_truth_and_not_too_often(
    moments: list[tuple[ReasonCode, int | None, float]],
) -> None:
    events, clock = StartEvents(), 0.0
    last: dict[bool, float] = {}
    believed: int | None = None
    for code, start, passed in moments:
        clock += passed
        for what, before in tell(events, code, start, clock=clock):
            is_why = what is WaitNews.WHY
            least = 60.0 if is_why else 30.0
            assert clock - last.get(is_why, float("-inf")) >= least
            last[is_why] = clock
            if not is_why:
                assert before == believed and start != believed
                believed = start
    clock += 61.0
    tell(events, code, start, clock=clock)
    assert tell(events, code, start, clock=clock + 61.0) == [], "nothing is left to be told"
