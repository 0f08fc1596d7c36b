"""Jobs adopted, jobs that give back a part, graphs that grow and shrink under their jobs."""

from __future__ import annotations

import json

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.columns import GraphError
from fluxnetes.graph.pools import pool_graph
from fluxnetes.graph.writers import render
from fluxnetes.jobspec.build import core, jobspec, node, res, slot
from fluxnetes.match.answers import Outcome
from fluxnetes.match.matcher import Matcher, MatchError, UnknownMatchJob
from tests.oracle.generate import V
from tests.oracle.jgf import jgf_of_branch, jgf_of_vertices
from tests.unit.match import clusters as built
from tests.unit.match.clusters import given_to, held, names_given, row_at

ONE_CORE = jobspec(slot(1, core(1)), duration=10)
A_NODE = jobspec(node(1, exclusive=True), duration=10)


def two_nodes(policy: str = "low") -> Matcher:
    return Matcher(built.cluster(*built.nodes(2, *built.cores(2))), policy=policy)


def written(matcher: Matcher, jobid: int, format: str = "jgf") -> str:
    return render(format, matcher.graph, matcher.jobs[jobid].placement)


def jgf(matcher: Matcher, *paths: str) -> str:
    return jgf_of_vertices(matcher.graph, [row_at(matcher.graph, path) for path in paths])


def held_by(matcher: Matcher, jobid: int) -> set[str]:
    return set(held(matcher.graph, matcher.jobs[jobid].placement))


# -- update: adopting what was allocated elsewhere -------------------------------------------------


@pytest.mark.parametrize("format", ["jgf", "jgf_shorthand"])
@pytest.mark.parametrize("asked", [ONE_CORE, A_NODE])
def test_an_allocation_written_down_is_adopted_as_it_was(format: str, asked: object) -> None:
    before, after = two_nodes(), two_nodes()
    first = before.allocate(asked)  # type: ignore[arg-type]
    text = written(before, first.jobid, format)
    answer = after.update(text, format, jobid=7, at=0, duration=10)
    assert answer.outcome is Outcome.ALLOCATED
    assert given_to(after, answer) == given_to(before, first)
    assert (after.next_jobid, after.jobs[7].end) == (8, 10)
    after.cancel(7)


def test_what_starts_after_0_is_adopted_as_a_reservation() -> None:
    matcher = two_nodes()
    text = jgf_shared(matcher)
    answer = matcher.update(text, "jgf", jobid=1, at=5, duration=10)
    assert (answer.outcome, answer.at) == (Outcome.RESERVED, 5)
    assert matcher.allocate(jobspec(slot(4, core(1)), duration=5))
    assert not matcher.allocate(jobspec(slot(1, core(1)), duration=6))


def test_what_started_before_now_is_adopted_as_running_and_stays_past_its_end() -> None:
    matcher = two_nodes()
    now = 1_800_000_000
    answer = matcher.update(jgf_shared(matcher), "jgf", jobid=1, at=now - 60, duration=90, now=now)
    assert answer.outcome is Outcome.ALLOCATED
    assert not matcher.allocate(jobspec(slot(4, core(1)), duration=5), now=now + 600)


def jgf_shared(matcher: Matcher) -> str:
    """Node 0 as a job of its own would write it."""
    answer = two_nodes().allocate(A_NODE)
    assert answer.placement is not None
    return render("jgf", matcher.graph, answer.placement)


def test_what_another_job_holds_then_is_not_adopted() -> None:
    matcher = two_nodes()
    text = jgf_shared(matcher)
    assert matcher.update(text, "jgf", jobid=1, at=0, duration=10)
    answer = matcher.update(text, "jgf", jobid=2, at=9, duration=10)
    assert answer.outcome is Outcome.BUSY
    assert "is held by another job then" in reason_text(answer.reason)
    assert 2 not in matcher.jobs
    assert matcher.update(text, "jgf", jobid=3, at=10, duration=10)


@pytest.mark.parametrize(("at", "duration"), [(-1, 10), (0, 0), (0, -5)])
def test_an_adopted_job_needs_a_time_that_makes_sense(at: int, duration: int) -> None:
    matcher = two_nodes()
    with pytest.raises(MatchError, match=f"invalid time: start {at}, duration {duration}"):
        matcher.update(jgf_shared(matcher), "jgf", jobid=1, at=at, duration=duration)
    assert (matcher.jobs, matcher.next_jobid) == ({}, 1)


def test_a_job_is_not_adopted_twice() -> None:
    matcher = two_nodes()
    text = jgf_shared(matcher)
    matcher.update(text, "jgf", jobid=1, at=0, duration=10)
    with pytest.raises(MatchError, match="job 1 already holds resources"):
        matcher.update(text, "jgf", jobid=1, at=20, duration=10)
    matcher.cancel(1)
    assert matcher.update(text, "jgf", jobid=1, at=0, duration=10)


