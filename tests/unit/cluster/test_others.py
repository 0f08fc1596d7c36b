"""What others hold is counted once, where it is, for as long as it is there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cluster.usage.foreign import ForeignUsage

ONE = (("cpu", 1000), ("pods", 1))


def test_what_a_pod_holds_counts_from_the_moment_it_is_seen_until_it_is_gone() -> None:
    others = ForeignUsage()
    others.put("a", "n1", ONE)
    assert others.take() == {"n1": {"cpu": 1000, "pods": 1}}
    others.drop("a")
    assert others.take() == {"n1": {"cpu": 0, "pods": 0}}


def test_pods_on_one_node_add_up() -> None:
    others = ForeignUsage()
    others.put("a", "n1", ONE)
    others.put("b", "n1", (("cpu", 500), ("memory", 64)))
    assert others.take() == {"n1": {"cpu": 1500, "pods": 1, "memory": 64}}


def test_a_pod_that_is_seen_twice_counts_once_and_is_no_news() -> None:
    others = ForeignUsage()
    others.put("a", "n1", ONE)
    others.take()
    others.put("a", "n1", ONE)
    assert others.take() == {}
    assert others.sums["n1"]["cpu"] == 1000


def test_a_pod_that_is_resized_counts_with_its_new_size_alone() -> None:
    others = ForeignUsage()
    others.put("a", "n1", ONE)
    others.put("a", "n1", (("cpu", 250),))
    assert others.take() == {"n1": {"cpu": 250, "pods": 0}}


def test_only_nodes_that_changed_are_told() -> None:
    others = ForeignUsage()
    others.put("a", "n1", ONE)
    others.put("b", "n2", ONE)
    others.take()
    others.drop("b")
    assert list(others.take()) == ["n2"]


def test_a_node_that_came_after_its_pods_hears_of_them() -> None:
    others = ForeignUsage()
    others.put("a", "n1", ONE)
    others.take()
    others.touch("n1")
    others.touch("n2")
    assert others.take() == {"n1": {"cpu": 1000, "pods": 1}}


def test_new_pools_are_told_everywhere() -> None:
    others = ForeignUsage()
    others.put("a", "n1", ONE)
    others.put("b", "n2", ONE)
    others.take()
    others.touch_all()
    assert others.take().keys() == {"n1", "n2"}


def test_dropping_somebody_who_was_not_there_is_nothing() -> None:
    others = ForeignUsage()
    others.drop("a")
    assert others.take() == {}


def test_what_is_taken_is_a_copy() -> None:
    others = ForeignUsage()
    others.put("a", "n1", ONE)
    others.take()["n1"]["cpu"] = 7
    assert others.sums["n1"]["cpu"] == 1000


_step = st.tuples(
    st.sampled_from("abc"),
    st.sampled_from(["n1", "n2", ""]),
    st.dictionaries(st.sampled_from(["cpu", "pods"]), st.integers(1, 4), min_size=1),
)


@given(st.lists(_step))
def test_sums_are_those_of_the_pods_that_are_there(
    steps: list[tuple[str, str, dict[str, int]]],
) -> None:
    others, there = ForeignUsage(), dict[str, tuple[str, dict[str, int]]]()
    told: dict[str, dict[str, int]] = {}
    for uid, node, amounts in steps:
        if node:
            others.put(uid, node, tuple(sorted(amounts.items())))
            there[uid] = (node, amounts)
        else:
            others.drop(uid)
            there.pop(uid, None)
        told |= others.take()
        for name in ("n1", "n2"):
            for type in ("cpu", "pods"):
                held = sum(a.get(type, 0) for where, a in there.values() if where == name)
                assert told.get(name, {}).get(type, 0) == held
