"""What a group asks for follows from what its objects say, and nothing is asked for too early."""

from __future__ import annotations

from typing import Any

import pytest

from fluxnetes.cluster.demand import (
    Demand,
    Prerequisite,
    UnsupportedPod,
    ask,
    least_size,
    missing,
    pods_to_come,
)
from fluxnetes.cluster.groups import ClosedGroup, WorkloadGroup
from fluxnetes.cluster.labels.names import MAX_SIZE, MIN_SIZE
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import NodeGraph
from fluxnetes.cluster.parts import GroupPart
from fluxnetes.cluster.pods.reader import PodReader
from fluxnetes.cluster.pods.volumes import StorageObjects
from fluxnetes.kube.objects.base import Object
from fluxnetes.kube.objects.jobs import Job
from fluxnetes.kube.objects.podgroups import NativePodGroup, PodGroup
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.jobs import ElasticSize
from tests.unit.cluster.builders import (
    a_job,
    a_native_pod_group,
    a_pod_group,
    machine,
    one_pod,
    pod_of,
)

PREFIX = "fluxnetes.io/"


class Scene:
    """One group, and how it is read."""

    def __init__(self, *objects: Object) -> None:
        node_graph = NodeGraph()
        node_graph.put([machine("n1"), machine("n2")])
        self.model = ClusterModel(node_graph)
        self.reader = PodReader(self.model, StorageObjects({}, {}, {}))
        self.put(*objects)

    def put(self, *objects: Object) -> None:
        for each in objects:
            if isinstance(each, Pod):
                self.model.put_pod(each)
            elif isinstance(each, Job):
                self.model.put_workload("Job", each)
            elif isinstance(each, PodGroup | NativePodGroup):
                self.model.put_pod_group(each)

    @property
    def group(self) -> WorkloadGroup:
        (group,) = self.model.groups.values()
        return group

    def ask(self) -> Demand | None:
        return ask(self.group, self.reader)

    def asked(self) -> Demand:
        demand = self.ask()
        assert demand is not None
        return demand

    def place(self, *nodes: str) -> GroupPart:
        """The queue gave what was asked for."""
        part = GroupPart(1, self.asked().footprints)
        self.group.add_part(part)
        part.place(list(nodes), ())
        return part

    def seat(self, part: GroupPart, *uids: str) -> None:
        for task, uid in enumerate(uids):
            self.group.take_seat(uid, part, task)


def sizes(demand: Demand) -> list[tuple[int, int]]:
    """Counts and cpu of the shapes that the queue is asked for."""
    return [(shape.count, dict(shape.amounts)["cpu"]) for shape in demand.gang.shapes]


def ring(size: int, *pods: str, **more: Any) -> list[Pod]:
    return [one_pod(name, group="ring", size=size, **more) for name in pods]


# -- when it is complete ---------------------------------------------------------------------------


def test_a_single_pod_asks_for_itself_at_once() -> None:
    scene = Scene(one_pod("solo", cpu="500m"))
    demand = scene.asked()
    assert sizes(demand) == [(1, 500)]
    assert demand.size is None
    assert not demand.requeue


def test_a_suspended_job_asks_for_pods_that_it_is_yet_to_make() -> None:
    demand = Scene(a_job(pods=3, cpu="2")).asked()
    assert sizes(demand) == [(3, 2000)]
    assert demand.requeue


def test_a_label_group_asks_for_nothing_until_all_are_there() -> None:
    scene = Scene(*ring(3, "a", "b"))
    assert scene.ask() is None
    assert str(missing(scene.group)) == "2 of the 3 pods of group default/ring exist"
    scene.put(*ring(3, "c"))
    assert sizes(scene.asked()) == [(3, 1000)]


def test_a_pod_that_comes_twice_counts_once() -> None:
    scene = Scene(*ring(2, "a"), *ring(2, "a"))
    assert scene.ask() is None


