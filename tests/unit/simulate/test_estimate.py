"""When and where one more job would start."""

from __future__ import annotations

import pytest

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.pools import pool_graph
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue.changes import Snapshot
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.errors import QueueError
from fluxnetes.queue.events import NodesClosed, Occupied, Started, Submit
from fluxnetes.queue.jobs import Dependency, DependencyKind, ElasticSize, JobArray, Submission
from fluxnetes.queue.scheduler import Scheduler
from fluxnetes.queue.states import JobState
from fluxnetes.simulate.estimate import Estimate, estimate, free_id
from tests.unit.simulate.queues import CLUSTER, HEAD, LONG, NOW, PASSING, RUNNING, job, snapshot_of

NODE3 = "/cluster0/node3"
BUSY = snapshot_of(RUNNING, HEAD, PASSING, LONG)
"""Nothing is free before 1060, when one node is; all are from 1150 on, but for one."""


def asked(
    submission: Submission, snapshot: Snapshot = BUSY, config: SchedulerConfig | None = None
) -> Estimate:
    return estimate(snapshot, CLUSTER.graph, config or SchedulerConfig(), submission, NOW)


def test_a_job_that_can_start_now_starts_now() -> None:
    found = asked(job(1, 1, 50), snapshot_of(RUNNING, HEAD))
    assert (found.start, reason_text(found.reason), found.rough) == (NOW, "", False)
    assert found.allocation is not None
    assert found.allocation.task_nodes(CLUSTER.graph) == (CLUSTER.graph.find_path(NODE3)[0],)
    assert (found.allocation.start, found.allocation.end) == (NOW, NOW + 50)


def test_a_job_that_must_wait_starts_when_there_is_room_for_it() -> None:
    assert asked(job(1, 1, 40)).start == NOW + 60
    assert asked(job(1, 3, 40)).start == NOW + 150
    assert asked(job(1, 4, 40)).start == NOW + 240


def test_a_job_that_is_not_admitted_has_a_reason() -> None:
    found = asked(job(1, 5, 40))
    assert (found.start, found.allocation) == (None, None)
    assert found.reason
    assert "no queue" in reason_text(asked(job(1, 1, 40, queue="nowhere")).reason)


def test_a_job_without_a_known_start_has_a_reason() -> None:
    found = asked(job(1, 2, 40), snapshot_of(job(1, 3, None)))
    assert found.start is None
    assert "without a walltime" in reason_text(found.reason)
    assert "hold" in reason_text(asked(job(1, 1, 40, held=True)).reason)
    assert "not complete" in reason_text(asked(job(1, 1, 40, gathering=True)).reason)


def test_a_job_that_cannot_even_be_submitted_is_refused_as_a_submission_is() -> None:
    with pytest.raises(QueueError, match="NUL"):
        asked(job(1, 1, 40, name="a\0b"))


def test_dependencies_and_begin_times_count() -> None:
    assert asked(job(1, 1, 10, begin=NOW + 500)).start == NOW + 500
    after_head = job(1, 1, 10, dependencies=(Dependency(DependencyKind.SUCCEEDED, HEAD.id),))
    assert asked(after_head).start == NOW + 150
    unknown = job(1, 1, 10, dependencies=(Dependency(DependencyKind.SUCCEEDED, 77),))
    assert "is not known" in reason_text(asked(unknown).reason)


def test_limits_of_the_queue_count() -> None:
    config = SchedulerConfig(queues=(QueueConfig(max_walltime=100),))
    assert "allows 100" in reason_text(asked(job(1, 1, 101), config=config).reason)
    assert asked(job(1, 1, None), config=config).allocation is not None


def test_an_array_starts_with_its_first_task() -> None:
    found = asked(job(1, 1, 40, array=JobArray(5)))
    assert found.start == NOW + 60
    assert found.allocation is not None
    assert found.allocation.end == NOW + 100


def test_an_elastic_job_has_the_size_that_it_starts_with() -> None:
    request = CLUSTER.request(1)
    found = asked(Submission(1, request, 10, size=ElasticSize(1, 9)), snapshot_of(job(1, 1, 60)))
    assert found.start == NOW
    assert found.allocation is not None
    assert len(found.allocation.task_nodes(CLUSTER.graph)) == 3


def test_the_number_of_a_submission_means_nothing() -> None:
    assert asked(job(1, 3, 40)).start == asked(job(77, 3, 40)).start


def test_a_free_number_is_neither_a_jobs_nor_a_tasks_nor_one_of_the_past() -> None:
    assert free_id(Snapshot()) == 1
    assert free_id(BUSY) == 5
    assert free_id(snapshot_of(job(7, 4, 10, array=JobArray(20)))) == 28
    assert free_id(Snapshot(outcomes=((3, JobState.COMPLETED), (40, JobState.FAILED)))) == 41


def test_others_and_closed_nodes_are_what_the_graph_says_and_what_is_said_besides() -> None:
    graph = pool_graph({name: {"cpu": 4} for name in ("a", "b", "c")})
    queue = Scheduler(Matcher(graph, policy="lonode"), SchedulerConfig(), now=NOW)
    queue.apply(Occupied({"a": {"cpu": 3}}), NOW)
    queue.apply(NodesClosed(("b",)), NOW)
    queue.apply(Submit(pods(1, 3)), NOW)
    queue.cycle(NOW)
    queue.apply(Started(1), NOW)
    snapshot = queue.snapshot()
    asked = pods(9, 2)
    assert estimate(snapshot, graph, queue.config, asked, NOW).start == NOW + 60
    less = {"a": {"cpu": 2}}
    assert estimate(snapshot, graph, queue.config, asked, NOW, less).start == NOW
    none_left = estimate(snapshot, graph, queue.config, asked, NOW, less, ("a", "c"))
    assert (none_left.start, bool(none_left.reason)) == (None, True)
    assert estimate(snapshot, graph, queue.config, asked, NOW).start == NOW + 60


def test_a_gang_estimate_says_where_each_of_its_pods_goes() -> None:
    graph = pool_graph({name: {"cpu": 4} for name in ("a", "b")})
    wanted = Submission(1, Gang((Shape.of(3, {"cpu": 2}),)), 10)
    found = estimate(Snapshot(), graph, SchedulerConfig(), wanted, NOW)
    assert found.allocation is not None
    nodes = [graph.name(row) for row in found.allocation.task_nodes(graph)]
    assert sorted(nodes) == ["a", "a", "b"]


def pods(id: int, cpu: int) -> Submission:
    return Submission(id, Gang((Shape.of(1, {"cpu": cpu}),)), walltime=60)
