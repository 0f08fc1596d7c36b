"""What happens in a run follows from its seed."""

from __future__ import annotations

from collections import Counter

from tests.integration.crash.site import Victim
from tests.integration.crash.storm import plan
from tests.integration.crash.works import CORES, Fate, Kind

NODES = 8
KILLS = dict.fromkeys(Victim, 5)


def test_the_same_seed_draws_the_same_plan() -> None:
    assert plan(7, KILLS, NODES) == plan(7, KILLS, NODES)
    assert plan(7, KILLS, NODES) != plan(8, KILLS, NODES)


def test_each_is_killed_as_often_as_was_asked_for() -> None:
    kills = Counter(victim for _, victim in plan(7, KILLS, NODES).kills)
    assert kills == KILLS


def test_there_is_work_of_every_kind_and_every_fate() -> None:
    works = plan(7, KILLS, NODES).works
    assert {work.kind for work in works} == set(Kind)
    assert {work.fate for work in works} == set(Fate)
    assert len({work.name for work in works}) == len(works)


def test_all_work_but_the_impossible_fits_an_empty_cluster() -> None:
    for work in plan(7, KILLS, NODES).works:
        on_a_node = CORES // work.cores
        fits = work.pods <= on_a_node * NODES
        assert fits is (work.fate is not Fate.IMPOSSIBLE)
