"""Services start with what fits, follow their users, and are one group from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from fluxnetes.cluster.adapters.deployments import Deployment
from fluxnetes.cluster.adapters.replica_sets import ReplicaSet
from fluxnetes.cluster.adapters.services import ServiceWorkload
from fluxnetes.cluster.adapters.stateful_sets import PARALLEL, StatefulSet
from fluxnetes.cluster.labels.names import GROUP, GROUP_SIZE, HOLD, MIN_SIZE, WALLTIME
from fluxnetes.kube.objects.pods import PodTemplate
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from tests.unit.cluster.builders import OTHERS, a_job, a_service, machine, one_pod
from tests.unit.controller.play import TIMEOUTS, Play
from tests.unit.controller.reporting.told import Told

KINDS = [Deployment, ReplicaSet, StatefulSet]
LONG = int(TIMEOUTS.replacement_pod + TIMEOUTS.stalled_group) + 4


@pytest.fixture
def play() -> Iterator[Play]:
    """Three nodes of four cpu."""
    with Play(machine("n1"), machine("n2"), machine("n3")) as play:
        yield play


def run(play: Play, service: ServiceWorkload) -> None:
    """A user makes a service; kubelets start its pods, and it comes to rest."""
    play.put(service)
    play.wait(2 * service.spec.replicas + 2)


def top(play: Play, name: str = "web") -> ServiceWorkload:
    return next(s for s in play.cluster.services.values() if s.metadata.name == name)


def scale(play: Play, replicas: int, name: str = "web") -> None:
    play.cluster.patch_service(top(play, name).metadata.uid, {"spec": {"replicas": replicas}})
    play.wait(2 * replicas + 3)


def roll_out(play: Play, name: str = "web", *, cpu: str = "", image: str = "") -> PodTemplate:
    """A user changes its template; returns the one before."""
    before = top(play, name).spec.template
    other = a_service(Deployment, name, cpu=cpu or "1", template={"annotations": {"image": image}})
    play.cluster.roll_out(top(play, name).metadata.uid, other.spec.template)
    play.wait(8 * max(1, top(play, name).spec.replicas))
    return before


def bound(play: Play, name: str = "web") -> int:
    return sum(map(bool, play.where(name)))


def live(play: Play) -> list[str]:
    """States of the jobs that have not ended."""
    over = ("completed", "cancelled", "failed", "timed out", "rejected")
    return [state for state in play.states() if state not in over]


# -- starting --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_is_one_group_and_one_job(play: Play, kind: type[ServiceWorkload]) -> None:
    run(play, a_service(kind, replicas=3, cpu="2"))
    assert bound(play) == 3
    assert play.states() == ["running"]
    (key,) = play.shared.model.groups
    assert (key.kind, key.name) == (kind.__name__, "web")


@pytest.mark.parametrize("kind", KINDS)
def test_it_starts_with_what_fits_and_the_others_wait_in_line(
    play: Play, kind: type[ServiceWorkload]
) -> None:
    play.put(one_pod("before", cpu="4"))
    run(play, a_service(kind, replicas=4, cpu="4"))
    assert bound(play) == 2
    assert play.states() == ["running", "running", "pending"]
    play.put(a_job("later", cpu="4"))
    play.end(*play.pods("before"))
    play.wait(2)
    assert (bound(play), bound(play, "later")) == (3, 0), "in order of arrival"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", [MIN_SIZE, GROUP_SIZE])
def test_a_service_that_asks_for_it_starts_as_a_gang(
    play: Play, kind: type[ServiceWorkload], key: str
) -> None:
    play.put(one_pod("before", cpu="4"))
    run(play, a_service(kind, replicas=3, cpu="4", annotations={key: "3"}))
    assert bound(play) == 0
    play.end(*play.pods("before"))
    play.wait(8)
    assert bound(play) == 3
    assert live(play) == ["running"]


def test_a_service_of_another_scheduler_is_not_ours(play: Play) -> None:
    run(play, a_service(Deployment, replicas=2, scheduler=OTHERS))
    assert not play.shared.model.groups
    assert play.states() == []


def test_a_held_service_waits_and_starts_when_it_is_released(play: Play) -> None:
    run(play, a_service(Deployment, replicas=2, annotations={HOLD: "true"}))
    assert play.states() == ["held"]
    uid = top(play).metadata.uid
    play.cluster.patch_service(uid, {"metadata": {"annotations": {HOLD: None}}})
    play.wait(3)
    assert bound(play) == 2


def test_a_service_has_no_walltime_whatever_the_default_of_its_queue() -> None:
    config = SchedulerConfig(
        queues=(QueueConfig(default_walltime=5, grace=2), QueueConfig("short", max_walltime=5))
    )
    with Play(machine("n1"), config=config) as play:
        run(play, a_service(Deployment, replicas=1))
        play.put(a_job("usual"))
        play.wait(20)
        assert play.states() == ["running", "timed out"]
        play.put(a_service(Deployment, "brief", annotations={"fluxnetes.io/queue": "short"}))
        play.wait(2)
        assert play.states()[-1] == "rejected"


# -- ordered pods ----------------------------------------------------------------------------------


def test_an_ordered_set_holds_the_seats_of_pods_that_it_creates_later(play: Play) -> None:
    """Its first pod takes long to be ready, and others would take the nodes."""
    play.put(a_service(StatefulSet, replicas=3, cpu="4"))
    assert bound(play) == 1
    play.put(a_job("other", cpu="4"))
    play.cluster.now += 3
    play.settle()
    assert (bound(play), bound(play, "other")) == (1, 0)
    assert play.states() == ["running", "pending"]
    play.wait(6)
    assert (bound(play), bound(play, "other")) == (3, 0)


def test_its_empty_seats_are_no_stall_until_a_timeout_of_their_own(play: Play) -> None:
    play.put(a_service(StatefulSet, replicas=2, cpu="4"))
    never_ready(play)
    play.put(a_job("other", pods=2, cpu="4"))
    for _ in range(int(TIMEOUTS.stalled_group) + 5):
        step(play)
    assert (bound(play), bound(play, "other")) == (1, 0)
    for _ in range(int(TIMEOUTS.dependent_pod)):
        step(play)
    assert (bound(play), bound(play, "other")) == (1, 2), "the first pod runs on"


def test_an_ordered_set_that_is_a_gang_starts_whole_all_the_same(play: Play) -> None:
    run(play, a_service(StatefulSet, replicas=3, cpu="2", annotations={GROUP_SIZE: "3"}))
    assert bound(play) == 3
    assert play.states() == ["running"]


def never_ready(play: Play) -> None:
    """Kubelets do nothing from now on."""
    play.cluster._keep = lambda pod: None  # type: ignore[method-assign]


def step(play: Play) -> None:
    play.cluster.pass_time()
    play.settle()


# -- scaling ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_follows_its_user_up_and_down(play: Play, kind: type[ServiceWorkload]) -> None:
    run(play, a_service(kind, replicas=2, cpu="4"))
    scale(play, 3)
    assert bound(play) == 3
    scale(play, 1)
    assert bound(play) == 1
    play.put(a_job("other", pods=2, cpu="4"))
    assert bound(play, "other") == 2, "what it no longer has is free"
    scale(play, 3)
    assert bound(play) == 1
    play.end(*play.pods("other"))
    play.wait(8)
    assert bound(play) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_without_pods_holds_nothing_and_can_be_scaled_up_again(
    play: Play, kind: type[ServiceWorkload]
) -> None:
    run(play, a_service(kind, replicas=2, cpu="4"))
    scale(play, 0)
    assert live(play) == ["gathering"]
    play.put(a_job("other", pods=3, cpu="4"))
    assert bound(play, "other") == 3
    play.end(*play.pods("other"))
    scale(play, 2)
    assert bound(play) == 2


# -- rollouts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Deployment, StatefulSet])
@pytest.mark.parametrize("cpu", ["1", "2"])
def test_a_rollout_replaces_all_pods_and_leaves_nothing_behind(
    play: Play, kind: type[ServiceWorkload], cpu: str
) -> None:
    run(play, a_service(kind, replicas=3))
    before = {pod.metadata.uid for pod in play.pods("web")}
    roll_out(play, cpu=cpu, image="2")
    after = {pod.metadata.uid for pod in play.pods("web")}
    assert len(after) == 3 and not before & after
    assert bound(play) == 3
    held = sum(part.seats for _, part in play.shared.parts.values() if part.holds)
    assert held == 3
    assert set(live(play)) <= {"running", "gathering"}
    assert len(play.shared.model.groups) == 1


def test_a_rollout_that_does_not_fit_leaves_the_old_pods_running(play: Play) -> None:
    run(play, a_service(Deployment, replicas=3, cpu="2"))
    roll_out(play, cpu="64")
    assert bound(play) == 2, "one may be unavailable meanwhile"
    assert "pending" in live(play)


def test_a_rollback_ends_what_waits_and_brings_back_what_was(play: Play) -> None:
    run(play, a_service(Deployment, replicas=3, cpu="2"))
    before = roll_out(play, cpu="64")
    play.cluster.roll_out(top(play).metadata.uid, before)
    play.wait(LONG)
    assert bound(play) == 3
    assert "pending" not in live(play)


# -- losses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_pod_that_ends_is_replaced_on_its_seat(play: Play, kind: type[ServiceWorkload]) -> None:
    run(play, a_service(kind, replicas=2, cpu="4"))
    play.put(a_job("other", pods=2, cpu="4"))
    lost = play.pods("web")[0]
    play.end(lost, ok=False)
    play.wait(3)
    assert (bound(play), bound(play, "other")) == (2, 0)
    assert lost.spec.node_name in play.where("web")
    assert play.states()[0] == "running"


@pytest.mark.parametrize("kind", KINDS)
def test_a_node_that_is_lost_takes_its_own_pods_alone(
    play: Play, kind: type[ServiceWorkload]
) -> None:
    run(play, a_service(kind, replicas=3, cpu="4"))
    running = {pod.metadata.uid for pod in play.pods("web") if pod.spec.node_name != "n2"}
    play.drop(play.cluster.nodes["n2"])
    play.wait(LONG)
    assert running <= {pod.metadata.uid for pod in play.pods("web")}
    assert bound(play) == 2
    play.put(machine("n4"))
    play.wait(4)
    assert bound(play) == 3


def test_others_that_crowd_a_node_push_out_the_pods_there_alone(play: Play) -> None:
    run(play, a_service(Deployment, replicas=3, cpu="4"))
    stay = {pod.metadata.uid for pod in play.pods("web") if pod.spec.node_name != "n1"}
    play.put(one_pod("other", scheduler=OTHERS, node="n1", cpu="4", phase="Running"))
    play.wait(LONG)
    assert stay <= {pod.metadata.uid for pod in play.pods("web")}
    assert sorted(filter(None, play.where("web"))) == ["n2", "n3"]


def test_a_gang_of_a_service_is_returned_whole_by_deleting_its_pods(play: Play) -> None:
    run(play, a_service(Deployment, replicas=3, cpu="4", annotations={MIN_SIZE: "3"}))
    play.drop(play.cluster.nodes["n2"])
    play.wait(LONG)
    assert bound(play) == 0 and len(play.pods("web")) == 3
    play.put(machine("n4"))
    play.wait(6)
    assert bound(play) == 3


# -- the end ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_that_is_deleted_leaves_nothing(play: Play, kind: type[ServiceWorkload]) -> None:
    run(play, a_service(kind, replicas=3))
    play.drop(top(play))
    play.wait(6)
    assert play.states() == ["cancelled"]
    assert not play.cluster.pods
    assert not play.shared.model.groups and not play.shared.parts


@pytest.mark.parametrize("kind", KINDS)
def test_a_service_whose_walltime_is_over_is_scaled_to_zero(
    play: Play, kind: type[ServiceWorkload]
) -> None:
    run(play, a_service(kind, replicas=2, annotations={WALLTIME: "10s"}))
    assert bound(play) == 2
    play.wait(20)
    assert play.states() == ["timed out"]
    assert top(play).spec.replicas == 0 and not play.cluster.pods
    scale(play, 2)
    assert bound(play) == 2
    assert play.states() == ["timed out", "running"]


# -- terms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("empty", [False, True])
def test_a_service_runs_on_under_the_next_controller(
    play: Play, kind: type[ServiceWorkload], empty: bool
) -> None:
    run(play, a_service(kind, replicas=3, cpu="4"))
    before = {pod.metadata.uid for pod in play.pods("web")}
    play.restart(empty=empty)
    play.wait(LONG)
    assert {pod.metadata.uid for pod in play.pods("web")} == before
    assert play.states() == ["running"]
    scale(play, 2)
    play.put(a_job("other", cpu="4"))
    assert bound(play, "other") == 1


def test_a_service_that_is_rolled_out_meanwhile_is_found_again(play: Play) -> None:
    run(play, a_service(Deployment, replicas=3))
    play.cluster.roll_out(top(play).metadata.uid, a_service(Deployment, cpu="2").spec.template)
    play.cluster.pass_time()
    play.restart()
    play.wait(LONG)
    assert bound(play) == 3
    held = sum(part.seats for _, part in play.shared.parts.values() if part.holds)
    assert held == 3


# -- owners ----------------------------------------------------------------------------------------


def test_a_pod_that_claims_a_set_of_a_deployment_gets_none_of_its_seats(play: Play) -> None:
    run(play, a_service(Deployment, replicas=1, cpu="2"))
    owner: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "none"}
    forged = one_pod("forged", owner={**owner, "uid": "no-such-set", "controller": True})
    play.cluster.put(forged)
    for _ in range(LONG):
        play.cluster.now += 1
        play.look()
    assert "uid-default-forged" in play.shared.model.orphans


def test_a_template_that_names_another_scheduler_leaves_what_runs_alone(play: Play) -> None:
    run(play, a_service(Deployment, replicas=2))
    foreign = a_service(Deployment, scheduler=OTHERS).spec.template
    plain = replace(foreign, spec=replace(foreign.spec, scheduling_gates=()))
    play.cluster.roll_out(top(play).metadata.uid, plain)
    play.wait(4)
    ours = [pod for pod in play.pods("web") if pod.spec.scheduler_name != OTHERS]
    assert ours and all(pod.spec.node_name for pod in ours)


# -- what users see --------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "type"), [(Deployment, 2), (ReplicaSet, 3), (StatefulSet, 4)])
def test_its_fluxjob_has_its_type_and_follows_its_pods(
    play: Play, kind: type[ServiceWorkload], type: int
) -> None:
    told = Told(play)
    run(play, a_service(kind, replicas=2))
    view = told.fluxjobs["web"]
    assert (int(view.kind), view.state.value, view.size) == (type, "running", 2)
    scale(play, 3)
    play.wait(2)
    assert told.fluxjobs["web"].size == 3
    assert view.owner is not None and view.owner.kind == kind.__name__


def test_others_can_wait_until_a_service_has_started(play: Play) -> None:
    play.put(a_job("client", annotations={"fluxnetes.io/after": "deployment/web"}))
    play.wait(2)
    assert bound(play, "client") == 0
    run(play, a_service(Deployment, replicas=1))
    assert bound(play, "client") == 1


def test_a_service_may_be_part_of_a_larger_group(play: Play) -> None:
    options = {GROUP: "ring", GROUP_SIZE: "4"}
    play.put(a_service(Deployment, replicas=3, cpu="2", labels=options))
    play.wait(2)
    assert bound(play) == 0
    play.put(a_job("one", labels=options))
    play.wait(2)
    assert (bound(play), bound(play, "one")) == (3, 1)


def test_a_parallel_set_creates_all_its_pods_at_once(play: Play) -> None:
    play.put(a_service(StatefulSet, replicas=3, podManagementPolicy=PARALLEL))
    assert bound(play) == 3
