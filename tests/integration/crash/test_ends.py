"""The checks for what was lost, doubled or leaked find it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.integration.crash.checks.books import leaks, wrong_fluxjobs, wrong_jobs
from tests.integration.crash.checks.ends import long_overruns, missed_changes, wrong_ends
from tests.integration.crash.checks.evidence import Away, Row
from tests.integration.crash.fabricate import Story, a_gang, a_job
from tests.integration.crash.record import pods
from tests.integration.crash.works import Fate

ROW = Row(1, "Group/crash/w", "completed")


def a_pair(phase: str = "Succeeded", reason: str = "") -> Story:
    story = Story("n1").pod("a").pod("b").bind("a").bind("b").run("a").run("b").after(5)
    return story.end("a", phase, reason).end("b", phase, reason)


def a_done_job(**fields: object) -> Story:
    return a_pair().job("w", **{"end": "Complete", "succeeded": 2, **fields})


# --- pods --------------------------------------------------------------------------------------


def test_a_gang_that_succeeded_is_well() -> None:
    assert not wrong_ends(a_pair().evidence())


def test_a_pod_that_is_lost_is_found() -> None:
    assert wrong_ends(a_pair().remove("b").evidence())
    assert wrong_ends(a_pair().evidence(a_gang(3)))


def test_a_pod_that_never_ended_is_found() -> None:
    assert wrong_ends(a_pair().pod("c").evidence(a_gang(3)))


@pytest.mark.parametrize(
    ("fate", "phase", "reason"),
    [(Fate.FAILS, "Failed", ""), (Fate.OVERRUNS, "Failed", "DeadlineExceeded")],
    ids=["fails", "overruns"],
)
def test_a_designed_end_is_asked_for(fate: Fate, phase: str, reason: str) -> None:
    assert not wrong_ends(a_pair(phase, reason).evidence(a_gang(2, fate)))
    assert wrong_ends(a_pair().evidence(a_gang(2, fate)))
    assert wrong_ends(a_pair(phase, reason).evidence())


def test_what_is_impossible_must_never_start() -> None:
    impossible = a_gang(2, Fate.IMPOSSIBLE)
    assert not wrong_ends(Story("n1").pod("a").pod("b").evidence(impossible))
    assert wrong_ends(a_pair().evidence(impossible))


def test_what_was_deleted_must_be_gone() -> None:
    deleted = a_gang(2, Fate.DELETED)
    assert wrong_ends(a_pair().remove("a").evidence(deleted))
    assert not wrong_ends(a_pair().remove("a").remove("b").evidence(deleted))


def test_a_walltime_that_is_overrun_for_long_is_found() -> None:
    endless = replace(a_gang(2, Fate.OVERRUNS), walltime=10)
    story = Story("n1").pod("a").bind("a").run("a")
    assert not long_overruns(story.after(20).evidence(endless))
    assert long_overruns(story.after(100).end("a", "Failed").evidence(endless))


# --- Jobs --------------------------------------------------------------------------------------


def test_a_job_that_succeeded_is_well() -> None:
    assert not wrong_ends(a_done_job().evidence(a_job()))


@pytest.mark.parametrize(
    "fields",
    [{"succeeded": 1}, {"failed": 1}, {"end": ""}, {"end": "Failed"}, {"is_gone": True}],
    ids=str,
)
def test_a_job_that_did_not_succeed_is_found(fields: dict[str, object]) -> None:
    assert wrong_ends(a_done_job(**fields).evidence(a_job()))


def test_a_pod_that_ran_once_too_often_is_found() -> None:
    assert wrong_ends(a_done_job().pod("c").bind("c").remove("c").evidence(a_job()))


def test_an_index_that_was_completed_twice_is_found() -> None:
    story = a_done_job().change("a", index="0").change("b", index="0")
    [found] = wrong_ends(story.evidence(a_job()))
    assert found.endswith("indexes were completed more than once: 0")


def test_a_pod_whose_creation_was_not_answered_may_be_created_again() -> None:
    story = a_done_job().pod("c", owner="w").change("c", index="0").bind("c").end("c")
    evidence = story.change("a", index="0").evidence(a_job())
    made = next(seen.at for seen, pod in pods(evidence.record) if pod.uid == "c")
    assert wrong_ends(evidence)
    assert wrong_ends(replace(evidence, server_away=(Away(made + 2, made + 5),)))
    assert not wrong_ends(replace(evidence, server_away=(Away(made + 0.5, made + 5),)))


# --- the record and the tables -----------------------------------------------------------------


def test_a_record_that_lags_is_found() -> None:
    story = a_pair()
    now = {"b": story.record[-1].version}
    assert not missed_changes(tuple(story.record), now)
    assert missed_changes(tuple(story.record[:-1]), now)


@pytest.mark.parametrize(
    ("rows", "is_well"),
    [
        ((ROW,), True),
        ((), False),
        ((ROW, replace(ROW, id=2)), False),
        ((replace(ROW, state="failed"),), False),
        ((ROW, replace(ROW, workload="Pod/crash/x/1")), False),
    ],
    ids=["once", "never", "twice", "another state", "a stranger"],
)
def test_each_group_is_queued_once_and_the_queue_knows_how_it_ended(
    rows: tuple[Row, ...], is_well: bool
) -> None:
    assert (not wrong_jobs(a_pair().evidence(rows=rows))) is is_well


def test_what_is_left_of_jobs_is_found() -> None:
    evidence = a_pair().evidence(rows=(ROW,))
    assert not leaks(replace(evidence, left={"allocations": 0}))
    assert leaks(replace(evidence, left={"allocations": 1}))
    assert leaks(replace(evidence, rows=(replace(ROW, state="running"),)))


def test_each_group_has_one_fluxjob() -> None:
    evidence = a_pair().evidence(a_gang())
    assert wrong_fluxjobs(evidence)
    assert not wrong_fluxjobs(replace(evidence, fluxjobs=(ROW,)))
    assert wrong_fluxjobs(replace(evidence, fluxjobs=(ROW, ROW)))


def test_a_fluxjob_that_tells_another_end_is_found() -> None:
    evidence = replace(a_pair().evidence(rows=(ROW,)), fluxjobs=(replace(ROW, state="running"),))
    [found] = wrong_fluxjobs(evidence)
    assert found == "the FluxJob of w says running, the queue completed"
