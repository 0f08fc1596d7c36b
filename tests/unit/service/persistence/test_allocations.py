"""The book of what the store has: what began and what ended are two things to write."""

from __future__ import annotations

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.queue.states import JobState
from fluxnetes.service.matcher_ops import MatcherOperations
from fluxnetes.service.persistence.allocations import AllocationJournal
from fluxnetes.service.requests.jobspec_cache import read_jobspec
from fluxnetes.service.values import MatchCall
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.jobspecs import slots


def a_book(reserve: bool = False) -> tuple[AllocationJournal, MatcherOperations]:
    """With one job, or with one and its successor."""
    matching, book = MatcherOperations(), AllocationJournal()
    matching.load(a_cluster(1, 1))
    for _ in range(2 if reserve else 1):
        grant = matching.match(MatchCall(read_jobspec(slots(1, 1)), reserve=True))
        book.enter(matching.matcher.jobs[grant.job], matching)
    return book, matching


def test_what_began_is_written_as_begun_also_when_it_has_ended_meanwhile() -> None:
    """Whoever writes is another thread, and may be late."""
    book, _ = a_book()
    begun = book.take_changes()
    book.end(1, 7, "why")
    ended = book.take_changes()
    assert begun.jobs[1].state is JobState.RUNNING
    assert begun.allocations[1] is not None
    assert (ended.jobs[1].state, reason_text(ended.jobs[1].reason)) == (JobState.CANCELLED, "why")
    assert ended.allocations == {1: None}


def test_what_is_reserved_is_written_as_allocated_for_later() -> None:
    book, _ = a_book(reserve=True)
    changes = book.take_changes()
    assert (changes.jobs[2].state, changes.jobs[2].start) == (JobState.ALLOCATED, 3600)
    assert changes.step == 2


def test_after_another_graph_all_jobs_of_the_old_one_have_ended() -> None:
    book, matching = a_book()
    book.take_changes()
    matching.load(a_cluster(1, 1))
    book.follow(matching, 7, "another graph came")
    assert book.take_changes().allocations == {1: None}
    assert not book.jobs and not book.allocations


def test_where_nothing_happened_there_is_nothing_to_write() -> None:
    book, matching = a_book()
    book.take_changes()
    book.follow(matching, 7, "the graph grew")
    assert not book.take_changes()
