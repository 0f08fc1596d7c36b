"""The control plane is a real one: Jobs, RBAC, nodes that come, servers that are killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.certificates import PlaneAuthority
from fluxnetes.plane.components import API_SERVER, ETCD
from fluxnetes.plane.errors import PlaneFailed, RequestRefused
from fluxnetes.plane.nodes import NODES, is_ready
from fluxnetes.plane.plane import ControlPlane
from tests.integration.plane.objects import JOBS, PODS, a_job, a_pod, conditions, wait_for

RUN_TIME = "fluxnetes.io/run-time"


def test_all_nodes_are_ready(api: PlaneApi) -> None:
    nodes = api.get(NODES)["items"]
    assert {node["metadata"]["name"] for node in nodes} >= {f"node-{n}" for n in range(4)}
    assert all(map(is_ready, nodes))


def test_a_suspended_job_starts_when_it_is_resumed(api: PlaneApi) -> None:
    waiting = a_job("waits", {RUN_TIME: "1s"}, suspend=True, parallelism=3, completions=3)
    api.create(JOBS, waiting)
    wait_for(api, JOBS, "waits", lambda job: conditions(job).get("Suspended") == "True")
    assert _pods_of(api, "waits") == []
    api.patch(f"{JOBS}/waits", {"spec": {"suspend": False}})
    done = wait_for(api, JOBS, "waits", lambda job: conditions(job).get("Complete") == "True")
    assert done["status"]["succeeded"] == 3


def test_a_running_job_that_is_suspended_loses_its_pods(api: PlaneApi) -> None:
    api.create(JOBS, a_job("stops", {RUN_TIME: "1h"}, parallelism=2))
    wait_for(api, JOBS, "stops", lambda job: job["status"].get("ready") == 2)
    api.patch(f"{JOBS}/stops", {"spec": {"suspend": True}})
    stopped = wait_for(api, JOBS, "stops", lambda job: conditions(job).get("Suspended") == "True")
    assert stopped["status"].get("failed", 0) == 0
    for pods in api.follow(f"{PODS}?labelSelector=batch.kubernetes.io/job-name%3Dstops"):
        if not pods:
            break
    api.delete(f"{JOBS}/stops")


def _pods_of(api: PlaneApi, job: str) -> list[object]:
    found: list[object] = api.get(f"{PODS}?labelSelector=job-name%3D{job}")["items"]
    return found


def test_a_node_that_is_added_becomes_ready(api: PlaneApi) -> None:
    api.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "added"}})
    node = wait_for(api, NODES, "added", is_ready)
    assert node["status"]["allocatable"]["cpu"] == "16"
    api.delete(f"{NODES}/added")


def test_only_authorized_clients_are_served(plane: ControlPlane, tmp_path: Path) -> None:
    port = int(plane.server.rpartition(":")[2])
    authority = PlaneAuthority(plane.paths.keys)
    client = authority.issue_client("alice", "alice")
    with PlaneApi(port, authority.files.certificate, client) as api:
        with pytest.raises(RequestRefused, match='User "alice" cannot list') as refused:
            api.get(NODES)
        assert refused.value.status == 403
    stranger = PlaneAuthority(tmp_path).issue_client("admin", "admin", "system:masters")
    with (
        PlaneApi(port, authority.files.certificate, stranger) as api,
        pytest.raises(RequestRefused) as refused,
    ):
        api.get(NODES)
    assert refused.value.status == 401


def test_one_folder_has_one_plane(plane: ControlPlane, binaries: PlaneBinaries) -> None:
    with pytest.raises(PlaneFailed, match="another process uses"):
        ControlPlane(plane.paths.top, binaries=binaries).start()


def test_work_goes_on_after_kill_9_of_the_api_server(plane: ControlPlane, api: PlaneApi) -> None:
    api.create(JOBS, a_job("survivor", {RUN_TIME: "1s"}, parallelism=2, completions=4))
    plane.processes[API_SERVER].kill()
    assert plane.ended() == {API_SERVER: -9}
    plane.start_component(API_SERVER)
    assert plane.ended() == {}
    wait_for(api, JOBS, "survivor", lambda job: conditions(job).get("Complete") == "True")


def test_two_parts_are_enough_for_a_benchmark(binaries: PlaneBinaries, folder: Path) -> None:
    """Nodes are ready and pods can be made, without controllers, a scheduler or kubelets."""
    parts = (ETCD, API_SERVER)
    with (
        ControlPlane(folder, nodes=2, components=parts, fsync=False, binaries=binaries) as plane,
        plane.api() as api,
    ):
        assert [node["spec"].get("taints") for node in api.get(NODES)["items"]] == [None, None]
        assert api.create(PODS, a_pod("alone"))["status"]["phase"] == "Pending"


def test_a_part_that_cannot_start_says_why(binaries: PlaneBinaries, folder: Path) -> None:
    plane = ControlPlane(folder, binaries=binaries)
    (plane.paths.etcd / "member").write_text("no folder")
    with pytest.raises(PlaneFailed, match=r"etcd ended \(status \d+\)(?s:.*)not a directory"):
        plane.start()
    assert plane.processes == {}
