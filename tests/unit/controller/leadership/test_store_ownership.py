"""A controller goes on with the queue of its own cluster, and with no other."""

from __future__ import annotations

import pytest

from fluxnetes.cluster.node_graph import NodeGraph
from fluxnetes.controller.leadership.recovery import check_cluster
from fluxnetes.store.errors import StoreRefused
from fluxnetes.store.system import StoredSystem
from tests.unit.store.systems import read_back


def stored_by(uid: str) -> StoredSystem:
    """A stored system of a cluster with this uid."""
    return read_back(NodeGraph(uid=uid).graph)


def test_a_new_store_belongs_to_no_cluster() -> None:
    check_cluster(None, "ours")


def test_our_own_is_ours() -> None:
    check_cluster(stored_by("ours"), "ours")


def test_the_queue_of_another_cluster_is_left_alone() -> None:
    with pytest.raises(StoreRefused, match=r"another cluster \(theirs; this one is ours\)"):
        check_cluster(stored_by("theirs"), "ours")


def test_the_queue_of_a_service_is_left_alone() -> None:
    with pytest.raises(StoreRefused, match="that of `fluxnetes serve`, not of a cluster"):
        check_cluster(stored_by(""), "ours")
