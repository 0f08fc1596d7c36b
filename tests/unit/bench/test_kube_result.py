"""What `bench/kube` makes of what was seen."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.kube_costs import Costs
from bench.kube_result import CPUS, Pods, Result, Wrong, median, result

FREE = (Costs(0, 0), Costs(0, 0))


def seen(pods: int, node: str = "n0") -> Pods:
    """Pods made one a second from 100 on, each bound half a second later."""
    return {f"p{n}": (node, 100.0 + n, 100.5 + n) for n in range(pods)}


def found(seconds: float, writes: int = 20) -> Result:
    return Result(10, seconds, seconds / 2, seconds, {"POST pods/binding": writes}, *FREE)


def test_the_clock_runs_from_the_beginning_to_the_last_bind() -> None:
    assert result(seen(5), 99.0, Counter(), FREE).seconds == 5.5


def test_a_pod_that_was_there_before_waits_from_the_beginning() -> None:
    made_before = result(
        {"a": ("n0", 10.0, 101.0), "b": ("n0", 11.0, 101.0)}, 100.0, Counter(), FREE
    )
    assert made_before.p50 == 1.0


def test_a_pod_that_comes_later_waits_from_when_it_came() -> None:
    assert result(seen(5), 99.0, Counter(), FREE).p99 == 0.5


def test_a_pod_without_a_node_is_no_result() -> None:
    with pytest.raises(Wrong, match="1 of 3 pods got no node"):
        result({**seen(2), "late": (None, 100.0, None)}, 99.0, Counter(), FREE)


def test_a_node_with_too_many_pods_is_no_result() -> None:
    with pytest.raises(Wrong, match=f"n0 got {CPUS + 1} pods"):
        result(seen(CPUS + 1), 99.0, Counter(), FREE)


def test_medians_are_of_each_figure() -> None:
    middle = median([found(1.0, 30), found(9.0, 20), found(2.0, 21)])
    assert (middle.seconds, middle.writes_a_pod, middle.rate) == (2.0, 2.1, 5.0)
