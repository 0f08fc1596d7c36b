"""Anti-affinity terms are known for as long as a pod carries them."""

from __future__ import annotations

from fluxnetes.cluster.pods.anti_affinity import POOL_SIZE
from fluxnetes.cluster.pods.anti_affinity_index import AntiAffinityIndex
from fluxnetes.kube.objects.pods import Pod
from tests.unit.cluster.builders import one_pod
from tests.unit.cluster.objects import Content

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def away_from(**labels: str) -> Content:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
    return {"podAntiAffinity": {REQUIRED: [term]}}


def lonely(name: str, **labels: str) -> Pod:
    """A pod that keeps away from its own kind."""
    return one_pod(name, labels=labels, affinity=away_from(**labels))


def test_a_term_is_new_once_however_many_carry_it() -> None:
    known = AntiAffinityIndex()
    (term,) = known.add(lonely("a", app="db"))
    assert term.matches("default", {"app": "db"})
    assert known.add(lonely("b", app="db")) == ()
    assert known.add(lonely("a", app="db")) == ()


def test_a_term_is_forgotten_with_the_last_pod_that_carries_it() -> None:
    known = AntiAffinityIndex()
    one, other = lonely("a", app="db"), lonely("b", app="db")
    known.add(one)
    known.add(other)
    known.drop(one)
    assert known.carried
    known.drop(one)
    assert known.carried
    known.drop(other)
    assert not known.carried
    assert known.add(one)


def test_dropping_a_pod_that_was_never_added_does_nothing() -> None:
    AntiAffinityIndex().drop(lonely("a", app="db"))


def test_a_pod_is_concerned_by_what_it_carries_and_by_what_is_carried_against_it() -> None:
    known = AntiAffinityIndex()
    known.add(lonely("a", app="db"))
    known.add(lonely("b", app="web"))
    plain = one_pod("c", labels={"app": "db"})
    assert len(known.concerning(plain.spec, "default", {"app": "db"})) == 1
    assert known.concerning(plain.spec, "default", {"app": "cache"}) == ()
    mine = lonely("d", app="db")
    assert len(known.concerning(mine.spec, "default", {"app": "db"})) == 1
    assert len(known.concerning(mine.spec, "default", {"app": "web"})) == 2


def test_who_carries_a_term_takes_the_whole_pool_and_who_matches_takes_one() -> None:
    known = AntiAffinityIndex()
    (term,) = known.add(lonely("a", app="db"))
    carrier, other = lonely("b", app="db"), one_pod("c")
    for spec, labels, amount in (
        (carrier.spec, {"app": "db"}, POOL_SIZE),
        (other.spec, {"app": "db"}, 1),
    ):
        assert known.amounts((term,), spec, "default", labels) == ((term.name, amount),)
    assert known.amounts((term,), other.spec, "default", {"app": "web"}) == ()
    assert known.amounts((term,), other.spec, "elsewhere", {"app": "db"}) == ()


def test_a_bound_pod_holds_its_part_of_pools_that_there_are_and_of_no_others() -> None:
    known = AntiAffinityIndex()
    (term,) = known.add(lonely("a", app="db"))
    bound = one_pod("c", labels={"app": "db"}, node="n1")
    assert known.held_by(bound) == ()
    known.pooled[term.name] = term
    assert known.held_by(bound) == ((term.name, 1),)
    assert known.held_by(lonely("d", app="db")) == ((term.name, POOL_SIZE),)
