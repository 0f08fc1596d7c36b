"""What Fluxnetes says is compared with what Kubernetes says, and every difference is found."""

from __future__ import annotations

import pytest

from tests.integration.crash.record import FluxJobSeen, KubeJob, Pod, Seen, Thing
from tests.integration.crash.truth.contradictions import Findings, Watched
from tests.integration.crash.truth.dependents import wrong_dependents
from tests.integration.crash.truth.ends import false_ends, unknown_jobs
from tests.integration.crash.truth.said import StoredJob
from tests.integration.crash.truth.stuck import stuck_work
from tests.integration.crash.truth.suspended import is_overridden, overridden_suspensions
from tests.integration.crash.truth.workloads import divide

COMPLETE = KubeJob("u1", "j", "j", end="Complete")
FAILED = KubeJob("u1", "j", "j", end="Failed", reason="BackoffLimitExceeded")
HELD = KubeJob("u1", "j", "j", suspended=True)
JOB = Watched("j", is_job=True)
GANG = Watched("g")
NEXT = Watched("next", is_job=True, after="j")


def findings(
    *things: Thing,
    rows: tuple[StoredJob, ...] = (),
    works: tuple[Watched, ...] = (JOB,),
    deleted: tuple[str, ...] = (),
) -> Findings:
    """Each thing comes a second after the one before."""
    seen = [Seen(number, float(number), thing) for number, thing in enumerate(things)]
    watched = {each.name: each for each in works}
    records = divide(seen, {each.name: each.is_job for each in works})
    return Findings(watched, records, rows, frozenset(deleted))


def row(state: str, code: str = "", id: int = 1, workload: str = "Job/crash/j/u1") -> StoredJob:
    return StoredJob(id, workload, state, code, "words")


def told(state: str, code: str = "", workload: str = "Job/crash/j/u1") -> FluxJobSeen:
    return FluxJobSeen("f1", "j-job", workload, state, code)


def texts(found: Findings) -> list[str]:
    return [each.text for each in false_ends(found)]


# --- ends --------------------------------------------------------------------------------------


def test_a_job_that_both_call_completed_is_well() -> None:
    assert not texts(findings(COMPLETE, told("completed"), rows=(row("completed"),)))


@pytest.mark.parametrize("state", ["timed out", "failed", "cancelled", "rejected", "running"])
def test_a_job_that_completed_is_called_nothing_else(state: str) -> None:
    assert texts(findings(COMPLETE, told("completed"), rows=(row(state),)))
    assert texts(findings(COMPLETE, told(state), rows=(row("completed"),)))


def test_a_job_that_ran_is_in_the_store_and_has_a_fluxjob() -> None:
    ran = Pod("p", "j-x", "j", node="n1")
    assert len(texts(findings(ran, FAILED))) == 2
    assert not texts(findings(FAILED))


def test_a_job_that_was_withdrawn_in_between_is_well() -> None:
    rows = (row("cancelled", "Withdrawn"), row("completed", id=2))
    assert not texts(findings(COMPLETE, told("completed"), rows=rows))


def test_a_withdrawal_is_no_completion() -> None:
    [found] = texts(findings(COMPLETE, told("completed"), rows=(row("cancelled", "Withdrawn"),)))
    assert "job 1 is cancelled (Withdrawn: words)" in found


def test_a_later_part_does_not_hide_that_the_job_failed() -> None:
    rows = (row("failed"), row("completed", id=2))
    assert texts(findings(FAILED, told("completed"), rows=rows))
    assert not texts(findings(FAILED, told("failed"), rows=rows))
    assert texts(findings(COMPLETE, told("completed"), rows=rows[::-1]))


def test_a_job_that_is_deleted_is_cancelled_and_needs_no_fluxjob() -> None:
    gone = KubeJob("u1", "j", "j", is_gone=True)
    assert not texts(findings(gone))
    assert not texts(findings(gone, rows=(row("cancelled", "Deleted"),)))
    assert texts(findings(gone, rows=(row("failed"),)))
    assert texts(findings(gone, rows=(row("running"),)))


def test_a_job_that_is_deleted_after_its_last_success_may_be_completed() -> None:
    done = Pod("p", "j-x", "j", node="n1", phase="Succeeded")
    gone = KubeJob("u1", "j", "j", is_gone=True)
    assert not texts(findings(done, gone, rows=(row("completed"),)))
    two = KubeJob("u1", "j", "j", is_gone=True, completions=2)
    assert texts(findings(done, two, rows=(row("completed"),)))


def test_a_job_that_its_user_suspended_is_held() -> None:
    withdrawn = row("cancelled", "Withdrawn")
    assert not texts(findings(HELD, told("held"), rows=(withdrawn,)))
    assert not texts(findings(HELD, told("held"), rows=(row("held"),)))
    assert texts(findings(HELD, told("cancelled", "Withdrawn"), rows=(withdrawn,)))
    assert texts(findings(HELD, told("held"), rows=(row("failed"),)))
    assert texts(findings(HELD, told("held"), rows=(row("running"),)))


def test_a_gang_ends_by_the_phases_of_its_pods() -> None:
    workload = "Group/crash/g"
    pods = (Pod("p1", "g-0", "g", phase="Succeeded"), Pod("p2", "g-1", "g", phase="Succeeded"))
    said = told("failed", workload=workload)
    rows = (row("failed", workload=workload),)
    assert len(texts(findings(*pods, said, rows=rows, works=(GANG,)))) == 2


def test_a_gang_whose_pods_its_user_deleted_is_cancelled() -> None:
    pods = [Pod(f"p{n}", f"g-{n}", "g", is_gone=True) for n in range(2)]
    rows = (row("cancelled", "Deleted", workload="Group/crash/g"),)
    by_user = findings(*pods, rows=rows, works=(GANG,), deleted=("g-0", "g-1"))
    assert not texts(by_user)
    assert texts(findings(*pods, rows=rows, works=(GANG,)))


