"""Where pods may go: what their specs allow, what nodes allow, and which pods are there already."""

from __future__ import annotations

import pytest

from fluxnetes.plane.nodes import NODES
from tests.integration.controller.objects import Content, PodMaker, a_gang, a_job, a_pod
from tests.integration.controller.space import Space, node_of
from tests.integration.controller.stage import Stage
from tests.integration.controller.volumes import make_claim, make_class, make_volume, with_claim

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def with_node_affinity(pod: PodMaker, *terms: Content) -> PodMaker:
    return pod.with_spec(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}})


def expression(key: str, operator: str, *values: str) -> Content:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


# --- nodes -------------------------------------------------------------------------------------


def test_a_node_selector_is_honoured(stage: Stage, space: Space) -> None:
    stage.add_node("special", disk="fast")
    space.create(a_pod("fast").with_spec(nodeSelector={"disk": "fast"}))
    space.create(a_pod("none").with_spec(nodeSelector={"disk": "golden"}))
    assert space.until_bound("fast")["fast"] == "special"
    space.until_event("none", "FailedScheduling", "Unsatisfiable: ")


@pytest.mark.parametrize(
    "terms",
    [
        [expression("rank", "In", "7", "8")],
        [expression("rank", "Gt", "6")],
        [expression("rank", "Exists")],
        [expression("rank", "In", "99"), expression("rank", "Lt", "8")],
        [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["special"]}]}],
    ],
    ids=["in", "greater", "exists", "one-of-two", "name"],
)
def test_required_node_affinity_is_honoured(
    stage: Stage, space: Space, terms: list[Content]
) -> None:
    stage.add_node("special", rank="7")
    space.create(with_node_affinity(a_pod("a"), *terms))
    assert space.until_bound("a")["a"] == "special"


def test_a_taint_keeps_pods_away_that_do_not_tolerate_it(stage: Stage, space: Space) -> None:
    stage.add_node("special")
    taint = {"key": "dedicated", "value": "lab", "effect": "NoSchedule"}
    stage.api.patch(f"{NODES}/special", {"spec": {"taints": [taint]}})
    lab = {"key": "dedicated", "operator": "Equal", "value": "lab", "effect": "NoSchedule"}
    space.create(a_pod("tolerant").on("special").with_spec(tolerations=[lab]))
    space.create(a_pod("stranger").on("special"))
    assert space.until_bound("tolerant")["tolerant"] == "special"
    space.until_event("stranger", "FailedScheduling", "Unsatisfiable: ")


def test_a_cordoned_node_gets_nothing_new_and_keeps_what_it_has(stage: Stage, space: Space) -> None:
    stage.add_node("special")
    space.create(a_pod("there").on("special"))
    space.until_bound("there")
    stage.cordon("special")
    space.create(a_pod("late").on("special"))
    space.until_waits("late")
    assert space.get("Pod", "there")["status"]["phase"] == "Running"
    stage.uncordon("special")
    space.until_bound("late")


def test_a_node_that_is_not_ready_gets_nothing_until_it_is(stage: Stage, space: Space) -> None:
    stage.add_node("special", ready=False)
    space.create(a_pod("a").on("special"))
    space.until_waits("a")
    stage.make_ready("special")
    space.until_bound("a")


