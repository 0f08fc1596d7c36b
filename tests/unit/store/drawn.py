"""Records drawn at random: everything that the types allow, whether or not a queue would do it."""

from __future__ import annotations

import string
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from fluxnetes.common import reasons
from fluxnetes.common.reasons.text import TEMPLATES
from fluxnetes.graph.placement import Placement
from fluxnetes.jobspec.constraint import And, Constraint, Hostlist, Not, Or, Properties, Ranks
from fluxnetes.jobspec.model import Count, Jobspec, Resource, Task
from fluxnetes.match.gang.model import Gang, Seats, Shape, TopologyRequest
from fluxnetes.queue import config
from fluxnetes.queue.changes import (
    Allocation,
    BudgetRecord,
    Changes,
    JobEvent,
    NodeWindow,
    QueueState,
    UsageRecord,
)
from fluxnetes.queue.jobs import (
    Dependency,
    DependencyKind,
    ElasticSize,
    JobArray,
    OnLoss,
    Origin,
    PlannedStart,
    QueueJob,
    Request,
    Submission,
)
from fluxnetes.queue.states import EndCause, JobState

T = TypeVar("T")

INT = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
"""What Postgres takes as text: all but the zero byte."""
FLOAT = st.floats(allow_nan=False)
SECONDS = st.one_of(st.floats(0, allow_nan=False), st.integers(0, 2**40))

SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)
KEY = st.text(max_size=4)
JSON = st.recursive(
    SCALAR,
    lambda of: st.lists(of, max_size=3) | st.dictionaries(KEY, of, max_size=3),
    max_leaves=8,
)
ATTRIBUTES: st.SearchStrategy[dict[str, Any]] = st.dictionaries(KEY, JSON, max_size=3)

TUPLE_OF_TEXT = st.lists(TEXT, max_size=3).map(tuple)
CONSTRAINT: st.SearchStrategy[Constraint] = st.recursive(
    st.builds(Properties, TUPLE_OF_TEXT, TUPLE_OF_TEXT)
    | st.builds(Hostlist, st.frozensets(TEXT, max_size=3))
    | st.builds(Ranks, st.frozensets(st.integers(0, 2**31), max_size=3)),
    lambda inner: st.one_of(
        [st.builds(kind, st.lists(inner, max_size=2).map(tuple)) for kind in (And, Or, Not)]
    ),
    max_leaves=4,
)
MAYBE_CONSTRAINT = st.none() | CONSTRAINT

COUNT = st.builds(Count, INT, INT, st.sampled_from("+*^"), INT)
MAYBE_TEXT = st.none() | TEXT
RESOURCE = st.recursive(
    st.builds(Resource, TEXT, COUNT),
    lambda inner: st.builds(
        Resource,
        TEXT,
        COUNT,
        st.lists(inner, max_size=2).map(tuple),
        st.none() | st.booleans(),
        MAYBE_TEXT,
        MAYBE_TEXT,
        MAYBE_TEXT,
    ),
    max_leaves=4,
)
TASK = st.builds(
    Task,
    TUPLE_OF_TEXT,
    TEXT,
    st.dictionaries(TEXT, INT, max_size=2),
    MAYBE_TEXT,
    st.none() | ATTRIBUTES,
)
JOBSPEC = st.builds(
    Jobspec,
    st.lists(RESOURCE, max_size=2).map(tuple),
    st.lists(TASK, max_size=2).map(tuple),
    SECONDS,
    MAYBE_TEXT,
    MAYBE_CONSTRAINT,
    st.integers(1, 9999),
    ATTRIBUTES,
)
AMOUNTS = st.lists(st.tuples(TEXT, INT), max_size=3).map(tuple)
SHAPE = st.builds(Shape, INT, AMOUNTS, MAYBE_CONSTRAINT)
TOPOLOGY = st.builds(
    TopologyRequest, MAYBE_TEXT, MAYBE_TEXT, MAYBE_TEXT, INT, MAYBE_TEXT, INT, AMOUNTS
)
GANG = st.builds(
    Gang,
    st.lists(SHAPE, max_size=3).map(tuple),
    AMOUNTS,
    SECONDS,
    MAYBE_TEXT,
    st.none() | TOPOLOGY,
)
REQUEST: st.SearchStrategy[Request] = st.one_of(JOBSPEC, GANG)

IDS = st.integers(1, 6)
MAYBE_INT = st.none() | INT


def _placeholders(message: reasons.Message) -> set[str]:
    found = string.Formatter().parse(TEMPLATES[message])
    return {name for _, name, _, _ in found if name}