def test_what_nothing_asked_for_is_found_in_the_store() -> None:
    assert unknown_jobs(findings(COMPLETE, rows=(row("completed", workload="Job/crash/x/u9"),)))
    assert not unknown_jobs(findings(COMPLETE, rows=(row("completed"),)))


# --- dependents --------------------------------------------------------------------------------

LATER = KubeJob("u2", "next", "next")
BOUND = Pod("p", "next-x", "next", node="n1")
REJECTED = row("rejected", "Dependency", id=2, workload="Job/crash/next/u2")


def test_a_dependent_runs_after_the_other_succeeded() -> None:
    works, done = (JOB, NEXT), Pod("q", "j-x", "j", phase="Succeeded")
    assert not wrong_dependents(findings(done, COMPLETE, LATER, BOUND, works=works))
    assert not wrong_dependents(findings(done, LATER, BOUND, COMPLETE, works=works))
    assert wrong_dependents(findings(LATER, BOUND, done, COMPLETE, works=works))
    assert wrong_dependents(findings(done, FAILED, LATER, BOUND, works=works))


def test_a_dependent_that_was_rejected_may_be_deleted() -> None:
    works, gone = (JOB, NEXT), KubeJob("u2", "next", "next", is_gone=True)
    rows = (row("failed"), REJECTED)
    assert not texts(findings(FAILED, told("failed"), gone, works=works, rows=rows))
    rows = (row("completed"), REJECTED)
    assert texts(findings(COMPLETE, told("completed"), gone, works=works, rows=rows))


def test_a_dependent_is_rejected_only_if_the_other_did_not_succeed() -> None:
    works = (JOB, NEXT)
    assert wrong_dependents(findings(COMPLETE, LATER, works=works, rows=(REJECTED,)))
    assert not wrong_dependents(findings(FAILED, LATER, works=works, rows=(REJECTED,)))


# --- work that never ends ----------------------------------------------------------------------


def test_work_without_an_end_is_stuck() -> None:
    waiting = Pod("p", "j-x", "j")
    [found] = stuck_work(findings(KubeJob("u1", "j", "j"), waiting, rows=(row("completed"),)))
    assert "1 pods without a node" in found.text and "SILENT" in found.text
    [found] = stuck_work(findings(KubeJob("u1", "j", "j"), waiting, rows=(row("pending"),)))
    assert "SILENT" not in found.text


@pytest.mark.parametrize("first", [COMPLETE, HELD, KubeJob("u1", "j", "j", is_gone=True)], ids=str)
def test_work_with_an_end_or_a_user_who_holds_it_is_not_stuck(first: KubeJob) -> None:
    assert not stuck_work(findings(first))


def test_a_dependent_may_be_rejected_or_wait_with_the_other() -> None:
    works = (JOB, NEXT)
    assert not stuck_work(findings(FAILED, LATER, works=works, rows=(row("failed"), REJECTED)))
    assert not stuck_work(findings(HELD, LATER, works=works))
    assert stuck_work(findings(COMPLETE, LATER, works=works, rows=(row("completed"),)))
    assert stuck_work(findings(COMPLETE, LATER, works=works, rows=(row("completed"), REJECTED)))


def test_a_gang_may_wait_for_a_pod_that_its_user_deleted_if_it_says_so() -> None:
    gone, silent = Pod("p1", "g-0", "g", is_gone=True), Pod("p2", "g-1", "g")
    told = Pod("p2", "g-1", "g", told="Gathering: waits: 1 of the 2 pods exist")
    assert not stuck_work(findings(gone, told, works=(GANG,), deleted=("g-0",)))
    assert stuck_work(findings(gone, silent, works=(GANG,), deleted=("g-0",)))
    assert stuck_work(findings(gone, told, works=(GANG,)))


@pytest.mark.parametrize(
    ("phase", "state", "told", "is_well"),
    [
        ("Failed", "failed", "Gathering: 1 of the 2 pods exist", True),
        ("Failed", "gathering", "Gathering: 1 of the 2 pods exist", True),
        ("Failed", "failed", "", False),
        ("Failed", "completed", "Gathering: 1 of the 2 pods exist", False),
        ("Succeeded", "failed", "Gathering: 1 of the 2 pods exist", False),
        ("Running", "failed", "Gathering: 1 of the 2 pods exist", False),
    ],
)
def test_a_group_may_be_given_up_half_placed_if_its_other_pods_say_why(
    phase: str, state: str, told: str, is_well: bool
) -> None:
    pods = (Pod("p1", "g-0", "g", node="n1", phase=phase), Pod("p2", "g-1", "g", told=told))
    rows = (row(state, workload="Group/crash/g"),)
    assert (not stuck_work(findings(*pods, rows=rows, works=(GANG,)))) is is_well


# --- suspensions -------------------------------------------------------------------------------


def test_a_job_that_its_user_suspended_is_resumed_by_its_user_alone() -> None:
    running = KubeJob("u1", "j", "j")
    by_user = KubeJob("u1", "j", "j", suspended=True, stamp="1")
    resumed = KubeJob("u1", "j", "j", stamp="2")
    assert not is_overridden([running, by_user, resumed])
    assert is_overridden([running, by_user, KubeJob("u1", "j", "j", stamp="1")])
    assert overridden_suspensions(findings(running, by_user, KubeJob("u1", "j", "j", stamp="1")))


def test_a_job_that_we_suspended_is_resumed_by_us() -> None:
    ours = KubeJob("u1", "j", "j", suspended=True, is_queued=True)
    assert not is_overridden([KubeJob("u1", "j", "j"), ours, KubeJob("u1", "j", "j")])
