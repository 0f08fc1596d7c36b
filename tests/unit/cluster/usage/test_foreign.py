"""What others hold is counted once, where it is, for as long as it is there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cluster.usage.foreign import ForeignUsage

ONE = (("cpu", 1000), ("pods", 1))


def test_what_a_pod_holds_counts_from_the_moment_it_is_seen_until_it_is_gone() -> None:
    foreign = ForeignUsage()
    foreign.put("a", "n1", ONE)
    assert foreign.take() == {"n1": {"cpu": 1000, "pods": 1}}
    foreign.drop("a")
    assert foreign.take() == {"n1": {"cpu": 0, "pods": 0}}


def test_pods_on_one_node_add_up() -> None:
    foreign = ForeignUsage()
    foreign.put("a", "n1", ONE)
    foreign.put("b", "n1", (("cpu", 500), ("memory", 64)))
    assert foreign.take() == {"n1": {"cpu": 1500, "pods": 1, "memory": 64}}


def test_a_pod_that_is_seen_twice_counts_once_and_is_no_news() -> None:
    foreign = ForeignUsage()
    foreign.put("a", "n1", ONE)
    foreign.take()
    foreign.put("a", "n1", ONE)
    assert foreign.take() == {}
    assert foreign.sums["n1"]["cpu"] == 1000


def test_a_pod_that_is_resized_counts_with_its_new_size_alone() -> None:
    foreign = ForeignUsage()
    foreign.put("a", "n1", ONE)
    foreign.put("a", "n1", (("cpu", 250),))
    assert foreign.take() == {"n1": {"cpu": 250, "pods": 0}}


def test_only_nodes_that_changed_are_reported() -> None:
    foreign = ForeignUsage()
    foreign.put("a", "n1", ONE)
    foreign.put("b", "n2", ONE)
    foreign.take()
    foreign.drop("b")
    assert list(foreign.take()) == ["n2"]


def test_a_node_that_came_after_its_pods_counts_them() -> None:
    foreign = ForeignUsage()
    foreign.put("a", "n1", ONE)
    foreign.take()
    foreign.touch("n1")
    foreign.touch("n2")
    assert foreign.take() == {"n1": {"cpu": 1000, "pods": 1}}


def test_new_pools_are_reported_everywhere() -> None:
    foreign = ForeignUsage()
    foreign.put("a", "n1", ONE)
    foreign.put("b", "n2", ONE)
    foreign.take()
    foreign.touch_all()
    assert foreign.take().keys() == {"n1", "n2"}


def test_dropping_an_unknown_pod_does_nothing() -> None:
    foreign = ForeignUsage()
    foreign.drop("a")
    assert foreign.take() == {}


def test_what_is_taken_is_a_copy() -> None:
    foreign = ForeignUsage()
    foreign.put("a", "n1", ONE)
    foreign.take()["n1"]["cpu"] = 7
    assert foreign.sums["n1"]["cpu"] == 1000


_step = st.tuples(
    st.sampled_from("abc"),
    st.sampled_from(["n1", "n2", ""]),
    st.dictionaries(st.sampled_from(["cpu", "pods"]), st.integers(1, 4), min_size=1),
)


@given(st.lists(_step))
def test_sums_are_those_of_the_pods_that_are_there(
    steps: list[tuple[str, str, dict[str, int]]],
) -> None:
    foreign, there = ForeignUsage(), dict[str, tuple[str, dict[str, int]]]()
    taken: dict[str, dict[str, int]] = {}
    for uid, node, amounts in steps:
        if node:
            foreign.put(uid, node, tuple(sorted(amounts.items())))
            there[uid] = (node, amounts)
        else:
            foreign.drop(uid)
            there.pop(uid, None)
        taken |= foreign.take()
        for name in ("n1", "n2"):
            for type in ("cpu", "pods"):
                held = sum(a.get(type, 0) for where, a in there.values() if where == name)
                assert taken.get(name, {}).get(type, 0) == held
