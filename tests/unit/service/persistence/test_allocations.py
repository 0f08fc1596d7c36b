"""The journal of allocations: the start and the end of a job are two changes."""

from __future__ import annotations

from fluxnetes.common.reasons import Reason
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.jobspec.parse import parse_jobspec
from fluxnetes.queue.states import JobState
from fluxnetes.service.matcher_ops import MatcherOperations
from fluxnetes.service.persistence.allocations import AllocationJournal
from fluxnetes.service.values import MatchCall
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.jobspecs import slots


def a_journal(reserve: bool = False) -> tuple[AllocationJournal, MatcherOperations]:
    """With one job, or with one and its successor."""
    operations, journal = MatcherOperations(), AllocationJournal()
    operations.load(a_cluster(1, 1))
    for _ in range(2 if reserve else 1):
        grant = operations.match(MatchCall(parse_jobspec(slots(1, 1)), reserve=True))
        journal.enter(operations.matcher.jobs[grant.job], operations)
    return journal, operations


def test_a_start_is_committed_as_such_also_if_the_job_ended_meanwhile() -> None:
    """The writer is another thread, and may be late."""
    journal, _ = a_journal()
    begun = journal.take_changes()
    journal.end(1, 7, Reason.from_text("why"))
    ended = journal.take_changes()
    assert begun.jobs[1].state is JobState.RUNNING
    assert begun.allocations[1] is not None
    assert (ended.jobs[1].state, reason_text(ended.jobs[1].reason)) == (
        JobState.CANCELLED,
        "why",
    )
    assert ended.allocations == {1: None}


def test_a_reservation_is_committed_as_allocated_for_later() -> None:
    journal, _ = a_journal(reserve=True)
    changes = journal.take_changes()
    assert (changes.jobs[2].state, changes.jobs[2].start) == (JobState.ALLOCATED, 3600)
    assert changes.step == 2


def test_after_another_graph_all_jobs_of_the_old_one_have_ended() -> None:
    journal, operations = a_journal()
    journal.take_changes()
    operations.load(a_cluster(1, 1))
    journal.follow(operations, 7, Reason.from_text("the graph was replaced"))
    assert journal.take_changes().allocations == {1: None}
    assert not journal.jobs and not journal.allocations


def test_without_a_change_there_is_nothing_to_commit() -> None:
    journal, operations = a_journal()
    journal.take_changes()
    journal.follow(operations, 7, Reason.from_text("the graph grew"))
    assert not journal.take_changes()