def _reasons(inner: st.SearchStrategy[reasons.Reason]) -> st.SearchStrategy[reasons.Reason]:
    """Every message with arguments of any kind that its text can be made of."""
    amounts = st.builds(reasons.Amount, INT, TEXT, st.booleans())
    hours = st.builds(reasons.ResourceHours, st.floats(0, 1e9), TEXT)
    numbered = st.builds(reasons.Moment, INT) | st.builds(reasons.JobRef, INT)
    one = INT | TEXT | amounts | hours | numbered | inner
    args = one | st.lists(one, max_size=2).map(tuple)

    @st.composite
    def reason(draw: st.DrawFn) -> reasons.Reason:
        message = draw(st.sampled_from(reasons.Message))
        names = _placeholders(message)
        valued = {name.removesuffix("_value") for name in names if name.endswith("_value")}
        plain = {name for name in names if not name.endswith("_value")} - valued
        given: dict[str, reasons.Argument] = {
            name: draw(amounts | hours) for name in sorted(valued)
        }
        given |= {name: draw(args) for name in sorted(plain)}
        return reasons.Reason.of(message, **given).coded(draw(st.sampled_from(reasons.ReasonCode)))

    return reason()


REASON = st.none() | st.recursive(
    st.builds(reasons.Reason.from_text, TEXT.filter(bool), st.sampled_from(reasons.ReasonCode)),
    _reasons,
    max_leaves=3,
)


def complete(kind: type[T], /, **values: st.SearchStrategy[Any]) -> st.SearchStrategy[T]:
    """Values of a dataclass; none of its fields may be left to its default."""
    left_out = {each.name for each in fields(kind)} - values.keys()  # type: ignore[arg-type]
    assert not left_out, f"{kind.__name__} has fields that are not drawn: {left_out}"
    return st.builds(kind, **values)


def submissions(id: int) -> st.SearchStrategy[Submission]:
    return complete(
        Submission,
        id=st.just(id),
        request=REQUEST,
        walltime=MAYBE_INT,
        queue=TEXT,
        user=TEXT,
        namespace=TEXT,
        name=TEXT,
        job_class=INT,
        priority=INT,
        held=st.booleans(),
        gathering=st.booleans(),
        begin=MAYBE_INT,
        dependencies=st.lists(
            st.builds(Dependency, st.sampled_from(DependencyKind), IDS), max_size=3
        ).map(tuple),
        size=st.none() | st.builds(ElasticSize, INT, INT),
        array=st.none() | st.builds(JobArray, INT, MAYBE_INT),
        reservation=MAYBE_TEXT,
        preemptible=st.booleans(),
        requeue=st.booleans(),
        min_runtime=INT,
        on_loss=st.sampled_from(OnLoss),
        workload=TEXT,
        origin=st.sampled_from(Origin),
    )


def jobs(id: int, before: QueueJob | None = None) -> st.SearchStrategy[QueueJob]:
    """A record; of a job that is known already often with the same submission."""
    submission = submissions(id)
    return complete(
        QueueJob,
        submission=submission if before is None else st.just(before.submission) | submission,
        state=st.sampled_from(JobState),
        submitted=INT,
        arrival=st.integers(0, 2**62),
        queue=TEXT,
        priority=INT,
        walltime=MAYBE_INT,
        ranked=INT,
        eligible=MAYBE_INT,
        plan=st.none() | complete(PlannedStart, start=INT, since=INT, reason=REASON),
        size=INT,
        start=MAYBE_INT,
        running=MAYBE_INT,
        deadline=MAYBE_INT,
        expected=MAYBE_INT,
        end=MAYBE_INT,
        cause=st.none() | st.sampled_from(EndCause),
        reason=REASON,
        restarts=INT,
        parent=MAYBE_INT,
        index=MAYBE_INT,
        tasks_started=INT,
        tasks_failed=INT,
        backfilled=st.booleans(),
        commitments=st.dictionaries(TEXT, FLOAT, max_size=2),
    )


def columns(length: int) -> st.SearchStrategy[NDArray[np.int64]]:
    numbers = st.lists(INT, min_size=length, max_size=length)
    return numbers.map(lambda given: np.array(given, np.int64))


def placements(length: int) -> st.SearchStrategy[Placement]:
    words = st.dictionaries(TEXT, TEXT, max_size=2)
    booleans = st.lists(st.booleans(), min_size=length, max_size=length)
    return complete(
        Placement,
        vertex=columns(length),
        parent=columns(length),
        depth=columns(length),
        needs=columns(length),
        exclusive=booleans.map(lambda given: np.array(given, np.bool_)),
        start=INT,
        end=INT,
        queue=MAYBE_TEXT,
        subsystem=TEXT,
        labels=st.dictionaries(INT, TEXT, max_size=2),
        usage=st.none() | st.dictionaries(INT, words, max_size=2),
    )


@st.composite
def seats(draw: st.DrawFn) -> tuple[Seats, ...]:
    lengths = draw(st.lists(st.integers(0, 3), max_size=3))
    return tuple(Seats(draw(columns(length)), draw(columns(length))) for length in lengths)


TASKS = st.none() | st.lists(INT, max_size=4).map(tuple)


@st.composite
def allocations(draw: st.DrawFn, job: int, before: Allocation | None = None) -> Allocation:
    """What a job holds; of one that held something before often at the same place."""
    stays = before is not None and draw(st.booleans())
    tasks = before.tasks if before and draw(st.booleans()) else draw(TASKS)
    ended = st.frozensets(st.sampled_from(range(len(tasks)))) if tasks else st.just(frozenset())
    placement = st.integers(0, 4).flatmap(placements)
    return draw(
        complete(
            Allocation,
            job=st.just(job),
            start=INT,
            end=MAYBE_INT,
            placement=st.just(before.placement) if before and stays else placement,
            seats=st.just(before.seats) if before and stays else seats(),
            tasks=st.just(tasks),
            ended_tasks=ended,
        )
    )


