"""What must be true of the jobs on a graph, whatever happened before.

Everything is computed from the placements of the live jobs and the edges of the graph, with
nothing of the matcher's own bookkeeping.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from fluxnetes.match.jobs import MatchedJob
from fluxnetes.match.matcher import Matcher
from tests.oracle.oracle import Held
from tests.property.duel import live_jobs, rows_of_placement


def check(matcher: Matcher) -> None:
    """Raise if the live jobs of a matcher break a promise."""
    jobs = live_jobs(matcher)
    held = {job.jobid: rows_of_placement(job.placement) for job in jobs}
    check_placements_are_whole(matcher, held.values())
    check_nothing_is_overcommitted(matcher, jobs, held)
    check_exclusive_means_alone(matcher, jobs, held)


def check_placements_are_whole(matcher: Matcher, held: Iterable[frozenset[Held]]) -> None:
    """A placement holds something, reaches the root, and takes no more than there is."""
    graph = matcher.graph
    parent = parents(matcher)
    for rows in held:
        members = {row for row, _, _ in rows}
        assert any(exclusive for _, _, exclusive in rows), "a live job holds nothing"
        for row, needs, exclusive in rows:
            assert row not in parent or members.intersection(parent[row]), (
                f"{graph.path(row)} hangs in the air"
            )
            assert 0 < needs <= graph.size[row], f"{needs} of {graph.path(row)}"
            whole = needs == graph.size[row] or not exclusive or graph.divisible[row]
            assert whole, f"a part of {graph.path(row)}, which cannot be divided"


def check_nothing_is_overcommitted(
    matcher: Matcher, jobs: list[MatchedJob], held: dict[int, frozenset[Held]]
) -> None:
    """At no instant is more of a vertex taken than its size."""
    graph = matcher.graph
    for instant in sorted({job.at for job in jobs}):
        taken: dict[int, int] = {}
        for job in jobs:
            if job.at <= instant < job.end:
                for row, needs, exclusive in held[job.jobid]:
                    taken[row] = taken.get(row, 0) + (needs if exclusive else 0)
        for row, amount in taken.items():
            assert amount <= graph.size[row], (
                f"{amount} of {graph.path(row)} are taken at {instant}, it has {graph.size[row]}"
            )


def check_exclusive_means_alone(
    matcher: Matcher, jobs: list[MatchedJob], held: dict[int, frozenset[Held]]
) -> None:
    """Where a job holds a vertex alone, no other job holds it or anything below it meanwhile.

    A part of a divisible pool is the exception: others may hold other parts.
    """
    graph = matcher.graph
    parent = parents(matcher)
    for one, other in combinations(jobs, 2):
        if not (one.at < other.end and other.at < one.end):
            continue
        for mine, theirs in ((one, other), (other, one)):
            alone = {
                row
                for row, _, exclusive in held[mine.jobid]
                if exclusive and not graph.divisible[row]
            }
            for row, _, exclusive in held[theirs.jobid]:
                inside = alone.intersection(lineage(row, parent) if exclusive else ())
                assert not inside, (
                    f"job {mine.jobid} holds {graph.path(min(inside))} alone, "
                    f"and job {theirs.jobid} {graph.path(row)}"
                )


def parents(matcher: Matcher) -> dict[int, list[int]]:
    graph = matcher.graph
    found: dict[int, list[int]] = {}
    for child, above in zip(graph.edge_target.tolist(), graph.edge_source.tolist(), strict=True):
        found.setdefault(child, []).append(above)
    return found


def lineage(row: int, parent: dict[int, list[int]]) -> set[int]:
    """A vertex and all that hold it, through whatever parent."""
    return {row}.union(*(lineage(above, parent) for above in parent.get(row, ())))
