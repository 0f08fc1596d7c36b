"""Groups that ask for one rack, for slices or to be spread, in every dialect; nodes that move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from fluxnetes.cluster.group_topology import NATIVE_KEY, volcano_request
from fluxnetes.cluster.topology import ClusterTopology
from fluxnetes.kube.objects.jobs import Job
from fluxnetes.kube.objects.nodes import Node
from fluxnetes.kube.objects.podgroups import NativePodGroup, NetworkTopology
from fluxnetes.match.gang.model import Gang, TopologyRequest
from tests.unit.cluster.builders import HERE, a_job, changed, machine, one_pod
from tests.unit.controller.play import Play

RACK = "example.com/rack"
LEVELS = ("zone", RACK)


def node(name: str, zone: str = "z", rack: str = "") -> Node:
    return machine(name, zone=zone, labels={RACK: rack} if rack else {})


@pytest.fixture
def play() -> Iterator[Play]:
    """Racks of two, two and three nodes of four cpu."""
    racks = {"a": 2, "b": 2, "c": 3}
    nodes = [node(f"{rack}{n}", rack=rack) for rack, size in racks.items() for n in range(size)]
    with Play(*nodes, topology=LEVELS) as play:
        yield play


def near(name: str, pods: int, cpu: str = "4", **annotations: str) -> Any:
    keys = {f"fluxnetes.io/topology-{k.replace('_', '-')}": v for k, v in annotations.items()}
    return a_job(name, pods=pods, cpu=cpu, annotations=keys, completionMode="Indexed")


def reason(play: Play, name: str) -> str:
    """Why a group is not in the queue."""
    (found,) = (g for g in play.shared.model.groups.values() if g.key.name == name)
    return str(found.not_queued.reason) if found.not_queued is not None else ""


def why(play: Play, job: int) -> str:
    return str(play.shared.scheduler.explain(job, play.shared.now).reason)


# -- what is asked for -----------------------------------------------------------------------------


def test_a_job_that_requires_one_rack_is_in_one(play: Play) -> None:
    play.put(near("one", 2, required=RACK), near("other", 2, required="rack"))
    assert [play.where("one"), play.where("other")] == [["a0", "a1"], ["b0", "b1"]]
    play.put(near("large", 3, required=RACK), near("late", 2, required=RACK))
    assert play.where("large") == ["c0", "c1", "c2"]
    assert play.pods("late") == []
    play.end(*play.pods("other"))
    assert play.where("late") == ["b0", "b1"]


def test_a_reason_says_what_one_rack_lacks(play: Play) -> None:
    play.put(near("one", 1, required=RACK), near("waits", 3, required=RACK))
    play.put(near("late", 3, required=RACK))
    assert play.where("waits") == ["c0", "c1", "c2"]
    assert "needs 3 pods inside one level:example.com/rack; the most that fit" in why(play, 3)
    play.put(near("never", 4, required=RACK))
    assert "needs 4 pods inside one" in why(play, 4)


def test_slices_are_runs_of_indices_in_one_rack_each(play: Play) -> None:
    play.put(near("train", 6, slice=RACK, slice_size="2"))
    pods = {pod.metadata.name: pod.spec.node_name[0] for pod in play.pods("train")}
    racks = [rack for _, rack in sorted(pods.items())]
    assert len(racks) == 6
    assert all(len(set(racks[first : first + 2])) == 1 for first in (0, 2, 4))


def test_pods_are_spread_over_racks(play: Play) -> None:
    play.put(near("train", 3, cpu="1", spread=RACK))
    assert play.where("train") == ["a0", "b0", "c0"]
    play.put(near("four", 4, cpu="1", spread=RACK))
    assert play.pods("four") == []


def test_a_level_that_the_cluster_does_not_have_is_refused_with_those_that_there_are(
    play: Play,
) -> None:
    play.put(near("train", 2, required="example.com/row"))
    assert reason(play, "train") == (
        "fluxnetes.io/topology-required: found 'example.com/row', expected a level of this "
        "cluster: topology.kubernetes.io/zone, example.com/rack, kubernetes.io/hostname"
    )
    play.patch("train", {"metadata": {"annotations": {"fluxnetes.io/topology-required": "rack"}}})
    assert play.where("train") == ["a0", "a1"]


def test_a_job_that_waits_asks_anew_when_its_user_changes_it(play: Play) -> None:
    play.put(near("train", 4, required=RACK))
    assert play.pods("train") == []
    play.patch("train", {"metadata": {"annotations": {"fluxnetes.io/topology-required": "zone"}}})
    assert len(play.where("train")) == 4


def test_pods_of_one_group_label_are_in_one_rack(play: Play) -> None:
    keys = {"fluxnetes.io/topology-required": RACK}
    play.put(*(one_pod(f"p{n}", cpu="4", group="ring", size=3, annotations=keys) for n in range(3)))
    assert play.where("ring") == ["c0", "c1", "c2"]


def test_kueues_words_count(play: Play) -> None:
    keys = {"kueue.x-k8s.io/podset-required-topology": RACK}
    play.put(a_job("train", pods=3, cpu="4", template={"annotations": keys}))
    assert play.where("train") == ["c0", "c1", "c2"]


def test_the_constraint_of_kubernetes_own_pod_group_counts(play: Play) -> None:
    def pod_group(key: str) -> NativePodGroup:
        topology = {"topology": [{"key": key}]}
        policy = {"gang": {"minCount": 3}}
        content = {
            "metadata": {"name": "ring", "namespace": HERE},
            "spec": {"schedulingPolicy": policy, "schedulingConstraints": topology},
        }
        return msgspec.convert(content, NativePodGroup)

    model = play.shared.model
    model.put_pod_group(pod_group("example.com/row"))
    named = {"podGroupName": "ring"}
    play.put(*(one_pod(f"p{n}", cpu="4", schedulingGroup=named) for n in range(3)))
    assert f"{NATIVE_KEY}: found 'example.com/row'" in reason(play, "ring")
    model.put_pod_group(pod_group(RACK))
    play.settle()
    assert [play.where(f"p{n}") for n in range(3)] == [["c0"], ["c1"], ["c2"]]


@pytest.mark.parametrize(
    ("network", "required"),
    [
        (NetworkTopology("hard", 1), "level:example.com/rack"),
        (NetworkTopology(), "level:example.com/rack"),
        (NetworkTopology("hard", 2), "subnet"),
        (NetworkTopology("hard", 3), None),
        (NetworkTopology("soft"), None),
    ],
)
def test_volcanos_tiers_are_levels_from_the_nodes_upwards(
    network: NetworkTopology, required: str | None
) -> None:
    found = volcano_request(network, ClusterTopology.of(LEVELS))
    assert found == TopologyRequest(required, "level:example.com/rack")


def test_the_constraint_in_the_spec_of_a_job_counts(play: Play) -> None:
    def job(name: str, key: str) -> Job:
        constraints = {"schedulingConstraints": {"topology": [{"key": key}]}}
        return a_job(name, pods=3, cpu="4", scheduling=constraints)

    play.put(job("lost", "example.com/row"), job("train", RACK))
    assert "spec.scheduling.schedulingConstraints.topology[0].key: found" in reason(play, "lost")
    assert play.where("train") == ["c0", "c1", "c2"]


# -- Fluence's zone --------------------------------------------------------------------------------

FLUENCE = {"fluence.flux-framework.org/jobspec": "zone"}


def test_fluences_zone_is_one_zone_and_one_node_if_that_has_capacity() -> None:
    nodes = [node("w0", "west"), node("e0", "east"), node("e1", "east")]
    with Play(*nodes) as play:
        play.put(a_job("large", pods=3, cpu="2", labels=FLUENCE))
        assert play.where("large") == ["e0", "e0", "e1"]
        play.put(a_job("small", pods=2, cpu="2", labels=FLUENCE))
        assert play.where("small") == ["w0", "w0"]


def test_where_no_node_names_a_zone_all_are_one() -> None:
    with Play(machine("n1"), machine("n2")) as play:
        play.put(a_job("train", pods=2, cpu="3", labels=FLUENCE))
        assert play.where("train") == ["n1", "n2"]


# -- pods that come later --------------------------------------------------------------------------


def test_a_replacement_of_a_pod_stays_in_the_rack(play: Play) -> None:
    play.put(near("filler", 2, required=RACK))
    assert play.where("filler") == ["a0", "a1"]
    play.put(near("train", 2, required=RACK))
    assert play.where("train") == ["b0", "b1"]
    play.put(node("b2", rack="b"))
    play.drop(play.cluster.nodes["b0"])
    play.cluster.delete_pod(play.pods("train")[0].metadata.uid)
    play.wait(8)
    assert play.where("train") == ["b1", "b2"]


def test_pods_that_are_added_are_in_the_rack_of_the_others(play: Play) -> None:
    play.put(near("train", 2, cpu="2", required=RACK, preferred="node"))
    (used,) = set(play.where("train"))
    job = play.cluster.jobs[f"uid-{HERE}-job-train"]
    play.put(changed(job, spec={"parallelism": 4, "completions": 4}))
    play.wait(3)
    assert {name[0] for name in play.where("train")} == {used[0]}
    assert len(play.where("train")) == 4


# -- nodes that move -------------------------------------------------------------------------------


def test_what_runs_on_a_node_that_is_relabelled_goes_on(play: Play) -> None:
    play.put(near("train", 2, required=RACK))
    assert play.where("train") == ["a0", "a1"]
    play.put(node("a1", rack="b"))
    play.wait(10)
    assert (play.where("train"), play.states()) == (["a0", "a1"], ["running"])
    play.put(near("late", 3, required=RACK), near("next", 2, required=RACK))
    assert play.where("late") == ["c0", "c1", "c2"]
    assert play.where("next") == ["b0", "b1"]
    play.end(*play.pods("train"))
    play.put(node("b2", zone="z", rack="a"))
    play.put(near("more", 2, required=RACK))
    assert play.where("more") == ["a0", "b2"]


def test_a_restart_after_a_node_was_relabelled_loses_nothing(play: Play) -> None:
    play.put(near("train", 2, required=RACK))
    play.cluster.put(node("a1", rack="b"))
    play.restart()
    play.settle()
    assert (play.where("train"), play.states()) == (["a0", "a1"], ["running"])
    path = play.shared.matcher.graph.path(play.shared.model.node_graph.nodes["a1"].vertex)
    assert path == "/cluster0/z/b/a1"
    play.restart()
    play.end(*play.pods("train"))
    assert play.states()[0] == "completed"


def test_a_restart_with_other_levels_loses_nothing(play: Play) -> None:
    play.put(near("train", 2, required=RACK), near("waits", 4, required=RACK))
    play.has_levels(RACK)
    play.restart()
    play.settle()
    assert (play.where("train"), play.states()) == (["a0", "a1"], ["running", "pending"])
    path = play.shared.matcher.graph.path(play.shared.model.node_graph.nodes["a1"].vertex)
    assert path == "/cluster0/a/a1"
    play.has_levels()
    play.restart()
    play.settle()
    assert play.where("train") == ["a0", "a1"]
    assert "expected a level of this cluster: kubernetes.io/hostname" in reason(play, "waits")


def test_running_gangs_are_adopted_with_what_they_ask_for(play: Play) -> None:
    play.put(near("train", 2, required=RACK))
    play.restart(empty=True)
    play.settle()
    (job,) = play.shared.scheduler.jobs.values()
    request = job.submission.request
    assert isinstance(request, Gang) and request.topology == TopologyRequest(
        "level:example.com/rack"
    )
    assert play.where("train") == ["a0", "a1"]
