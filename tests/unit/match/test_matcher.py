"""The matcher's answers: what is true, what takes a job id, what is recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fluxnetes.graph.patch import CONTAINMENT
from fluxnetes.jobspec.build import core, gpu, jobspec, node, res, slot
from fluxnetes.jobspec.constraint import And, Constraint, Hostlist, Not, Or, Properties, Ranks
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.match.matcher import HORIZON, Matcher, MatchError, UnknownMatchJob, UnknownPath
from tests.unit.match import clusters as built
from tests.unit.match.clusters import given_to, names_given, shared

ONE_CORE = jobspec(slot(1, core(1)), duration=10)
ALL_CORES = jobspec(slot(4, core(1)), duration=10)
NEVER = jobspec(slot(1, core(9)), duration=10)
NONSENSE = jobspec(slot(1, res("corse")))

TAKES_AN_ID = (
    Operation.ALLOCATE,
    Operation.ALLOCATE_WITH_SATISFIABILITY,
    Operation.ALLOCATE_ORELSE_RESERVE,
)
TAKES_NONE = tuple(operation for operation in Operation if operation not in TAKES_AN_ID)


def two_nodes(policy: str = "low") -> Matcher:
    return Matcher(built.cluster(*built.nodes(2, *built.cores(2))), policy=policy)


# -- answers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "yes"),
    [
        (Outcome.ALLOCATED, True),
        (Outcome.RESERVED, True),
        (Outcome.MATCHED, True),
        (Outcome.SATISFIABLE, True),
        (Outcome.BUSY, False),
        (Outcome.UNSATISFIABLE, False),
        (Outcome.INVALID, False),
    ],
)
def test_an_answer_is_true_when_it_is_a_yes(outcome: Outcome, yes: bool) -> None:
    assert bool(Answer(outcome, 1)) == yes


@pytest.mark.parametrize(
    ("operation", "free", "full", "never"),
    [
        (Operation.ALLOCATE, Outcome.ALLOCATED, Outcome.BUSY, Outcome.BUSY),
        (
            Operation.ALLOCATE_WITH_SATISFIABILITY,
            Outcome.ALLOCATED,
            Outcome.BUSY,
            Outcome.UNSATISFIABLE,
        ),
        (
            Operation.ALLOCATE_ORELSE_RESERVE,
            Outcome.ALLOCATED,
            Outcome.RESERVED,
            Outcome.UNSATISFIABLE,
        ),
        (Operation.SATISFIABILITY, Outcome.SATISFIABLE, Outcome.SATISFIABLE, Outcome.UNSATISFIABLE),
        (Operation.WITHOUT_ALLOCATING, Outcome.MATCHED, Outcome.BUSY, Outcome.BUSY),
        (
            Operation.WITHOUT_ALLOCATING_FUTURE,
            Outcome.MATCHED,
            Outcome.MATCHED,
            Outcome.UNSATISFIABLE,
        ),
    ],
)
def test_every_operation_answers_free_full_and_never(
    operation: Operation, free: Outcome, full: Outcome, never: Outcome
) -> None:
    matcher = two_nodes()
    assert matcher.match(operation, ONE_CORE).outcome is free
    matcher = two_nodes()
    assert matcher.allocate(ALL_CORES)
    assert matcher.match(operation, ONE_CORE).outcome is full
    assert matcher.match(operation, NEVER).outcome is never
    assert matcher.match(operation, NONSENSE).outcome is Outcome.INVALID


def test_a_reservation_starts_when_what_is_in_the_way_ends() -> None:
    matcher = two_nodes()
    assert matcher.allocate(ALL_CORES, now=5)
    answer = matcher.allocate_orelse_reserve(ONE_CORE, now=7)
    assert (answer.outcome, answer.at) == (Outcome.RESERVED, 15)
    assert answer.placement is not None
    assert (answer.placement.start, answer.placement.end) == (15, 25)
    assert matcher.jobs[answer.jobid].state == "RESERVED"


def test_a_placement_holds_what_is_exclusive_and_shares_all_above() -> None:
    matcher = two_nodes()
    answer = matcher.allocate(ONE_CORE)
    assert given_to(matcher, answer) == {"/cluster0/node0/core0": 1}
    assert shared(matcher.graph, answer.placement) == {"/cluster0", "/cluster0/node0"}
    assert answer.placement is not None
    assert answer.placement.subsystem == CONTAINMENT
    assert answer.placement.depth.tolist() == [2, 1, 0]


def test_a_duration_of_0_lasts_as_long_as_the_graph_and_parts_of_seconds_are_rounded_up() -> None:
    matcher = two_nodes()
    ends = []
    for duration in (0, 0.5, 10.0):
        answer = matcher.allocate(jobspec(slot(1, core(1)), duration=duration), now=3)
        ends.append(matcher.jobs[answer.jobid].end)
    assert ends == [HORIZON, 4, 13]


def test_no_job_outlasts_the_graph() -> None:
    graph = built.cluster(*built.nodes(1, *built.cores(1)))
    matcher = Matcher(graph, policy="low", horizon=100)
    answer = matcher.allocate(jobspec(slot(1, core(1)), duration=80), now=50)
    assert matcher.jobs[answer.jobid].end == 100


def test_the_queue_is_carried_into_the_placement() -> None:
    answer = two_nodes().allocate(jobspec(slot(1, core(1)), queue="batch"))
    assert answer.placement is not None
    assert answer.placement.queue == "batch"


def test_labels_of_requests_that_are_no_slots_are_carried_into_the_placement() -> None:
    matcher = two_nodes()
    asked = jobspec(node(1, slot(1, core(2, label="worker")), label="host"))
    answer = matcher.allocate(asked)
    assert answer.placement is not None
    labels = {matcher.graph.path(v): label for v, label in answer.placement.labels.items()}
    assert labels == {
        "/cluster0/node0": "host",
        "/cluster0/node0/core0": "worker",
        "/cluster0/node0/core1": "worker",
    }


# -- job ids ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", TAKES_AN_ID)
def test_a_match_that_was_tried_takes_an_id_whatever_the_answer(operation: Operation) -> None:
    matcher = two_nodes()
    asked = (ALL_CORES, ONE_CORE, NEVER, ONE_CORE)
    assert [matcher.match(operation, a).jobid for a in asked] == [1, 2, 3, 4]
    assert matcher.next_jobid == 5


@pytest.mark.parametrize("operation", TAKES_NONE)
def test_a_question_takes_no_id_and_records_nothing(operation: Operation) -> None:
    matcher = two_nodes()
    assert [matcher.match(operation, a).jobid for a in (ONE_CORE, NEVER)] == [1, 1]
    assert (matcher.next_jobid, matcher.jobs) == (1, {})
    assert given_to(matcher, matcher.allocate(ALL_CORES))


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("asked", [NONSENSE, jobspec(), jobspec(slot(1, core(1)), duration=-1)])
def test_an_invalid_request_takes_no_id(operation: Operation, asked: object) -> None:
    matcher = two_nodes()
    answer = matcher.match(operation, asked)  # type: ignore[arg-type]
    assert (answer.outcome, answer.jobid, matcher.next_jobid) == (Outcome.INVALID, 1, 1)


def test_a_no_records_no_job() -> None:
    matcher = two_nodes()
    matcher.allocate(NEVER)
    assert matcher.jobs == {}
    with pytest.raises(UnknownMatchJob, match="no job 1 holds resources"):
        matcher.cancel(1)


# -- cancel and forget -----------------------------------------------------------------------------


def test_a_cancelled_job_gives_all_back() -> None:
    matcher = two_nodes()
    first = matcher.allocate(ALL_CORES)
    assert not matcher.allocate(ONE_CORE)
    matcher.cancel(first.jobid)
    assert matcher.jobs[first.jobid].state == "CANCELED"
    assert given_to(matcher, matcher.allocate(ALL_CORES)) == given_to(matcher, first)


def test_cancelling_a_reservation_frees_its_window() -> None:
    matcher = two_nodes()
    assert matcher.allocate(ALL_CORES)
    reserved = matcher.allocate_orelse_reserve(ALL_CORES)
    assert matcher.allocate_orelse_reserve(ALL_CORES).at == 20
    matcher.cancel(reserved.jobid)
    assert matcher.allocate_orelse_reserve(ALL_CORES).at == 10


def test_a_job_is_cancelled_once() -> None:
    matcher = two_nodes()
    jobid = matcher.allocate(ONE_CORE).jobid
    matcher.cancel(jobid)
    with pytest.raises(UnknownMatchJob):
        matcher.cancel(jobid)


def test_the_counts_of_a_cancel_are_those_of_the_reference() -> None:
    """Postorder: vertices with a tag; preorder: 1 and the children of each of those."""
    matcher = two_nodes()
    counts = matcher.cancel(matcher.allocate(ONE_CORE).jobid)
    assert (counts.preorder, counts.postorder) == (1 + 2 + 2, 3)


def test_only_cancelled_jobs_are_forgotten() -> None:
    matcher = two_nodes()
    jobid = matcher.allocate(ONE_CORE).jobid
    with pytest.raises(UnknownMatchJob, match="no cancelled job has the id 1"):
        matcher.forget(jobid)
    matcher.cancel(jobid)
    matcher.forget(jobid)
    assert matcher.jobs == {}
    with pytest.raises(UnknownMatchJob):
        matcher.forget(jobid)
    with pytest.raises(UnknownMatchJob):
        matcher.forget(99)


# -- status ----------------------------------------------------------------------------------------


def test_what_is_down_is_not_given_out_and_what_is_up_again_is() -> None:
    matcher = two_nodes()
    matcher.set_status("/cluster0/node0", False)
    assert names_given(matcher, matcher.allocate(ONE_CORE), "node") == ["node1"]
    matcher.set_status("/cluster0/node0", True)
    assert names_given(matcher, matcher.allocate(ONE_CORE), "node") == ["node0"]


def test_a_reservation_is_not_made_on_what_is_down() -> None:
    matcher = two_nodes()
    assert matcher.allocate(ALL_CORES)
    matcher.set_status("/cluster0/node0", False)
    answer = matcher.allocate_orelse_reserve(ONE_CORE)
    assert (answer.at, names_given(matcher, answer, "node")) == (10, ["node1"])


def test_a_job_keeps_what_goes_down() -> None:
    matcher = two_nodes()
    job = matcher.allocate(ALL_CORES)
    matcher.set_status("/cluster0/node0", False)
    assert matcher.jobs[job.jobid].state == "ALLOCATED"
    matcher.cancel(job.jobid)


def test_one_core_that_is_down_leaves_the_others() -> None:
    matcher = two_nodes()
    matcher.set_status("/cluster0/node0/core0", False)
    answer = matcher.allocate(jobspec(slot(3, core(1))))
    assert "/cluster0/node0/core0" not in given_to(matcher, answer)
    assert not matcher.allocate(ONE_CORE)


@pytest.mark.parametrize("path", ["/cluster0/node9", "/nowhere", ""])
def test_a_path_that_leads_nowhere_is_an_error(path: str) -> None:
    matcher = two_nodes()
    changes: list[Callable[[], None]] = [
        lambda: matcher.set_status(path, False),
        lambda: matcher.set_property(path, "a", "b"),
        lambda: matcher.remove_property(path, "a"),
        lambda: matcher.remove(path),
    ]
    for change in changes:
        with pytest.raises(UnknownPath, match=f"no vertex has the path {path}"):
            change()


# -- properties ------------------------------------------------------------------------------------


def test_a_property_set_changes_what_a_constraint_allows() -> None:
    matcher = two_nodes()
    fast = jobspec(slot(1, core(1)), constraint=Properties(("fast",)))
    assert not matcher.allocate(fast)
    assert not matcher.satisfiable(fast)
    matcher.set_property("/cluster0/node1", "fast", "")
    assert matcher.satisfiable(fast)
    assert names_given(matcher, matcher.allocate(fast), "node") == ["node1"]
    matcher.remove_property("/cluster0/node1", "fast")
    assert not matcher.allocate(fast)


@pytest.mark.parametrize(
    ("constraint", "allowed"),
    [
        (Properties(("even",)), ["node0", "node2"]),
        (Properties((), ("even",)), ["node1", "node3"]),
        (Properties(("even",), ("big",)), ["node0"]),
        (Hostlist(frozenset({"node1", "node9"})), ["node1"]),
        (Ranks(frozenset({0, 3})), ["node0", "node3"]),
        (And((Properties(("even",)), Ranks(frozenset({2, 3})))), ["node2"]),
        (Or((Ranks(frozenset({1})), Properties(("big",)))), ["node1", "node2"]),
        (Not((Properties(("even",)), Properties(("big",)))), ["node0", "node1", "node3"]),
        (And(), ["node0", "node1", "node2", "node3"]),
        (Or(), []),
        (Not(), []),
    ],
)
def test_a_constraint_allows_the_nodes_that_it_matches(
    constraint: Constraint, allowed: list[str]
) -> None:
    graph = built.cluster(
        built.a("node", *built.cores(1), even="1"),
        built.a("node", *built.cores(1)),
        built.a("node", *built.cores(1), even="1", big="yes"),
        built.a("node", *built.cores(1)),
    )
    matcher = Matcher(graph, policy="low")
    for count in range(1, 5):
        request = jobspec(node(count, slot(1, core(1))), constraint=constraint)
        answer = matcher.match(Operation.WITHOUT_ALLOCATING, request)
        found = names_given(matcher, answer, "node") if answer else None
        assert found == (allowed[:count] if count <= len(allowed) else None)


def test_variation_prefers_the_best_class_even_after_it_changed() -> None:
    graph = built.cluster(*(built.a("node", *built.cores(2), perf_class=str(c)) for c in (3, 1, 2)))
    matcher = Matcher(graph, policy="variation")
    asked = jobspec(node(1, slot(1, core(1))))
    assert names_given(matcher, matcher.allocate(asked), "node") == ["node1"]
    matcher.set_property("/cluster0/node0", "perf_class", "0")
    assert names_given(matcher, matcher.allocate(asked), "node") == ["node0"]
    matcher.remove_property("/cluster0/node0", "perf_class")
    matcher.remove_property("/cluster0/node1", "perf_class")
    assert names_given(matcher, matcher.allocate(asked), "node") == ["node2"]


def test_variation_ranks_slots_anew_after_a_class_changed() -> None:
    matcher = two_nodes("variation")
    for host, perf_class in [("node0", "1"), ("node1", "2")]:
        for number in (0, 1):
            path = f"/cluster0/{host}/core{number}"
            matcher.set_property(path, "perf_class", perf_class)
    assert names_given(matcher, matcher.allocate(ONE_CORE), "node") == ["node0"]
    matcher.set_property("/cluster0/node1/core1", "perf_class", "0")
    assert names_given(matcher, matcher.allocate(ONE_CORE), "node") == ["node1"]


# -- policies --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "nodes"),
    [
        ("first", ["node2", "node1", "node0", "node2"]),
        ("high", ["node2", "node2", "node1", "node1"]),
        ("hinode", ["node2", "node2", "node1", "node1"]),
        ("low", ["node0", "node0", "node1", "node1"]),
        ("lonode", ["node0", "node0", "node1", "node1"]),
        ("hinodex", ["node2", "node1", "node0", None]),
        ("firstnodex", ["node2", "node1", "node0", None]),
        ("lonodex", ["node0", "node1", "node2", None]),
    ],
)
def test_policies_give_out_nodes_in_their_order(policy: str, nodes: list[str | None]) -> None:
    matcher = Matcher(built.cluster(*built.nodes(3, *built.cores(2))), policy=policy)
    asked = jobspec(node(1, slot(1, core(1))))
    found = []
    for _ in nodes:
        answer = matcher.allocate(asked)
        found.append(names_given(matcher, answer, "node")[0] if answer else None)
    assert found == nodes


def test_a_node_exclusive_policy_gives_all_of_a_node() -> None:
    matcher = Matcher(
        built.cluster(*built.nodes(1, *built.cores(2), *built.gpus(1))), policy="lonodex"
    )
    assert set(given_to(matcher, matcher.allocate(ONE_CORE))) == {
        "/cluster0/node0",
        "/cluster0/node0/core0",
        "/cluster0/node0/core1",
        "/cluster0/node0/gpu0",
    }


# -- how a matcher is made -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"traverser": "greedy"}, "unknown traverser 'greedy'; known are simple and flexible"),
        ({"subsystems": ("power",)}, "the graph has no subsystem 'power'"),
        ({"policy": "best"}, "unknown match policy or option 'best'"),
        ({"prune_filters": "core"}, "prune filter 'core': expected HIGH:LOW"),
    ],
)
def test_what_a_matcher_cannot_be_made_of_is_reported(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(MatchError) as caught:
        Matcher(built.cluster(*built.nodes(1)), **options)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_gpus_beside_cores_are_given_with_them() -> None:
    matcher = Matcher(
        built.cluster(*built.nodes(2, *built.cores(2), *built.gpus(1))), policy="high"
    )
    answer = matcher.allocate(jobspec(slot(2, core(1), gpu(1))))
    assert set(given_to(matcher, answer)) == {
        f"/cluster0/node{n}/{leaf}" for n in (0, 1) for leaf in ("core1", "gpu0")
    }
