"""What pools had before they shrank counts for the pods that were there."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from fluxnetes.cluster.shrunken_pools import ANY_SIZE, EarlierSize, ShrunkenPools, bound_at
from fluxnetes.kube.objects.pods import Pod
from tests.unit.cluster.builders import one_pod

DROP = 1_800_000_000
"""When the pool shrank."""


def bound(at: int) -> Pod:
    """A pod that was bound at some time."""
    time = datetime.fromtimestamp(at, UTC).isoformat()
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": time}
    content = msgspec.to_builtins(one_pod("p", node="n1"))
    return msgspec.convert({**content, "status": {"conditions": [scheduled]}}, Pod)


def shrunken(*earlier: EarlierSize) -> ShrunkenPools:
    pools = ShrunkenPools()
    for each in earlier:
        pools.shrank("n1", "gpu", each)
    return pools


def test_pods_that_were_there_are_compared_with_what_there_was() -> None:
    pools = shrunken(EarlierSize(8, DROP, frozenset("ab")))
    assert pools.largest("n1", "gpu", 7, {"a": None, "b": None}) == 8
    assert pools.largest("n1", "gpu", 7, {"a": None}) == 8


def test_with_a_pod_that_came_later_only_what_is_left_counts() -> None:
    pools = shrunken(EarlierSize(8, DROP, frozenset("ab")))
    assert pools.largest("n1", "gpu", 7, {"a": None, "c": bound(DROP + 1)}) == 7


def test_each_time_that_a_pool_shrinks_counts_for_the_pods_of_that_time() -> None:
    pools = shrunken(EarlierSize(8, DROP, frozenset("a")), EarlierSize(6, DROP, frozenset("ab")))
    assert pools.largest("n1", "gpu", 3, {"a": None}) == 8
    assert pools.largest("n1", "gpu", 3, {"a": None, "b": None}) == 6


def test_a_pool_that_has_as_much_again_has_no_past() -> None:
    pools = shrunken(EarlierSize(8, DROP, frozenset("a")))
    pools.grew("n1", "gpu", 7)
    assert ("n1", "gpu") in pools
    pools.grew("n1", "gpu", 8)
    assert not pools


def test_a_pool_that_shrinks_slowly_is_remembered_once() -> None:
    pools = shrunken(*(EarlierSize(8 - n, DROP + n, frozenset("ab")) for n in range(5)))
    assert pools.text("n1", "gpu") == f"8@{DROP}"


def test_what_is_stored_counts_for_the_pods_that_were_bound_by_then() -> None:
    stored = shrunken(EarlierSize(8, DROP, frozenset("a")), EarlierSize(ANY_SIZE, DROP - 5))
    pools = ShrunkenPools()
    pools.restore("n1", "gpu", stored.text("n1", "gpu"))
    assert pools.largest("n1", "gpu", 7, {"a": bound(DROP - 9)}) == ANY_SIZE
    assert pools.largest("n1", "gpu", 7, {"a": bound(DROP - 1)}) == 8
    assert pools.largest("n1", "gpu", 7, {"a": bound(DROP + 1)}) == 7


def test_a_pod_without_times_was_bound_at_an_unknown_time() -> None:
    assert bound_at(one_pod("p")) is None
    assert bound_at(None) is None
