"""Vertices with several parents: reachable through each of them, held through all of them.

cluster ─┬─ rack0 ─┬─ node0 ─ core0, core1
         │         └─ storage0 ─ ssd0, ssd1
         ├─ rack1 ─┬─ node1 ─ core2, core3
         │         └─ storage0 (the same)
         └─ depot ─── storage0 (the same)
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.readers import read_graph
from fluxnetes.graph.topology import MAX_PATHS
from fluxnetes.graph.writers import render
from fluxnetes.jobspec.build import core, jobspec, node, res, slot
from fluxnetes.jobspec.model import SLOT, Count, Jobspec, Resource
from fluxnetes.match.answers import Answer, Outcome
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.planning import Planning

SHARED = Path(__file__).parents[2] / "conformance" / "graphs" / "shared.json"

EVERY_POLICY = pytest.mark.parametrize(
    "policy", ["first", "firstnodex", "high", "low", "hinode", "lonode", "hinodex", "lonodex"]
)


def shared_storage() -> ResourceGraph:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    cluster = patch.vertex("cluster", id=0)
    racks = [patch.vertex("rack", id=number) for number in range(2)]
    storage = patch.vertex("storage", id=0)
    for number, rack in enumerate(racks):
        patch.edge(cluster, rack)
        host = patch.vertex("node", id=number, rank=number)
        patch.edge(rack, host)
        patch.edges(host, patch.vertices("core", [2 * number, 2 * number + 1]))
        patch.edge(rack, storage)
    depot = patch.vertex("depot", id=0)
    patch.edge(cluster, depot)
    patch.edge(depot, storage)
    patch.edges(storage, patch.vertices("ssd", [0, 1]))
    graph.apply(patch)
    return graph


def matcher(policy: str = "low") -> Matcher:
    return Matcher(shared_storage(), policy=policy)


def ssd(count: int = 1) -> Jobspec:
    """Disks, by way of the depot."""
    inside = res("storage", 1, res("ssd", count, exclusive=True))
    return jobspec(res("depot", 1, inside), duration=10)


def rack_with(*inside: object, count: int = 1) -> Jobspec:
    return jobspec(res("rack", count, *inside), duration=10)  # type: ignore[arg-type]


STORAGE = res("storage", 1, res("ssd", 1, exclusive=True))
ALL_STORAGE = res("storage", 1, res("ssd", 2, exclusive=True))
ONE_CORE = node(1, slot(1, core(1)))


def shown(made: Matcher, answer: Answer) -> list[str]:
    assert answer.placement is not None, answer.reason
    return [line.strip().lstrip("-") for line in text(made, answer).splitlines()]


def text(made: Matcher, answer: Answer) -> str:
    assert answer.placement is not None
    return render("simple", made.graph, answer.placement)


# -- reached ---------------------------------------------------------------------------------------


@EVERY_POLICY
@pytest.mark.parametrize("through", ["rack", "depot"])
def test_a_request_reaches_it_through_any_parent(policy: str, through: str) -> None:
    made = matcher(policy)
    answer = made.allocate(jobspec(res(through, 1, STORAGE), duration=10))
    lines = shown(made, answer)
    assert lines[1] == "storage0[1:s]"
    assert lines[2].startswith(through), "the job shares the parent through which it came"
    assert lines[3] == "cluster0[1:s]"
    assert len(lines) == 4


def test_a_request_that_omits_the_levels_above_comes_by_the_first_path() -> None:
    made = matcher()
    assert shown(made, made.allocate(jobspec(STORAGE, duration=10)))[2] == "rack0[1:s]"


def test_what_is_there_once_is_not_taken_twice() -> None:
    made = matcher()
    assert made.allocate(rack_with(STORAGE, count=2)).outcome is Outcome.BUSY
    both = jobspec(res("rack", 1, STORAGE), res("depot", 1, STORAGE), duration=10)
    assert made.allocate(both).outcome is Outcome.BUSY
    assert not made.satisfiable(jobspec(slot(3, res("ssd", 1))))
    assert made.satisfiable(jobspec(slot(2, res("ssd", 1))))
    assert not made.satisfiable(jobspec(res("storage", 2, res("ssd", 1, exclusive=True))))


def test_a_range_takes_each_once() -> None:
    made = matcher()
    some = Resource(SLOT, Count(1, 10), (res("ssd", 1),), label="task")
    answer = made.allocate(jobspec(some, duration=10))
    assert shown(made, answer)[:2] == ["ssd0[1:x]", "ssd1[1:x]"]
    assert len(shown(made, answer)) == 5


@EVERY_POLICY
def test_a_parent_that_does_not_qualify_leaves_it_to_the_next(policy: str) -> None:
    made = matcher(policy)
    for number in (0, 1):
        made.set_status(f"/cluster0/rack{number}/node{number}", up=False)
        answer = made.allocate(rack_with(ONE_CORE, STORAGE))
        assert f"rack{1 - number}[1:s]" in shown(made, answer)
        made.cancel(answer.jobid)
        made.set_status(f"/cluster0/rack{number}/node{number}", up=True)


@EVERY_POLICY
def test_what_the_next_parent_has_is_without_what_is_taken(policy: str) -> None:
    """Of 16 a slot takes all, so one slot has it; without the 8 that are taken, two have 4."""
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    cluster = patch.vertex("cluster", id=0)
    hosts = [patch.vertex("node", id=number, rank=number) for number in range(2)]
    later = hosts[0] if policy.startswith("first") else hosts[1]
    shared = patch.vertex("memory", id=0, size=8)
    for host, number in ((hosts[0], 1), (hosts[1], 2), (later, 3)):
        patch.edge(host, patch.vertex("memory", id=number, size=4))
    for host in hosts:
        patch.edge(cluster, host)
        patch.edge(host, shared)
    graph.apply(patch)
    made = Matcher(graph, policy=policy)
    powers = Resource("memory", Count(2, 16, "^", 2))
    lines = shown(made, made.allocate(jobspec(node(2, slot(2, powers)), duration=10)))
    assert len([line for line in lines if line.startswith("memory")]) == 4


@EVERY_POLICY
def test_a_job_shares_the_parent_it_asked_for_of_what_it_holds_through_another(policy: str) -> None:
    made = matcher(policy)
    alone = res("depot", 1, exclusive=True)
    lines = shown(made, made.allocate(jobspec(alone, res("rack", 1, res("storage", 1)))))
    assert lines[:3] == ["ssd0[1:x]", "ssd1[1:x]", "storage0[1:x]"]
    assert lines[3].startswith("rack")
    assert lines[4:] == ["depot0[1:x]", "cluster0[1:s]"]


# -- held ------------------------------------------------------------------------------------------


@EVERY_POLICY
def test_what_is_held_is_held_below_all_parents(policy: str) -> None:
    made = matcher(policy)
    first = made.allocate(ssd(2))
    assert first
    assert made.allocate(rack_with(STORAGE)).outcome is Outcome.BUSY
    assert made.allocate(ssd(1)).outcome is Outcome.BUSY
    made.cancel(first.jobid)
    assert made.allocate(rack_with(ALL_STORAGE))
    assert made.allocate(ssd(1)).outcome is Outcome.BUSY


def test_a_vertex_is_alone_only_if_nothing_below_it_is_held_through_another() -> None:
    made = matcher()
    held = made.allocate(ssd(1))
    alone = jobspec(res("rack", 1, exclusive=True), duration=10)
    assert made.allocate(alone).outcome is Outcome.BUSY
    made.cancel(held.jobid)
    answer = made.allocate(alone)
    assert "storage0[1:x]" in shown(made, answer)
    assert made.allocate(ssd(1)).outcome is Outcome.BUSY
    assert made.allocate(alone).outcome is Outcome.BUSY, "the other rack shares the storage"


def test_what_is_held_alone_is_held_with_all_below() -> None:
    made = matcher()
    made.allocate(jobspec(slot(1, res("depot", 1)), duration=10))
    assert made.allocate(rack_with(STORAGE)).outcome is Outcome.BUSY
    assert made.allocate(rack_with(ONE_CORE))


def test_it_is_reserved_for_when_the_holder_through_another_parent_ends() -> None:
    made = matcher()
    made.allocate(ssd(2))
    answer = made.allocate_orelse_reserve(rack_with(STORAGE))
    assert (answer.outcome, answer.at) == (Outcome.RESERVED, 10)


def test_a_part_of_a_job_is_given_back_by_the_path_by_which_it_came() -> None:
    made = matcher()
    answer = made.allocate(ssd(2))
    job = made.jobs[answer.jobid]
    one = made.graph.find_path("/cluster0/depot0/storage0/ssd0")
    assert one == made.graph.find_path("/cluster0/rack0/storage0/ssd0")
    given_back = job.placement.vertex == one[0]
    made._keep(job, ~given_back)
    assert [made.graph.name(v) for v in job.placement.vertex.tolist()] == [
        "ssd1",
        "storage0",
        "depot0",
        "cluster0",
    ]
    assert made.allocate(rack_with(STORAGE))


# -- status, sums, queries -------------------------------------------------------------------------


def test_one_path_is_enough() -> None:
    made = matcher()
    made.set_status("/cluster0/rack0", up=False)
    assert made.allocate(jobspec(STORAGE, duration=10))
    made.set_status("/cluster0/rack1/storage0", up=False)
    assert made.allocate(ssd(1)).outcome is Outcome.BUSY


def test_sums_count_a_vertex_once() -> None:
    planning = Planning(matcher())
    assert planning.totals()["ssd"] == 2
    found = planning.find_on_everything(jobspec(res("cluster", 1, exclusive=True)))
    assert found is not None
    assert planning.amounts(found) == planning.totals()
    assert planning.amounts(found)["storage"] == 1
    assert planning.capacity(jobspec(slot(1, res("ssd", 1)))) == 2


def test_a_query_shows_each_vertex_once_below_its_first_parent() -> None:
    made = matcher()
    made.allocate(ssd(1))
    rows = [made.graph.name(v) for v in made.find("status=up").vertex.tolist()]
    assert len(rows) == len(set(rows)) == made.graph.vertex_count
    found = made.find("sched-now=allocated")
    assert [made.graph.name(v) for v in found.vertex.tolist()] == [
        "ssd0",
        "storage0",
        "rack0",
        "cluster0",
    ]
    tagged = made.find("jobid-tag=1")
    assert "depot0" in [made.graph.name(v) for v in tagged.vertex.tolist()]


def test_a_pool_that_two_nodes_share_is_not_promised_to_pods_of_both() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    cluster = patch.vertex("cluster", id=0)
    pool = patch.vertex("licence", id=0, size=4, divisible=True)
    for number in range(2):
        host = patch.vertex("node", id=number, rank=number)
        patch.edge(cluster, host)
        patch.edge(host, patch.vertex("cpu", id=number, size=8, divisible=True))
        patch.edge(host, pool)
    graph.apply(patch)
    made = Matcher(graph, policy="lonode")
    pods = Gang((Shape(1, (("cpu", 4), ("licence", 1))),), duration=10)
    started = 0
    while made.allocate(pods):
        started += 1
    assert 1 <= started <= 4
    assert made.engine.ledger.held.max() <= 8
    assert not len(made.engine.ledger.overcommitted())


# -- changes of the graph --------------------------------------------------------------------------


def test_what_another_vertex_holds_stays_when_one_parent_is_removed() -> None:
    made = matcher()
    answer = made.allocate(rack_with(STORAGE))
    made.remove("/cluster0/rack0")
    job = made.jobs[answer.jobid]
    names = [made.graph.name(v) for v in job.placement.vertex.tolist()]
    assert names == ["ssd0", "storage0", "rack1", "cluster0"]
    assert made.allocate(ssd(2)).outcome is Outcome.BUSY
    assert made.allocate(ssd(1))
    made.remove("/cluster0/rack1")
    made.remove("/cluster0/depot0")
    assert made.graph.topology().vertex_count == 1


def test_a_job_is_adopted_with_the_parents_that_its_document_names() -> None:
    made, other = matcher(), matcher()
    answer = made.allocate(ssd(1))
    assert answer.placement is not None
    document = render("jgf", made.graph, answer.placement)
    again = other.update(document, "jgf", jobid=7, at=0, duration=10)
    assert shown(other, again) == shown(made, answer)
    assert other.allocate(rack_with(ALL_STORAGE)).outcome is Outcome.BUSY


def test_too_many_paths_are_an_error_of_the_graph() -> None:
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    top = patch.vertex("cluster", id=0)
    for level in range(30):
        below = patch.vertex("rack", id=level)
        for side in range(2):
            between = patch.vertex("side", id=2 * level + side)
            patch.edge(top, between)
            patch.edge(between, below)
        top = below
    graph.apply(patch)
    with pytest.raises(GraphError, match=f"containment.*{MAX_PATHS}"):
        graph.topology()


def test_what_stays_has_the_path_of_the_parent_that_stays() -> None:
    text = SHARED.read_text()
    made = Matcher(read_graph(text, "jgf"), policy="low")
    (disk,) = made.graph.find_path("/duo0/rack0/storage0/ssd1")
    made.remove("/duo0/rack0")
    assert made.graph.path(disk) == "/duo0/rack1/storage0/ssd1"
    assert made.graph.find_path("/duo0/rack0/storage0/ssd1") == []