def test_nodes_that_come_later_are_used(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0")
    space.create(a_gang("g", 2, cpu=10))
    space.until_waits("g-0")
    stage.add_node("special")
    assert set(space.until_bound("g-0", "g-1").values()) == {"node-0", "special"}


def test_a_node_that_is_relabelled_is_used_for_what_it_is_now(stage: Stage, space: Space) -> None:
    stage.add_node("special", disk="fast")
    stage.cordon("special")
    space.create(a_pod("fast").with_spec(nodeSelector={"disk": "fast"}))
    space.until_waits("fast")
    stage.add_node("other")
    stage.api.patch(f"{NODES}/other", {"metadata": {"labels": {"disk": "fast"}}})
    assert space.until_bound("fast")["fast"] == "other"


def test_a_node_that_grows_is_used_for_more(stage: Stage, space: Space) -> None:
    stage.add_node("special")
    space.create(a_pod("first").on("special").with_cpu(16))
    space.until_bound("first")
    space.create(a_pod("second").on("special").with_cpu(2))
    space.until_waits("second")
    more = {"status": {"capacity": {"cpu": "18"}, "allocatable": {"cpu": "18"}}}
    stage.api.patch(f"{NODES}/special/status", more)
    space.until_bound("second")


# --- ports and volumes -------------------------------------------------------------------------


def with_port(pod: PodMaker, port: int) -> PodMaker:
    pod.main["ports"] = [{"containerPort": 80, "hostPort": port}]
    return pod


def test_a_host_port_is_used_once_a_node(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0", "node-1", "node-2")
    space.create(with_port(a_pod("theirs").of_others().on("node-1"), 8080))
    space.until_bound("theirs")
    space.create(with_port(a_pod("ours").in_group("g", 2), 8080).times(2))
    assert set(space.until_bound("ours-0", "ours-1").values()) == {"node-0", "node-2"}
    space.create(with_port(a_pod("late"), 8080), with_port(a_pod("other"), 8081))
    space.until_bound("other")
    space.until_waits("late")
    space.delete("Pod", "theirs")
    assert space.until_bound("late")["late"] == "node-1"


def test_a_pod_goes_where_its_volume_is(space: Space) -> None:
    make_volume(space, "data", "node-5")
    make_claim(space, "data")
    space.create(with_claim(a_pod("a"), "data"))
    assert space.until_bound("a")["a"] == "node-5"


def test_a_pod_waits_for_its_claim(space: Space) -> None:
    space.create(with_claim(a_pod("a"), "data"))
    space.until_one("Pod", "a", lambda pod: "no claim data" in str(pod["status"]))
    make_volume(space, "data", "node-5")
    make_claim(space, "data")
    assert space.until_bound("a")["a"] == "node-5"


def test_a_claim_that_waits_for_its_first_consumer_is_refused(space: Space) -> None:
    make_claim(space, "data", make_class(space))
    space.create(with_claim(a_pod("a"), "data"))
    space.until_event("a", "FailedScheduling", "spec.volumes[0].persistentVolumeClaim")


# --- other pods --------------------------------------------------------------------------------


def apart_from(pod: PodMaker, key: str = "kubernetes.io/hostname", **labels: str) -> PodMaker:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
    return pod.with_spec(affinity={"podAntiAffinity": {REQUIRED: [term]}})


def test_pods_that_keep_apart_are_on_different_nodes(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0", "node-1", "node-2")
    pod = apart_from(a_pod("a").labelled({"app": "db"}).in_group("g", 3), app="db")
    space.create(pod.times(3))
    assert len(set(space.until_bound("a-0", "a-1", "a-2").values())) == 3
    space.create(apart_from(a_pod("late").labelled({"app": "db"}), app="db"))
    space.until_waits("late")
    space.delete("Pod", "a-1")
    space.until_bound("late")


def test_more_pods_that_keep_apart_than_nodes_wait_for_nodes(space: Space) -> None:
    pod = apart_from(a_pod("a").labelled({"app": "db"}).in_group("g", 9), app="db")
    space.create(pod.times(9))
    assert space.until_reason("g-group", "Unsatisfiable")["state"] == "pending"


def test_others_that_keep_away_from_us_are_left_alone(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0", "node-1")
    space.create(apart_from(a_pod("theirs").of_others().on("node-0"), app="noisy"))
    space.until_bound("theirs")
    space.create(a_pod("quiet"), a_pod("noisy").labelled({"app": "noisy"}))
    assert space.until_bound("quiet", "noisy")["noisy"] == "node-1"


def test_we_keep_away_from_others(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0", "node-1")
    space.create(a_pod("theirs").of_others().on("node-0").labelled({"app": "noisy"}))
    space.until_bound("theirs")
    space.create(apart_from(a_pod("shy"), app="noisy"))
    assert space.until_bound("shy")["shy"] == "node-1"


def test_an_exclusive_pod_has_its_node_for_itself(stage: Stage, space: Space) -> None:
    stage.leave_open("node-0", "node-1", "node-2")
    space.create(a_pod("theirs").of_others().on("node-0"))
    space.until_bound("theirs")
    alone = a_job("alone").of(2).annotated({"fluxnetes.io/exclusive": "true"})
    space.create(alone.running_for("1h"))
    pods = space.until_job_bound("alone", 2)
    assert {node_of(pod) for pod in pods} == {"node-1", "node-2"}
    space.create(a_pod("small"), a_pod("beside").on("node-1"))
    assert space.until_bound("small")["small"] == "node-0"
    space.until_waits("beside")


def test_daemons_stay_beside_an_exclusive_pod(stage: Stage, space: Space) -> None:
    template = {"metadata": {"labels": {"app": "d"}}, "spec": a_pod("d").of_others().spec}
    template["spec"]["restartPolicy"] = "Always"
    spec = {"selector": {"matchLabels": {"app": "d"}}, "template": template}
    path = f"/apis/apps/v1/namespaces/{space.namespace}/daemonsets"
    space.api.create(path, {"metadata": {"name": "d"}, "spec": spec})
    space.until("Pod", lambda pods: len(pods) == 8 and all(map(node_of, pods.values())))
    space.create(a_pod("alone").annotated({"fluxnetes.io/exclusive": "true"}))
    space.until_bound("alone")
    space.api.delete(f"{path}/d")
