"""The client, on a real API server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fluxnetes.kube.auth.access import ApiAccess, from_kubeconfig
from fluxnetes.kube.client import KubeClient, Scope
from fluxnetes.kube.discovery import discover
from fluxnetes.kube.errors import (
    AlreadyExists,
    Conflict,
    Forbidden,
    InvalidObject,
    NotFound,
    Unauthorized,
)
from fluxnetes.kube.objects.base import Metadata, Object, Resource
from fluxnetes.kube.objects.events import EVENTS, Event, Reference
from fluxnetes.kube.objects.jobs import JOBS
from fluxnetes.kube.objects.leases import LEASES
from fluxnetes.kube.objects.nodes import NODES
from fluxnetes.kube.objects.podgroups import NATIVE_POD_GROUPS, POD_GROUPS, Gang
from fluxnetes.kube.objects.pods import PODS, Pod, SchedulingGroup
from fluxnetes.kube.objects.times import micro_time
from fluxnetes.kube.patches import apply, edits, merge, strategic
from fluxnetes.plane.plane import ControlPlane
from tests.unit.kube.auth.test_access import a_config, write

ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount", Object)


def a_pod(name: str, **spec: Any) -> dict[str, Any]:
    requests = {"requests": {"cpu": "250m", "memory": "64Mi"}}
    container = {"name": "main", "image": "none", "resources": requests}
    labels = {"part": name.split("-")[0]}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"schedulerName": "fluxnetes", "containers": [container], **spec},
    }


async def make(client: KubeClient, name: str, namespace: str, **spec: Any) -> Pod:
    return await client.create(PODS, a_pod(name, **spec), namespace)


# --- read ---


async def test_nodes_are_read_with_what_they_have(access: ApiAccess) -> None:
    async with KubeClient(access) as client:
        nodes = (await client.list(NODES)).items
    assert sorted(node.metadata.name for node in nodes) == ["node-0", "node-1"]
    assert all(node.is_ready and node.status.allocatable["cpu"] == "16" for node in nodes)


async def test_what_is_made_can_be_read(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        made = await make(client, "a", namespace)
        assert made == await client.get(PODS, "a", namespace)
        assert made.spec.containers[0].resources.requests["cpu"] == "250m"
        assert made.spec.restart_policy == "Always", "as the server fills it in"
        with pytest.raises(NotFound, match=f'get pods {namespace}/b: pods "b" not found'):
            await client.get(PODS, "b", namespace)


async def test_lists_come_in_pages_and_by_selector(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        for name in ("x-1", "x-2", "x-3", "y-1"):
            await make(client, name, namespace)
        pages = [page async for page in client.pages(PODS, Scope(namespace), size=3)]
        assert [len(page.items) for page in pages] == [3, 1]
        assert len({page.version for page in pages}) == 1, "all pages show one moment"
        some = await client.list(PODS, Scope(namespace, labels="part=y"))
        assert [pod.metadata.name for pod in some.items] == ["y-1"]
        other = await client.list(PODS, Scope(namespace, fields="metadata.name=x-2"))
        assert [pod.metadata.name for pod in other.items] == ["x-2"]


async def test_a_kind_that_is_not_installed_is_not_found(access: ApiAccess) -> None:
    async with KubeClient(access) as client:
        with pytest.raises(NotFound, match="list podgroups"):
            await client.list(POD_GROUPS)


async def test_kubernetes_own_groups_are_read(access: ApiAccess, namespace: str) -> None:
    policy = {"gang": {"minCount": 3}}
    group = {"metadata": {"name": "g"}, "spec": {"schedulingPolicy": policy}}
    async with KubeClient(access) as client:
        served = await discover(client, NATIVE_POD_GROUPS)
        made = await client.create(served, group, namespace)
        assert made.spec.scheduling_policy.gang == Gang(3)
        pod = await make(client, "a", namespace, schedulingGroup={"podGroupName": "g"})
        assert pod.spec.scheduling_group == SchedulingGroup("g")


# --- write ---


async def test_a_name_is_taken_once(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        await make(client, "a", namespace)
        with pytest.raises(AlreadyExists):
            await make(client, "a", namespace)


async def test_a_broken_rule_is_named(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        with pytest.raises(InvalidObject) as refused:
            await make(client, "a", namespace, restartPolicy="Sometimes")
        assert [cause.field for cause in refused.value.causes] == ["spec.restartPolicy"]


async def test_a_suspended_job_is_released_by_a_merge(access: ApiAccess, namespace: str) -> None:
    template = {"spec": a_pod("x")["spec"] | {"restartPolicy": "Never"}}
    job = {"metadata": {"name": "j"}, "spec": {"suspend": True, "template": template}}
    async with KubeClient(access) as client:
        made = await client.create(JOBS, job, namespace)
        assert made.spec.suspend and made.spec.parallelism == 1
        freed = await client.patch(JOBS, "j", merge({"spec": {"suspend": False}}), namespace)
        assert not freed.spec.suspend


async def test_a_merge_that_names_a_version_is_refused_when_it_is_old(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        made = await make(client, "a", namespace)
        old = {"resourceVersion": made.metadata.resource_version}
        note = merge({"metadata": {**old, "annotations": {"a": "1"}}})
        await client.patch(PODS, "a", note, namespace)
        with pytest.raises(Conflict):
            await client.patch(PODS, "a", note, namespace)


async def test_a_gate_is_taken_away_by_an_edit_that_looks_first(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        await make(client, "a", namespace, schedulingGates=[{"name": "fluxqueue"}])
        look = {"op": "test", "path": "/spec/schedulingGates/0/name", "value": "fluxqueue"}
        take = {"op": "remove", "path": "/spec/schedulingGates/0"}
        freed = await client.patch(PODS, "a", edits([look, take]), namespace)
        assert freed.spec.scheduling_gates == ()
        with pytest.raises(InvalidObject):
            await client.patch(PODS, "a", edits([look, take]), namespace)


async def test_a_condition_is_set_beside_others(access: ApiAccess, namespace: str) -> None:
    def condition(kind: str, reason: str) -> dict[str, Any]:
        content = {"type": kind, "status": "False", "reason": reason, "message": "why"}
        return {"status": {"conditions": [content]}}

    async with KubeClient(access) as client:
        await make(client, "a", namespace)
        for kind, reason in [("Mine", "x"), ("PodScheduled", "Waiting"), ("PodScheduled", "Soon")]:
            patch = strategic(condition(kind, reason))
            pod = await client.patch(PODS, "a", patch, namespace, "status")
        found = {(c.type, c.reason) for c in pod.status.conditions}
        assert found == {("Mine", "x"), ("PodScheduled", "Soon")}


async def test_a_lease_is_applied_whether_or_not_it_is_there(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        for holder in ("one", "two"):
            now = micro_time(datetime.now(UTC).replace(microsecond=0))
            spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": now}
            lease = await client.patch(LEASES, "leader", apply({"spec": spec}), namespace)
            assert (lease.spec.holder_identity, lease.spec.renew_time) == (holder, now)
        rival = apply({"spec": {"holderIdentity": "me"}}, manager="rival", force=False)
        with pytest.raises(Conflict):
            await client.patch(LEASES, "leader", rival, namespace)


async def test_an_event_is_written(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        pod = await make(client, "a", namespace)
        made = await client.create(
            EVENTS,
            {
                "metadata": {"generateName": "a-"},
                "regarding": {"apiVersion": "v1", "kind": "Pod", "name": "a"}
                | {"namespace": namespace, "uid": pod.metadata.uid},
                "type": "Warning",
                "reason": "FailedScheduling",
                "note": "no capacity before 12:00",
                "action": "Scheduling",
                "eventTime": micro_time(datetime.now(UTC)),
                "reportingController": "fluxnetes",
                "reportingInstance": "fluxnetes-0",
            },
            namespace,
        )
    assert isinstance(made, Event)
    assert made.regarding == Reference("v1", "Pod", "a", pod.metadata.uid, namespace)


async def test_a_struct_can_be_created_too(access: ApiAccess, namespace: str) -> None:
    reference = Reference("v1", "Namespace", namespace, "u", namespace)
    event = Event(
        regarding=reference,
        type="Normal",
        reason="Test",
        note="a note",
        action="Testing",
        event_time=micro_time(datetime.now(UTC) - timedelta(seconds=1)),
        reporting_controller="fluxnetes",
        reporting_instance="x",
        metadata=Metadata(name="e", namespace=namespace),
    )
    async with KubeClient(access) as client:
        assert (await client.create(EVENTS, event, namespace)).note == "a note"


async def test_only_the_very_object_is_deleted(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        pod = await make(client, "a", namespace)
        with pytest.raises(Conflict):
            await client.delete(PODS, "a", namespace, uid="another", grace=0)
        await client.delete(PODS, "a", namespace, uid=pod.metadata.uid, grace=0)
        with pytest.raises(NotFound):
            await client.delete(PODS, "a", namespace)


# --- bind ---


async def test_a_bind_gives_a_pod_its_node_and_annotations(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        pod = await make(client, "a", namespace)
        notes = {"fluxnetes.io/nodes": "node-1," * 20}
        await client.bind("a", namespace, uid=pod.metadata.uid, node="node-1", annotations=notes)
        bound = await client.get(PODS, "a", namespace)
        assert bound.spec.node_name == "node-1"
        assert bound.metadata.annotations == notes
        assert ("PodScheduled", "True") in {(c.type, c.status) for c in bound.status.conditions}


async def test_a_pod_is_bound_once_and_only_the_one_that_was_meant(
    access: ApiAccess, namespace: str
) -> None:
    async with KubeClient(access) as client:
        pod = await make(client, "a", namespace)
        with pytest.raises(Conflict):
            await client.bind("a", namespace, uid="another", node="node-1")
        await client.bind("a", namespace, uid=pod.metadata.uid, node="node-0")
        for node in ("node-0", "node-1"):
            with pytest.raises(Conflict, match="already assigned to node"):
                await client.bind("a", namespace, uid=pod.metadata.uid, node=node)
        with pytest.raises(NotFound):
            await client.bind("b", namespace, uid="u", node="node-0")
        assert (await client.get(PODS, "a", namespace)).spec.node_name == "node-0"


async def test_a_gated_pod_cannot_be_bound(access: ApiAccess, namespace: str) -> None:
    async with KubeClient(access) as client:
        pod = await make(client, "a", namespace, schedulingGates=[{"name": "fluxqueue"}])
        with pytest.raises(Conflict, match="schedulingGates"):
            await client.bind("a", namespace, uid=pod.metadata.uid, node="node-0")


# --- who we are ---


def with_user(plane: ControlPlane, path: Path, user: dict[str, Any]) -> ApiAccess:
    """The plane's server, as this user."""
    authority = str(plane.paths.keys / "ca.crt")
    cluster = {"server": plane.server, "certificate-authority": authority}
    return from_kubeconfig([write(path / "config", a_config(user, cluster))])


async def test_an_unknown_token_is_unauthorized(plane: ControlPlane, tmp_path: Path) -> None:
    async with KubeClient(with_user(plane, tmp_path, {"token": "nonsense"})) as client:
        with pytest.raises(Unauthorized):
            await client.list(NODES)


async def test_a_service_account_may_do_only_what_it_was_allowed(
    plane: ControlPlane, access: ApiAccess, namespace: str, tmp_path: Path
) -> None:
    async with KubeClient(access) as admin:
        await admin.create(ACCOUNTS, {"metadata": {"name": "robot"}}, namespace)
    with plane.api() as api:
        path = ACCOUNTS.path(namespace, "robot", "token")
        kind = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
        token = api.create(path, {**kind, "spec": {"audiences": None}})["status"]["token"]
    write(tmp_path / "token", token)
    async with KubeClient(with_user(plane, tmp_path, {"tokenFile": "token"})) as client:
        with pytest.raises(Forbidden, match=f"system:serviceaccount:{namespace}:robot"):
            await client.list(PODS)