@pytest.mark.parametrize("change", ["update", "partial_cancel"])
def test_formats_that_no_reader_supports_are_refused(change: str) -> None:
    matcher = two_nodes()
    text = jgf_shared(matcher)
    matcher.update(text, "jgf", jobid=1, at=0, duration=10)
    with pytest.raises(MatchError, match="unknown format 'yaml'; known are jgf"):
        if change == "update":
            matcher.update(text, "yaml", jobid=2, at=20, duration=10)
        else:
            matcher.partial_cancel(1, text, "yaml")


def test_a_document_for_another_graph_is_refused_and_nothing_happens() -> None:
    matcher = two_nodes()
    other = Matcher(built.cluster(*built.nodes(9, *built.cores(2))), policy="high")
    text = written(other, other.allocate(A_NODE).jobid)
    with pytest.raises(GraphError, match="the graph has no such vertex"):
        matcher.update(text, "jgf", jobid=4, at=0, duration=10)
    assert (matcher.jobs, matcher.next_jobid) == ({}, 1)


def test_an_allocation_that_holds_nothing_alone_is_invalid() -> None:
    matcher = two_nodes()
    answer = matcher.update(jgf(matcher, "/cluster0/node0"), "jgf", jobid=1, at=0, duration=9)
    assert (answer.outcome, matcher.jobs) == (Outcome.INVALID, {})


def test_a_part_of_a_pool_written_down_is_adopted_as_it_was() -> None:
    def pools() -> Matcher:
        return Matcher(pool_graph({"n1": {"cpu": 10}}), policy="low")

    before, after = pools(), pools()
    first = before.allocate(jobspec(node(1, slot(1, res("cpu", 4))), duration=10))
    answer = after.update(written(before, first.jobid), "jgf", jobid=1, at=0, duration=10)
    assert given_to(after, answer) == given_to(before, first)


# -- partial cancel --------------------------------------------------------------------------------


def test_a_job_gives_back_what_a_document_names_and_keeps_the_rest() -> None:
    matcher = two_nodes()
    jobid = matcher.allocate(jobspec(slot(3, core(1)), duration=10)).jobid
    ended = matcher.partial_cancel(jobid, jgf(matcher, "/cluster0/node1/core0"), "jgf")
    assert not ended
    assert held_by(matcher, jobid) == {"/cluster0/node0/core0", "/cluster0/node0/core1"}
    assert matcher.allocate(jobspec(node(1, exclusive=True))), "node1 must be free again"


def test_a_job_that_gave_back_everything_has_ended() -> None:
    matcher = two_nodes()
    jobid = matcher.allocate(ONE_CORE).jobid
    assert matcher.partial_cancel(jobid, jgf(matcher, "/cluster0/node0/core0"), "jgf")
    assert matcher.jobs[jobid].state == "CANCELED"
    with pytest.raises(UnknownMatchJob):
        matcher.cancel(jobid)
    matcher.forget(jobid)


def test_ranks_give_back_all_that_has_their_number() -> None:
    graph = built.cluster(*built.nodes(2))
    matcher = Matcher(graph, policy="low")
    jobid = matcher.allocate(jobspec(node(2, exclusive=True))).jobid
    ranks = {"version": 1, "execution": {"R_lite": [{"rank": "1", "children": {"core": "0"}}]}}
    assert not matcher.partial_cancel(jobid, json.dumps(ranks), "rv1exec")
    assert held_by(matcher, jobid) == {"/cluster0/node0"}


def test_a_part_of_a_reservation_cannot_be_given_back() -> None:
    matcher = two_nodes()
    assert matcher.allocate(jobspec(slot(4, core(1)), duration=10))
    reserved = matcher.allocate_orelse_reserve(ONE_CORE)
    with pytest.raises(MatchError, match="job 2 is a reservation"):
        matcher.partial_cancel(reserved.jobid, jgf(matcher, "/cluster0/node0/core0"), "jgf")


def test_what_a_job_does_not_hold_alone_it_cannot_give_back() -> None:
    matcher = two_nodes()
    jobid = matcher.allocate(ONE_CORE).jobid
    for path, name in [("/cluster0/node1/core0", "core0"), ("/cluster0/node0", "node0")]:
        with pytest.raises(MatchError, match=f"job 1 does not hold {name} exclusively"):
            matcher.partial_cancel(jobid, jgf(matcher, path), "jgf")
    assert held_by(matcher, jobid) == {"/cluster0/node0/core0"}


