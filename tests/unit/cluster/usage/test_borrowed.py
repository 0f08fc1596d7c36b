"""Pods on the share of a caller count once, and a pod that only claims one gains nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cluster.labels.names import ALLOCATION, JOBID
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import NodeGraph
from fluxnetes.cluster.usage.borrowed import BorrowedUsage, named_by
from fluxnetes.kube.objects.pods import Pod
from tests.property.profile import examples
from tests.unit.cluster.builders import OTHERS, changed, one_pod

SHARE = {"n1": {"cpu": 4000, "memory": 1024, "pods": 4, "tenancy": 4}}


def borrower(
    name: str = "g",
    job: int | str | None = 7,
    *,
    cpu: str = "2",
    node: str = "n1",
    memory: str = "",
) -> Pod:
    """A pod of another scheduler that says whose share it uses."""
    said = {} if job is None else {ALLOCATION: str(job)}
    asked = {"cpu": cpu} | ({"memory": memory} if memory else {})
    containers = [{"name": "app", "resources": {"requests": asked}}]
    return one_pod(name, node=node, scheduler=OTHERS, annotations=said, containers=containers)


class Ledger:
    """A model in which pods come and go, and the foreign usage that it counts."""

    def __init__(self, share: dict[str, dict[str, int]] | None = None) -> None:
        self.model = ClusterModel(NodeGraph())
        if share is not None:
            self.model.lend(7, share)

    def put(self, *pods: Pod) -> Ledger:
        for pod in pods:
            self.model.put_pod(pod)
        return self

    def foreign(self, type: str = "cpu", node: str = "n1") -> int:
        return self.model.foreign.sums.get(node, {}).get(type, 0)


# -- one share -----------------------------------------------------------------------------------


def test_a_pod_on_its_share_counts_once() -> None:
    ledger = Ledger(SHARE).put(borrower())
    assert ledger.foreign() == ledger.foreign("pods") == ledger.foreign("tenancy") == 0
    assert ledger.model.borrowers(7) == 1


def test_fluxqueues_label_says_the_same() -> None:
    pod = one_pod("g", node="n1", scheduler=OTHERS, labels={JOBID: "7"})
    assert named_by(pod) == 7


@pytest.mark.parametrize("said", ["", "x", "-7", "7.0", " 7", "\u0667", "9" * 30])
def test_what_is_no_number_names_no_job(said: str) -> None:
    assert named_by(borrower(job=said)) is None
    assert Ledger(SHARE).put(borrower(job=said)).foreign() == 2000


def test_pods_beyond_the_share_count_as_others() -> None:
    ledger = Ledger(SHARE).put(borrower("a"), borrower("b"), borrower("c"))
    assert ledger.foreign() == 2000


def test_of_a_pod_that_goes_beyond_only_what_does_counts() -> None:
    ledger = Ledger(SHARE).put(borrower("a", cpu="5", memory="3Gi"))
    assert ledger.foreign("cpu") == 1000
    assert ledger.foreign("memory") == 2048
    assert ledger.foreign("pods") == 0
    assert ledger.model.borrowers(7) == 1


def test_what_the_share_has_nothing_of_counts() -> None:
    share = {"n1": {"cpu": 4000, "pods": 1, "tenancy": 1}}
    ledger = Ledger(share).put(borrower(memory="64Mi"))
    assert (ledger.foreign("cpu"), ledger.foreign("memory")) == (0, 64)


def test_a_share_on_one_node_covers_nothing_on_another() -> None:
    ledger = Ledger(SHARE).put(borrower(node="n2"))
    assert (ledger.foreign(node="n2"), ledger.model.borrowers(7)) == (2000, 0)


def test_an_unknown_number_gains_nothing() -> None:
    ledger = Ledger(SHARE).put(borrower(job=8))
    assert (ledger.foreign(), ledger.model.borrowers(8)) == (2000, 0)


def test_a_pod_that_is_seen_again_counts_as_before() -> None:
    ledger = Ledger(SHARE).put(borrower("a"), borrower("a"), borrower("a"), borrower("b"))
    assert (ledger.foreign(), ledger.model.borrowers(7)) == (0, 2)


# -- coming and going ----------------------------------------------------------------------------


def test_a_share_that_comes_after_its_pods_covers_them() -> None:
    ledger = Ledger().put(borrower())
    assert ledger.foreign() == 2000
    ledger.model.lend(7, SHARE)
    assert (ledger.foreign(), ledger.model.borrowers(7)) == (0, 1)


def test_when_a_share_goes_its_pods_are_others() -> None:
    ledger = Ledger(SHARE).put(borrower("a"), borrower("b"))
    ledger.model.lend(7, None)
    assert (ledger.foreign(), ledger.foreign("pods"), ledger.model.borrowers(7)) == (4000, 2, 0)


def test_when_a_share_becomes_smaller_what_goes_beyond_counts() -> None:
    ledger = Ledger(SHARE).put(borrower("a"), borrower("b"))
    ledger.model.lend(7, {"n1": {"cpu": 3000, "pods": 1, "tenancy": 4}})
    assert (ledger.foreign(), ledger.foreign("pods")) == (1000, 1)


@pytest.mark.parametrize("how", ["deleted", "over", "renamed", "moved"])
def test_when_a_pod_leaves_the_share_who_was_beyond_is_covered(how: str) -> None:
    ledger = Ledger(SHARE).put(borrower("a", cpu="4"), borrower("b", cpu="4"))
    assert ledger.foreign() == 4000
    first = borrower("a", cpu="4")
    if how == "deleted":
        ledger.model.drop_pod(first)
    elif how == "over":
        ledger.put(changed(first, status={"phase": "Succeeded"}))
    elif how == "renamed":
        ledger.put(borrower("a", 8, cpu="4"))
    else:
        ledger.put(borrower("a", cpu="4", node="n2"))
    assert ledger.foreign() == (4000 if how == "renamed" else 0)
    assert ledger.model.borrowers(7) == 1


def test_when_a_pod_becomes_smaller_others_have_more_of_the_share() -> None:
    ledger = Ledger(SHARE).put(borrower("a", cpu="4"), borrower("b", cpu="2"))
    assert ledger.foreign() == 2000
    ledger.put(borrower("a", cpu="1"))
    assert ledger.foreign() == 0


def test_nothing_is_kept_of_pods_that_are_gone() -> None:
    borrowed = BorrowedUsage()
    borrowed.lend(7, SHARE)
    for name in ("a", "b", "c"):
        pod = borrower(name)
        borrowed.beyond(pod, (("cpu", 2000), ("pods", 1)))
        borrowed.drop(pod.metadata.uid)
        borrowed.drop(pod.metadata.uid)
    borrowed.lend(7, None)
    assert borrowed == BorrowedUsage()


# -- whatever happens ----------------------------------------------------------------------------

_shares = st.one_of(
    st.none(),
    st.dictionaries(
        st.sampled_from(["n1", "n2"]),
        st.dictionaries(st.sampled_from(["cpu", "pods", "tenancy"]), st.integers(0, 4000)),
    ),
)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("lend"), st.sampled_from([7, 8]), _shares),
        st.tuples(
            st.just("put"),
            st.sampled_from("abcde"),
            st.tuples(
                st.sampled_from([7, 8, 9, None]), st.sampled_from(["n1", "n2"]), st.integers(1, 3)
            ),
        ),
        st.tuples(st.just("drop"), st.sampled_from("abcde"), st.none()),
    ),
    max_size=30,
)


@examples(300)
@given(_steps)
def test_what_is_covered_of_a_job_on_a_node_never_exceeds_its_share(steps: list[Any]) -> None:
    """And nothing that could be covered is not: what pods hold, less what others are counted with,
    is of each type the whole share or all that the pods ask for that name it."""
    ledger = Ledger()
    shares: dict[int, dict[str, dict[str, int]]] = {}
    pods: dict[str, tuple[int | None, str, int]] = {}
    for what, which, how in steps:
        if what == "lend":
            ledger.model.lend(which, how)
            shares[which] = how or {}
        elif what == "put":
            pods[which] = how
            job, node, cpu = how
            ledger.put(borrower(which, job, cpu=str(cpu), node=node))
        elif which in pods:
            job, node, cpu = pods.pop(which)
            ledger.model.drop_pod(borrower(which, job, cpu=str(cpu), node=node))
        for node in ("n1", "n2"):
            for type in ("cpu", "pods", "tenancy"):
                asked = {job: _asked(pods, node, type, job) for job in (7, 8, 9, None)}
                covered = sum(
                    min(shares.get(job, {}).get(node, {}).get(type, 0), asked[job])
                    for job in (7, 8, 9)
                )
                assert ledger.foreign(type, node) == sum(asked.values()) - covered


def _asked(pods: dict[str, tuple[int | None, str, int]], node: str, type: str, job: object) -> int:
    mine = [cpu for name, where, cpu in pods.values() if (name, where) == (job, node)]
    return 1000 * sum(mine) if type == "cpu" else len(mine)
