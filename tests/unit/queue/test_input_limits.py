"""Input that could not be stored is refused at admission, and changes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.build import jobspec, node, slot
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.errors import QueueError
from fluxnetes.queue.events import Cancel, Event, Reserve, SetQueue, Submit
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.scheduler import Scheduler

JOB = Submission(1, jobspec(slot(1, node(1))), walltime=10)


def a_scheduler() -> Scheduler:
    return Scheduler(Matcher(pool_graph({"n0": {"cpu": 1}})), validate=True)


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        (replace(JOB, user="a\0b"), "Submit.submission.user"),
        (replace(JOB, user="\ud800"), "Submit.submission.user"),
        (replace(JOB, queue="a" * 1025), "Submit.submission.queue"),
        (replace(JOB, workload="\u4e2d" * 342), "Submit.submission.workload"),
        (replace(JOB, walltime=2**60), "Submit.submission.walltime"),
        (replace(JOB, priority=-(2**60)), "Submit.submission.priority"),
        (
            replace(JOB, request=jobspec(slot(1, node(1)), attributes={"a": {"b": "\0"}})),
            r"Submit.submission.request.attributes\['a'\]\['b'\]",
        ),
    ],
)
def test_the_error_names_the_value_that_cannot_be_written_down(bad: Submission, path: str) -> None:
    scheduler = a_scheduler()
    with pytest.raises(QueueError, match=f"^{path}: "):
        scheduler.apply(Submit(bad), 0)
    assert not scheduler.jobs
    assert not scheduler.take_changes()


@pytest.mark.parametrize(
    "event",
    [
        Reserve("a" * 1025, 0, 1, 1),
        Reserve("window", 0, 1, 1, users=frozenset({"b" * 1025})),
        SetQueue("c" * 1025, stopped=True),
    ],
)
def test_names_are_as_long_as_an_index_of_the_store_takes(event: Event) -> None:
    with pytest.raises(QueueError, match="expected at most 1024 bytes"):
        a_scheduler().apply(event, 0)


def test_a_reason_is_looked_at_too() -> None:
    scheduler = a_scheduler()
    scheduler.apply(Submit(JOB), 0)
    with pytest.raises(QueueError, match=r"Cancel.reason"):
        scheduler.apply(Cancel(1, Reason.of(Message.NODE_GONE, node="\0")), 0)


def test_words_from_outside_are_cut_and_cleaned_instead() -> None:
    """They tell of something that happened already, and that must be recorded."""
    scheduler = a_scheduler()
    scheduler.apply(Submit(JOB), 0)
    scheduler.apply(Cancel(1, Reason.from_text("a\0b\ud800" + 10_000 * "c")), 0)
    reason = str(scheduler.job(1).reason)
    assert reason.startswith("a\ufffdb\ufffdcc") and len(reason) == 4000