@pytest.mark.parametrize("lost", [{"phase": "Failed"}, {"going": True}])
def test_a_pod_that_ended_or_goes_does_not_count(lost: dict[str, Any]) -> None:
    scene = Scene(*ring(2, "a"), *ring(2, "b", **lost))
    assert scene.ask() is None


def test_a_pod_group_says_how_many_must_be_there() -> None:
    pods = [
        one_pod(name, labels={"scheduling.x-k8s.io/pod-group": "ring"}) for name in ("a", "b", "c")
    ]
    scene = Scene(*pods, a_pod_group("ring", 4))
    assert scene.ask() is None
    scene.put(a_pod_group("ring", 2))
    assert scene.asked().size == ElasticSize(2, 3)


def test_a_native_pod_group_is_a_gang_or_pods_one_by_one() -> None:
    def pods(*names: str) -> list[Pod]:
        return [one_pod(name, schedulingGroup={"podGroupName": "ring"}) for name in names]

    scene = Scene(*pods("a"), a_native_pod_group("ring", 2))
    assert scene.ask() is None
    scene.put(*pods("b"))
    assert sizes(scene.asked()) == [(2, 1000)]
    loose = Scene(*pods("a"), a_native_pod_group("ring", None))
    assert sizes(loose.asked()) == [(1, 1000)]


def gang(**fields: int) -> dict[str, Any]:
    """`spec.scheduling` of a Job."""
    return {"scheduling": {"schedulingPolicy": {"gang": fields}}}


def test_the_least_count_in_the_spec_of_a_job_is_what_must_start_together() -> None:
    demand = Scene(a_job(pods=4, **gang(minCount=2))).asked()
    assert demand.size == ElasticSize(2, 4)
    assert least_size(Scene(a_job(pods=4, **gang())).group) == 4
    one_by_one: dict[str, Any] = {"scheduling": {"schedulingPolicy": {"basic": {}}}}
    assert least_size(Scene(a_job(pods=4, **one_by_one)).group) == 1
    assert least_size(Scene(a_job(pods=4, scheduling={})).group) == 4


def test_a_label_goes_before_the_spec_of_a_job() -> None:
    labels = {PREFIX + "min-size": "3"}
    assert least_size(Scene(a_job(pods=4, labels=labels, **gang(minCount=2))).group) == 3


def test_a_job_whose_spec_wants_more_pods_than_it_has_is_refused() -> None:
    scene = Scene(a_job(pods=2, **gang(minCount=3)))
    with pytest.raises(UnsupportedPod, match=r"gang\.minCount: found 3, and job/j1 has at most 2"):
        scene.ask()


def test_a_label_goes_before_a_pod_group() -> None:
    scene = Scene(*ring(1, "a"), a_pod_group("ring", 5))
    assert least_size(scene.group) == 1


def test_jobs_of_one_larger_group_start_together() -> None:
    options = {PREFIX + "group": "ring", PREFIX + "group-size": "4"}
    scene = Scene(a_job("one", pods=2, labels=options))
    assert scene.ask() is None
    scene.put(a_job("two", pods=2, cpu="3", labels=options))
    assert sizes(scene.asked()) == [(2, 1000), (2, 3000)]


def test_a_job_whose_user_suspended_it_asks_for_nothing() -> None:
    assert Scene(a_job(pods=2, queued=False)).ask() is None


def test_a_job_that_ended_asks_for_nothing() -> None:
    done = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert Scene(a_job(pods=2, status=done)).ask() is None


def test_a_job_of_no_pods_asks_for_nothing() -> None:
    assert Scene(a_job(pods=0)).ask() is None


def test_a_group_that_is_closed_asks_for_nothing_that_was_there_then() -> None:
    scene = Scene(one_pod("a"))
    scene.group.close(ClosedGroup(frozenset(scene.group.pods), for_good=False))
    assert scene.ask() is None