@pytest.mark.parametrize("jobid", [1, 99])
def test_a_job_that_holds_nothing_has_nothing_to_give_back(jobid: int) -> None:
    matcher = two_nodes()
    matcher.cancel(matcher.allocate(ONE_CORE).jobid)
    with pytest.raises(UnknownMatchJob, match=f"no job {jobid} holds resources"):
        matcher.partial_cancel(jobid, jgf(matcher, "/cluster0/node0/core0"), "jgf")


def test_what_is_kept_keeps_its_labels() -> None:
    matcher = two_nodes()
    jobid = matcher.allocate(jobspec(slot(1, core(2, label="worker")))).jobid
    matcher.partial_cancel(jobid, jgf(matcher, "/cluster0/node0/core1"), "jgf")
    core0 = row_at(matcher.graph, "/cluster0/node0/core0")
    assert matcher.jobs[jobid].placement.labels == {core0: "worker"}


# -- shrink ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["low", "first"])
def test_a_job_loses_what_is_removed_and_keeps_the_rest(policy: str) -> None:
    matcher = two_nodes(policy)
    jobid = matcher.allocate(jobspec(slot(4, core(1)), duration=10)).jobid
    matcher.remove("/cluster0/node0")
    assert held_by(matcher, jobid) == {"/cluster0/node1/core0", "/cluster0/node1/core1"}
    assert not matcher.allocate(ONE_CORE)
    matcher.cancel(jobid)
    assert len(given_to(matcher, matcher.allocate(jobspec(slot(2, core(1)))))) == 2


def test_a_job_of_which_all_is_removed_has_ended() -> None:
    matcher = two_nodes()
    jobid = matcher.allocate(ONE_CORE).jobid
    matcher.remove("/cluster0/node0")
    assert matcher.jobs[jobid].state == "CANCELED"


def test_a_reservation_loses_what_is_removed() -> None:
    matcher = two_nodes()
    assert matcher.allocate(jobspec(node(2, exclusive=True), duration=10))
    reserved = matcher.allocate_orelse_reserve(jobspec(node(2, exclusive=True), duration=10))
    matcher.remove("/cluster0/node1")
    assert "/cluster0/node0" in held_by(matcher, reserved.jobid)
    assert "/cluster0/node1" not in held_by(matcher, reserved.jobid)
    assert matcher.allocate_orelse_reserve(A_NODE).at == 20


def test_what_is_removed_can_no_longer_be_asked_for() -> None:
    matcher = two_nodes()
    two = jobspec(node(2, exclusive=True))
    assert matcher.satisfiable(two)
    matcher.remove("/cluster0/node0")
    assert not matcher.satisfiable(two)


def test_the_root_is_not_removed() -> None:
    with pytest.raises(MatchError, match="/cluster0 is the root"):
        two_nodes().remove("/cluster0")


def test_unknown_ranks_are_not_removed() -> None:
    with pytest.raises(MatchError, match="no vertex of the graph has one of these ranks"):
        two_nodes().remove_ranks([7])


@pytest.mark.parametrize("below", ["core", "socket"])
def test_removing_a_rank_removes_all_below_its_node(below: str) -> None:
    inside = built.cores(2) if below == "core" else [built.a("socket", *built.cores(2))]
    matcher = Matcher(built.cluster(*built.nodes(2, *inside)), policy="low")
    jobid = matcher.allocate(ONE_CORE).jobid
    matcher.remove_ranks([0])
    assert names_given(matcher, matcher.allocate(ONE_CORE), "node") == ["node1"]
    assert matcher.jobs[jobid].state == "CANCELED"


# -- grow ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["low", "first", "locality", "variation", "lonodex"])
def test_what_is_attached_serves_and_jobs_keep_what_they_hold(policy: str) -> None:
    matcher = two_nodes(policy)
    busy = matcher.allocate(jobspec(node(2, exclusive=True), duration=10))
    before = given_to(matcher, busy)
    assert not matcher.allocate(A_NODE)
    new = V("node", 2, (V("core", 0), V("core", 1)))
    matcher.attach(jgf_of_branch(matcher.graph, 0, new))
    assert held_by(matcher, busy.jobid) == set(before)
    assert names_given(matcher, matcher.allocate(A_NODE), "node") == ["node2"]
    assert matcher.allocate_orelse_reserve(A_NODE).at == 10


def test_a_reservation_outlives_growth() -> None:
    matcher = two_nodes()
    assert matcher.allocate(jobspec(node(2, exclusive=True), duration=10))
    reserved = matcher.allocate_orelse_reserve(jobspec(node(2, exclusive=True), duration=10))
    matcher.attach(jgf_of_branch(matcher.graph, 0, V("node", 2, (V("core", 0),))))
    assert matcher.jobs[reserved.jobid].state == "RESERVED"
    both = jobspec(node(3, exclusive=True), duration=10)
    assert matcher.allocate_orelse_reserve(both).at == 20