WINDOW_NAMES = st.sampled_from(["", "maintenance", "Grüße"])
SOME_TEXT = st.frozensets(TEXT, max_size=2)


def windows(name: str) -> st.SearchStrategy[NodeWindow]:
    return complete(
        NodeWindow,
        name=st.just(name),
        start=INT,
        end=INT,
        nodes=TUPLE_OF_TEXT,
        constraint=MAYBE_CONSTRAINT,
        users=SOME_TEXT,
        namespaces=SOME_TEXT,
        maintenance=st.booleans(),
    )


MAYBE_STATE = st.none() | st.sampled_from(JobState)
EVENT = complete(
    JobEvent,
    job=IDS,
    at=INT,
    kind=TEXT,
    before=MAYBE_STATE,
    after=MAYBE_STATE,
    start=MAYBE_INT,
    reason=REASON,
)
WORD = st.sampled_from(["a", "b", "ä"])


class Histories:
    """Draws one change after the other, each such as could follow those before."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._jobs: dict[int, QueueJob] = {}
        self._allocations: dict[int, Allocation] = {}

    def next(self) -> Changes:
        draw = self._draw
        changes = Changes(
            events=draw(st.lists(EVENT, max_size=3)),
            jobs={id: draw(jobs(id, self._jobs.get(id))) for id in self._some(IDS)},
            windows={n: draw(st.none() | windows(n)) for n in self._some(WINDOW_NAMES)},
            usage={
                (namespace, user): UsageRecord(namespace, user, draw(FLOAT), draw(INT))
                for namespace, user in self._some(st.tuples(WORD, WORD))
            },
            queues={
                q: QueueState(q, draw(st.booleans()), draw(st.booleans())) for q in self._some(WORD)
            },
            spent={b: BudgetRecord(b, draw(INT), draw(FLOAT)) for b in self._some(WORD)},
            step=draw(st.none() | st.integers(0, 2**62)),
        )
        self._jobs |= changes.jobs
        self._change_allocations(changes)
        return changes

    def _some(self, keys: st.SearchStrategy[Any]) -> Iterable[Any]:
        return self._draw(st.lists(keys, max_size=3, unique=True))

    def _change_allocations(self, changes: Changes) -> None:
        for id in filter(self._jobs.__contains__, self._some(IDS)):
            held = self._draw(st.none() | allocations(id, self._allocations.get(id)))
            changes.allocations[id] = held
            if held is None:
                self._allocations.pop(id, None)
            else:
                self._allocations[id] = held


@st.composite
def histories(draw: st.DrawFn) -> list[Changes]:
    drawn = Histories(draw)
    return [drawn.next() for _ in range(draw(st.integers(1, 4)))]


NUMBER = FLOAT | st.integers()
SHARES = st.dictionaries(TEXT, NUMBER, max_size=2)
CAP = complete(
    config.LimitConfig,
    running=MAYBE_INT,
    pending=MAYBE_INT,
    resources=st.dictionaries(TEXT, INT, max_size=2),
)
QUEUE_CONFIG = complete(
    config.QueueConfig,
    name=TEXT,
    policy=st.sampled_from(config.BackfillPolicy),
    reservations=INT,
    depth=MAYBE_INT,
    priority=INT,
    constraint=MAYBE_CONSTRAINT,
    default_walltime=MAYBE_INT,
    max_walltime=MAYBE_INT,
    grace=INT,
    cap=CAP,
    per_user=CAP,
    per_namespace=CAP,
    unsatisfiable=st.sampled_from(config.UnsatisfiablePolicy),
    preempts=st.booleans(),
    growth=st.booleans(),
    resume_for_growth=st.booleans(),
)
CONFIG: st.SearchStrategy[config.SchedulerConfig] = complete(
    config.SchedulerConfig,
    queues=st.lists(st.just(config.QueueConfig()) | QUEUE_CONFIG, max_size=3).map(tuple),
    weights=complete(
        config.PriorityWeights, priority=NUMBER, fair_share=NUMBER, age=NUMBER, size=NUMBER
    ),
    age_cap=INT,
    fair_share=complete(
        config.FairShare,
        half_life=INT,
        namespaces=SHARES,
        users=st.dictionaries(st.tuples(TEXT, TEXT), NUMBER, max_size=2),
    ),
    charge=SHARES,
    budgets=st.lists(
        complete(
            config.BudgetConfig,
            name=TEXT,
            amount=NUMBER,
            type=TEXT,
            period=INT,
            queue=MAYBE_TEXT,
            namespace=MAYBE_TEXT,
        ),
        max_size=2,
    ).map(tuple),
    match_policy=st.sampled_from(["lonode", "first", "policy=high node_centric=true"]),
)