# -- shapes ----------------------------------------------------------------------------------------


def test_pods_of_one_shape_are_asked_for_side_by_side_in_order_of_first_appearance() -> None:
    scene = Scene(*ring(4, "a", cpu="2"), *ring(4, "b"), *ring(4, "c", cpu="2"), *ring(4, "d"))
    assert sizes(scene.asked()) == [(2, 2000), (2, 1000)]


def test_pods_to_come_are_asked_for_like_those_that_are_there() -> None:
    """Admission changed those that are there, and will do the same to the others."""
    job = a_job(pods=3, suspended=False, queued=False)
    scene = Scene(job, pod_of(job, "p0", cpu="1500m"))
    assert sizes(scene.asked()) == [(3, 1500)]


def test_what_one_pod_asks_for_that_we_cannot_honour_refuses_the_group() -> None:
    scene = Scene(*ring(2, "a"), *ring(2, "b", resourceClaims=[{"name": "gpu"}]))
    with pytest.raises(UnsupportedPod, match="resourceClaims"):
        scene.ask()


def test_a_group_waits_for_the_claims_of_its_pods() -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    with pytest.raises(Prerequisite):
        Scene(one_pod("a", volumes=volumes)).ask()


# -- sizes that may vary ---------------------------------------------------------------------------


def test_a_group_between_a_least_and_a_most_size_takes_what_is_there() -> None:
    options = {MIN_SIZE: "2", MAX_SIZE: "4"}
    scene = Scene(one_pod("a", group="ring", annotations=options))
    assert scene.ask() is None
    scene.put(one_pod("b", group="ring", annotations=options))
    demand = scene.asked()
    assert (sizes(demand), demand.size) == ([(2, 1000)], None)
    scene.put(one_pod("c", group="ring", annotations=options))
    demand = scene.asked()
    assert (sizes(demand), demand.size) == ([(3, 1000)], ElasticSize(2, 3))


def test_no_more_than_the_most_are_asked_for() -> None:
    options = {MIN_SIZE: "1", MAX_SIZE: "2"}
    scene = Scene(*(one_pod(n, group="ring", annotations=options) for n in "abc"))
    demand = scene.asked()
    assert (sizes(demand), demand.size) == ([(2, 1000)], ElasticSize(1, 2))


def test_a_job_may_start_smaller_than_it_would_like() -> None:
    demand = Scene(a_job(pods=4, annotations={MIN_SIZE: "2"})).asked()
    assert (sizes(demand), demand.size) == ([(4, 1000)], ElasticSize(2, 4))


def test_of_several_shapes_the_least_size_starts_and_the_others_follow() -> None:
    """The queue grows jobs by equal pods alone."""
    options = {MIN_SIZE: "2"}
    scene = Scene(
        one_pod("a", group="ring", annotations=options, cpu="2"),
        one_pod("b", group="ring", annotations=options),
        one_pod("c", group="ring", annotations=options),
    )
    demand = scene.asked()
    assert (sizes(demand), demand.size) == ([(1, 2000), (1, 1000)], None)


# -- order -----------------------------------------------------------------------------------------


def test_pods_with_numbers_are_asked_for_in_the_order_of_their_numbers() -> None:
    job = a_job(pods=2, suspended=False, queued=False)
    scene = Scene(
        job,
        pod_of(job, "late", index=1, cpu="2"),
        pod_of(job, "early", index=0, cpu="1"),
    )
    assert sizes(scene.asked()) == [(1, 1000), (1, 2000)]


# -- once it has started ---------------------------------------------------------------------------


def test_a_group_that_sits_asks_for_nothing() -> None:
    scene = Scene(*ring(2, "a", "b"))
    part = scene.place("n1", "n2")
    scene.seat(part, *scene.group.pods)
    assert scene.ask() is None


