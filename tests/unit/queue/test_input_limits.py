"""Input that could not be stored is refused at admission, and changes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fluxnetes.common.reasons import Reason
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.build import jobspec, node, slot
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.errors import QueueError
from fluxnetes.queue.events import Cancel, Submit
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.scheduler import Scheduler

JOB = Submission(1, jobspec(slot(1, node(1))), walltime=10)


def a_scheduler() -> Scheduler:
    return Scheduler(Matcher(pool_graph({"n0": {"cpu": 1}})), validate=True)


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        (replace(JOB, user="a\0b"), "Submit.submission.user"),
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


def test_a_reason_is_looked_at_too() -> None:
    scheduler = a_scheduler()
    scheduler.apply(Submit(JOB), 0)
    with pytest.raises(QueueError, match=r"Cancel.reason"):
        scheduler.apply(Cancel(1, Reason.from_text("\0")), 0)
