"""Others are an excuse only where they came, and only for what follows from that."""

from __future__ import annotations

import pytest

from tests.integration.crash.checks.books import wrong_jobs
from tests.integration.crash.checks.crowds import crowded_out
from tests.integration.crash.checks.ends import wrong_ends
from tests.integration.crash.checks.evidence import Evidence, Row
from tests.integration.crash.fabricate import Story, a_gang, a_job
from tests.integration.crash.works import Work

BLAME = "other pods took capacity on node n1, and no other node has capacity"


def failed_gang(reason: str, others_on: str = "n1") -> Evidence:
    story = Story("n1", "n2").pod("theirs", "other", ours=False).bind("theirs", others_on)
    story.pod("a").pod("b").bind("a", "n2").after(5).end("a", "Failed").end("b", "Failed")
    return story.evidence(rows=(Row(1, "Group/crash/w", "failed", reason, reason),))


def job_that_ran_twice(reasons: str, work: Work) -> Evidence:
    story = Story("n1").pod("theirs", "other", cores=0, ours=False).bind("theirs")
    story.pod("a").bind("a").remove("a").pod("b").bind("b").end("b")
    story.job("w", end="Complete", succeeded=1)
    return story.evidence(work, rows=(Row(1, "Job/crash/w/1", "completed", reasons=reasons),))


def test_a_gang_that_others_crowded_out_may_fail() -> None:
    evidence = failed_gang(BLAME)
    assert crowded_out(evidence).failed == {"w"}
    assert not wrong_ends(evidence) and not wrong_jobs(evidence)


@pytest.mark.parametrize(
    ("reason", "node"),
    [(BLAME, "n2"), ("no reason at all", "n1")],
    ids=["no foreign pod came there", "no cause is named"],
)
def test_others_are_no_excuse_otherwise(reason: str, node: str) -> None:
    evidence = failed_gang(reason, node)
    assert not crowded_out(evidence).failed
    assert wrong_ends(evidence) and wrong_jobs(evidence)


def test_a_gang_that_others_crowded_out_must_still_end() -> None:
    story = Story("n1").pod("theirs", "other", ours=False).bind("theirs").pod("a").bind("a")
    row = Row(1, "Group/crash/w", "failed", BLAME, BLAME)
    assert wrong_ends(story.evidence(a_gang(1), rows=(row,)))


def test_a_job_that_was_sent_back_for_others_may_run_again_but_not_fail() -> None:
    again = f"submitted; {BLAME}; requeued"
    assert wrong_ends(job_that_ran_twice("submitted", a_job(1)))
    assert not wrong_ends(job_that_ran_twice(again, a_job(1)))
    assert wrong_ends(job_that_ran_twice(again, a_job(2)))
