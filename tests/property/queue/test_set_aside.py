"""Random changes of a cluster: a waiting job is aside if, and only if, nothing can serve it now.

What can serve a job is computed here from plain numbers, without the matcher.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.common.reasons import ReasonCode
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.constraint import Properties
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.config import BackfillPolicy, QueueConfig, SchedulerConfig
from fluxnetes.queue.events import Ended, Event, GraphChanged, Hold, Release, Started, Submit
from fluxnetes.queue.jobs import Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import HOLDING, JobState

NODES = ("n0", "n1", "n2")
LABELS = ("a", "b")
HOPELESS = 1_000_000


@dataclass(frozen=True)
class Asked:
    pods: int
    cpu: int
    label: str | None

    @property
    def gang(self) -> Gang:
        where = None if self.label is None else Properties(require=(self.label,))
        return Gang((Shape.of(self.pods, {"cpu": self.cpu}, where),))


@dataclass
class PlainCluster:
    """The cluster in plain numbers, beside the graph that the queue uses."""

    cpu: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NODES, 4))
    labels: dict[str, set[str]] = field(default_factory=lambda: {node: set() for node in NODES})

    def __post_init__(self) -> None:
        self.graph = pool_graph({node: {"cpu": size} for node, size in self.cpu.items()})
        self._row = {node: self.graph.find_path(f"/cluster0/{node}")[0] for node in NODES}
        self._pool = {node: self.graph.find_path(f"/cluster0/{node}/cpu0")[0] for node in NODES}

    def resize(self, node: str, cpu: int) -> None:
        self.cpu[node] = cpu
        self.graph.set_size(self._pool[node], cpu)

    def relabel(self, node: str, label: str) -> None:
        if label in self.labels[node]:
            self.labels[node].remove(label)
            self.graph.remove_property(self._row[node], label)
        else:
            self.labels[node].add(label)
            self.graph.set_property(self._row[node], label, "")

    def can_serve(self, asked: Asked) -> bool:
        allowed = [n for n in NODES if asked.label is None or asked.label in self.labels[n]]
        return sum(self.cpu[node] // asked.cpu for node in allowed) >= asked.pods


class Run:
    """A queue on a cluster; every job that starts runs at once, until it is ended."""

    def __init__(self, policy: BackfillPolicy) -> None:
        self.cluster = PlainCluster()
        self.asked: dict[int, Asked] = {}
        config = SchedulerConfig(queues=(QueueConfig(policy=policy),))
        matcher = Matcher(self.cluster.graph, policy="lonode")
        self.queue = Scheduler(matcher, config, validate=True)
        self.now = 0

    def tell(self, event: Event) -> None:
        self.queue.apply(event, self.now)

    def submit(self, id: int, asked: Asked, walltime: int | None) -> None:
        self.asked[id] = asked
        self.tell(Submit(Submission(id, asked.gang, walltime=walltime)))

    def in_state(self, *states: JobState) -> list[int]:
        jobs = self.queue.jobs  # a restart forgets those that have ended
        return [id for id in self.asked if id in jobs and jobs[id].state in states]

    def decide(self) -> None:
        self.queue.cycle(self.now)
        for id in self.in_state(JobState.ALLOCATED):
            self.tell(Started(id))

    def restart(self) -> None:
        snapshot = self.queue.snapshot()
        jobs = tuple(replace(job) for job in snapshot.jobs)
        matcher = Matcher(self.cluster.graph, policy="lonode")
        config = self.queue.config
        self.queue = Scheduler.resume(
            matcher, config, replace(snapshot, jobs=jobs), now=self.now, validate=True
        )


asks = st.builds(
    Asked, pods=st.integers(1, 3), cpu=st.integers(1, 6), label=st.sampled_from((None, *LABELS))
)
walltimes = st.none() | st.integers(1, 9)
actions = st.one_of(
    st.tuples(st.just("submit"), asks, walltimes),
    st.tuples(st.just("resize"), st.sampled_from(NODES), st.integers(0, 8)),
    st.tuples(st.just("relabel"), st.sampled_from(NODES), st.sampled_from(LABELS)),
    st.tuples(st.sampled_from(("hold", "release", "end")), st.integers(0, 5)),
    st.tuples(st.just("restart")),
)


def act(run: Run, number: int, action: tuple) -> None:  # type: ignore[type-arg]
    match action:
        case "submit", asked, walltime:
            run.submit(number, asked, walltime)
        case "resize", node, cpu:
            run.cluster.resize(node, cpu)
            run.tell(GraphChanged())
        case "relabel", node, label:
            run.cluster.relabel(node, label)
            run.tell(GraphChanged())
        case ("restart",):
            run.restart()
        case verb, pick:
            states = {"hold": (JobState.PENDING,), "release": (JobState.HELD,), "end": HOLDING}
            made: dict[str, type[Hold | Release | Ended]] = {
                "hold": Hold,
                "release": Release,
                "end": Ended,
            }
            found = run.in_state(*states[verb])
            if found:
                run.tell(made[verb](found[pick % len(found)]))


@given(st.sampled_from(BackfillPolicy), st.lists(actions, min_size=8, max_size=25))
def test_a_job_is_aside_exactly_while_nothing_can_serve_it(
    policy: BackfillPolicy,
    acts: list[tuple],  # type: ignore[type-arg]
) -> None:
    run = Run(policy)
    for number, action in enumerate(acts, 1):
        act(run, number, action)
        run.decide()
        for id in run.in_state(JobState.PENDING):
            explained = run.queue.explain(id, run.now)
            assert explained.reason is not None
            is_aside = explained.reason.code is ReasonCode.UNSATISFIABLE
            assert is_aside != run.cluster.can_serve(run.asked[id]), (id, explained)
            assert is_aside == (explained.place is None)
            assert not (is_aside and run.queue.job(id).plan)
        run.now += 1
        run.queue.cycle(run.now)


@given(
    st.sampled_from(BackfillPolicy),
    st.lists(st.tuples(actions, st.none() | asks), min_size=6, max_size=20),
)
def test_jobs_that_nothing_can_serve_change_nothing_for_the_others(
    policy: BackfillPolicy,
    acts: list[tuple],  # type: ignore[type-arg]
) -> None:
    alone, beside = Run(policy), Run(policy)
    hopeless: set[int] = set()
    for number, (action, also) in enumerate(acts, 1):
        for run in (alone, beside):
            if run is beside and also is not None:
                hopeless.add(HOPELESS + number)
                asked = replace(also, cpu=100 + also.cpu)
                run.tell(Submit(Submission(HOPELESS + number, asked.gang, walltime=5)))
            act(run, number, action)
            run.decide()
            run.now += 1
            run.queue.cycle(run.now)
        for id in alone.asked.keys() & alone.queue.jobs.keys():
            one, other = alone.queue.job(id), beside.queue.job(id)
            assert (one.state, one.start) == (other.state, other.start)
            assert (one.plan is None) == (other.plan is None)
            if one.plan is not None and other.plan is not None:
                assert one.plan.start == other.plan.start
    assert all(beside.queue.job(id).state is JobState.PENDING for id in hopeless)
