"""The states of a job, and the transitions between them.

A job waits, holds resources, then has ended. While it *waits* it is gathering (its group is not
complete), held (a user or operator holds it) or pending. While it *holds* resources it is allocated
(nothing runs yet), running, or ending (asked to end; until it has, its nodes are busy). A job that
has *ended* never changes again.

    gathering ◀─▶ pending ◀──▶ held          completed
        ▲            │  ▲        ▲           failed
        │            ▼  │        │           cancelled
        ├─────── allocated ──────┤           timed out
        │            ▼  │        │           rejected
        ├──────── running ───────┤
        │            ▼  │        │
        └──────── ending ────────┘

A job in `ending` keeps its cause, which decides the next state: a job that timed out ends as timed
out, a preempted one goes back to pending or ends as cancelled. What is known to have happened comes
before the cause: a job that completed before it was ended has completed. docs/states.md draws all
of it.
"""

from __future__ import annotations

import enum


class JobState(enum.Enum):
    """The state of a job in the queue."""

    GATHERING = "gathering"
    PENDING = "pending"
    HELD = "held"
    ALLOCATED = "allocated"
    RUNNING = "running"
    ENDING = "ending"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"
    REJECTED = "rejected"


class EndCause(enum.Enum):
    """Why a job was asked to end."""

    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"
    PREEMPTED = "preempted"
    LOST_NODES = "lost nodes"


WAITING = frozenset({JobState.GATHERING, JobState.PENDING, JobState.HELD})
HOLDING = frozenset({JobState.ALLOCATED, JobState.RUNNING, JobState.ENDING})
ENDED = frozenset(JobState) - WAITING - HOLDING

_BY_FACT = frozenset({JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED, JobState.TIMED_OUT})
"""Ends that are known from outside (`events.Ended.outcome`): a live job can reach all of them."""

ALLOWED_TRANSITIONS: dict[JobState | None, frozenset[JobState]] = {
    # An adopted job was never eligible.
    None: WAITING | {JobState.REJECTED, JobState.RUNNING},
    JobState.GATHERING: _BY_FACT | {JobState.PENDING, JobState.HELD, JobState.REJECTED},
    JobState.HELD: _BY_FACT | {JobState.PENDING, JobState.GATHERING, JobState.REJECTED},
    # An array itself holds nothing; it ends with the last of its tasks.
    JobState.PENDING: _BY_FACT
    | {JobState.HELD, JobState.GATHERING, JobState.ALLOCATED, JobState.REJECTED},
    JobState.ALLOCATED: _BY_FACT | {JobState.RUNNING, JobState.ENDING} | WAITING,
    JobState.RUNNING: _BY_FACT | {JobState.ENDING, JobState.GATHERING, JobState.HELD},
    JobState.ENDING: _BY_FACT | WAITING,
}
"""From each state (None: not yet known to the queue) the states that can follow it."""

for _ended in ENDED:
    ALLOWED_TRANSITIONS[_ended] = frozenset()


class ImpossibleTransition(RuntimeError):  # noqa: N818 - reads better where it is raised
    """A transition that the chart does not have. Always a bug in the queue."""


def check_transition(job: int, before: JobState | None, after: JobState) -> None:
    """Raise ImpossibleTransition for a transition that is not on the chart."""
    if after not in ALLOWED_TRANSITIONS[before]:
        start = before.value if before is not None else "nowhere"
        raise ImpossibleTransition(f"job {job} cannot go from {start} to {after.value}")