def test_pods_yet_to_come_are_not_asked_for_again_while_seats_wait_for_them() -> None:
    scene = Scene(a_job(pods=3))
    scene.place("n1", "n1", "n2")
    assert scene.ask() is None


def test_pods_that_come_after_the_start_are_asked_for_as_they_come() -> None:
    scene = Scene(*ring(2, "a", "b"))
    scene.seat(scene.place("n1", "n2"), *scene.group.pods)
    scene.put(*ring(2, "c"))
    assert sizes(scene.asked()) == [(1, 1000)]


def test_a_job_whose_parallelism_is_raised_asks_for_the_difference() -> None:
    scene = Scene(a_job(pods=2))
    scene.place("n1", "n1")
    scene.put(a_job(pods=5, suspended=False, queued=False))
    assert sizes(scene.asked()) == [(3, 1000)]


def test_pods_that_are_bound_without_a_seat_are_not_asked_for() -> None:
    assert Scene(one_pod("a", node="n1")).ask() is None


# -- pods to come ----------------------------------------------------------------------------------


def test_only_pods_of_the_workload_itself_count_for_it() -> None:
    job = a_job(pods=2, suspended=False, queued=False)
    scene = Scene(job, pod_of(job, "mine"))
    (uid,) = scene.group.workloads
    assert pods_to_come(scene.group, uid) == 1
    scene.put(pod_of(job, "done", phase="Succeeded"))
    assert pods_to_come(scene.group, uid) == 0


def test_nothing_comes_of_a_job_that_is_closed() -> None:
    scene = Scene(a_job(pods=2))
    (uid,) = scene.group.workloads
    scene.group.close(ClosedGroup(frozenset(), for_good=True))
    assert pods_to_come(scene.group, uid) == 0


# -- what else it asks for -------------------------------------------------------------------------


def test_marks_say_queue_priority_hold_begin_and_what_must_come_before() -> None:
    options = {
        "queue": "night",
        "priority": "7",
        "hold": "true",
        "begin": "1970-01-01T00:01:00Z",
        "afterok": "job/prepare",
        "walltime": "90s",
    }
    annotations = {PREFIX + key: value for key, value in options.items()}
    demand = Scene(a_job(annotations=annotations)).asked()
    assert (demand.queue, demand.priority, demand.hold, demand.begin) == ("night", 7, True, 60)
    assert demand.after == (("afterok", "job/prepare"),)
    assert demand.walltime == 90


def test_without_marks_everything_is_as_usual() -> None:
    demand = Scene(one_pod()).asked()
    assert (demand.queue, demand.priority, demand.hold, demand.begin) == ("default", 0, False, None)
    assert (demand.after, demand.walltime, demand.job_class) == ((), None, 0)


def test_the_priority_of_its_pods_is_the_class_of_the_job() -> None:
    assert Scene(one_pod(priority=1000)).asked().job_class == 1000


def test_our_annotation_goes_before_the_deadlines_of_kubernetes() -> None:
    job = a_job(annotations={PREFIX + "walltime": "10s"}, activeDeadlineSeconds=60)
    assert Scene(job).asked().walltime == 10
    assert Scene(a_job(activeDeadlineSeconds=60)).asked().walltime == 60


def test_a_group_lasts_as_long_as_its_last_pod_and_is_endless_if_one_of_them_is() -> None:
    both = [*ring(2, "a", activeDeadlineSeconds=60), *ring(2, "b", activeDeadlineSeconds=90)]
    assert Scene(*both).asked().walltime == 90
    assert Scene(both[0], *ring(2, "b")).asked().walltime is None


def test_a_group_can_go_back_only_if_workloads_made_all_of_it() -> None:
    options = {PREFIX + "group": "ring", PREFIX + "group-size": "3"}
    assert Scene(a_job(pods=2)).asked().requeue
    assert not Scene(*ring(2, "a", "b")).asked().requeue
    assert not Scene(a_job(pods=2, labels=options), *ring(3, "c")).asked().requeue
