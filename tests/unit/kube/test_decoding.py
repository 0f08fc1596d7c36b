"""Bytes become objects, and what cannot be read hides nothing else."""

from __future__ import annotations

import doctest
from datetime import UTC, datetime
from types import ModuleType

import msgspec
import pytest

from bench.kube_objects import a_pod as a_whole_pod
from fluxnetes.kube import errors
from fluxnetes.kube.decoding import decoding
from fluxnetes.kube.errors import Expired, ServerError, UnreadableResponse
from fluxnetes.kube.objects import base, times
from fluxnetes.kube.objects.base import Owner
from fluxnetes.kube.objects.fluxjobs import FLUX_JOBS, Wrapped
from fluxnetes.kube.objects.jobs import JOBS
from fluxnetes.kube.objects.nodes import NODES
from fluxnetes.kube.objects.podgroups import POD_GROUPS
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.kube.objects.times import micro_time
from fluxnetes.kube.objects.volumes import STORAGE_CLASSES, VOLUMES
from tests.unit.kube.objects import a_pod, as_line, as_page, bookmark


def test_a_pod_as_the_server_sends_it_has_all_that_we_use() -> None:
    pod = decoding(PODS).object(msgspec.json.encode(a_whole_pod(21, version=7)))
    job = Owner("batch/v1", "Job", "gang-1", "aa1c7f0e-0000-4000-8000-000000000001", True)
    assert pod.key == ("team-0", "gang-1-1-x7k2p")
    assert pod.metadata.controller == job
    assert pod.metadata.creation_timestamp == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert pod.metadata.annotations["fluxnetes.io/walltime"] == "30m"
    assert pod.spec.containers[0].resources.requests == {"cpu": "250m", "memory": "512Mi"}
    assert pod.spec.node_name == "node-21"
    assert [t.toleration_seconds for t in pod.spec.tolerations] == [300, 300]
    assert pod.status.container_statuses[0].allocated_resources["cpu"] == "250m"
    assert not pod.is_over


def test_where_a_pod_may_go_is_read() -> None:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}
    away = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}
    spec = {
        "affinity": {
            "nodeAffinity": {required: {"nodeSelectorTerms": [term]}},
            "podAntiAffinity": {required: [away]},
        },
        "containers": [{"name": "a", "ports": [{"hostPort": 80, "hostIP": "10.0.0.1"}]}],
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": "c"}},
            {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
            {"name": "etc", "configMap": {"name": "x"}},
        ],
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        ],
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "g"}],
    }
    read = decoding(PODS).object(msgspec.json.encode({"spec": spec})).spec
    assert read.affinity is not None
    assert read.affinity.node_affinity is not None
    assert read.affinity.node_affinity.required is not None
    [found] = read.affinity.node_affinity.required.node_selector_terms
    assert found.match_expressions[0].values == ("a", "b")
    assert read.affinity.pod_anti_affinity is not None
    [other] = read.affinity.pod_anti_affinity.required
    assert other.label_selector is not None and other.label_selector.match_labels == {"a": "b"}
    assert (read.containers[0].ports[0].host_port, read.containers[0].ports[0].host_ip) == (
        80,
        "10.0.0.1",
    )
    claims = [
        v.persistent_volume_claim.claim_name for v in read.volumes if v.persistent_volume_claim
    ]
    assert claims == ["c"]
    assert [v.name for v in read.volumes if v.ephemeral is not None] == ["scratch"]
    assert read.topology_spread_constraints[0].when_unsatisfiable == "DoNotSchedule"
    assert read.resource_claims[0].name == "gpu"


def test_a_job_says_whether_and_how_it_ended() -> None:
    conditions = [
        {"type": "Suspended", "status": "False"},
        {"type": "SuccessCriteriaMet", "status": "True"},
        {"type": "Complete", "status": "True", "reason": "CompletionsReached"},
    ]
    job = decoding(JOBS).object(msgspec.json.encode({"status": {"conditions": conditions}}))
    assert job.end is not None and job.end.reason == "CompletionsReached"
    assert decoding(JOBS).object(b"{}").end is None


def test_a_template_without_a_creation_time_is_read() -> None:
    template = (
        b'{"metadata":{"creationTimestamp":null,"labels":{"a":"b"}},"spec":{"containers":[]}}'
    )
    job = decoding(JOBS).object(b'{"spec":{"suspend":true,"template":' + template + b"}}")
    assert job.spec.suspend
    assert job.spec.template.metadata.labels == {"a": "b"}


def test_a_node_is_ready_only_if_it_says_so() -> None:
    def node(status: str) -> bytes:
        return msgspec.json.encode(
            {"status": {"conditions": [{"type": "Ready", "status": status}]}}
        )

    assert decoding(NODES).object(node("True")).is_ready
    assert not decoding(NODES).object(node("Unknown")).is_ready
    assert not decoding(NODES).object(b"{}").is_ready


def test_volumes_say_from_where_they_can_be_reached() -> None:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    affinity = {"required": {"nodeSelectorTerms": [term]}}
    volume = decoding(VOLUMES).object(msgspec.json.encode({"spec": {"nodeAffinity": affinity}}))
    assert volume.spec.node_affinity is not None and volume.spec.node_affinity.required is not None
    [found] = volume.spec.node_affinity.required.node_selector_terms
    assert found.match_fields[0].values == ("n1",)
    late = decoding(STORAGE_CLASSES).object(b'{"volumeBindingMode":"WaitForFirstConsumer"}')
    assert late.binding == "WaitForFirstConsumer"


def test_a_flux_job_keeps_the_names_that_its_users_know() -> None:
    spec = {"jobspec": "version: 1", "type": 1, "name": "lammps", "nodes": 2, "duration": 60}
    status = {"submitStatus": "statusSubmit", "position": 3, "eta": "2026-01-02T03:04:05Z"}
    job = decoding(FLUX_JOBS).object(msgspec.json.encode({"spec": spec, "status": status}))
    assert (job.spec.type, job.spec.name, job.spec.nodes) == (Wrapped.JOB, "lammps", 2)
    assert job.status.eta == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert msgspec.to_builtins(job) == {"spec": spec, "status": status}


def test_quantities_of_custom_resources_may_be_numbers() -> None:
    group = decoding(POD_GROUPS).object(b'{"spec":{"minMember":3,"minResources":{"cpu":4}}}')
    assert group.spec.min_resources == {"cpu": 4}


def test_an_object_that_cannot_be_read_is_left_out_of_a_list_and_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bad = {"metadata": {"name": "bad", "namespace": "x"}, "spec": {"minMember": "two"}}
    good = {"metadata": {"name": "good", "namespace": "x"}, "spec": {"minMember": 2}}
    page = decoding(POD_GROUPS).page(as_page(bad, good, version=9))
    assert [item.metadata.name for item in page.items] == ["good"]
    assert page.metadata.resource_version == "9"
    assert "podgroups x/bad" in caplog.text and "minMember" in caplog.text


def test_an_object_that_can_no_longer_be_read_is_gone(caplog: pytest.LogCaptureFixture) -> None:
    bad = {"metadata": {"name": "bad", "resourceVersion": "5"}, "spec": {"minMember": "two"}}
    event = decoding(POD_GROUPS).event(as_line("MODIFIED", bad))
    assert (event.version, event.key, event.gone) == ("5", ("", "bad"), True)
    assert "podgroups bad" in caplog.text


def test_events_and_bookmarks_bring_us_to_a_version() -> None:
    read = decoding(PODS).event
    added = read(as_line("ADDED", a_pod("a", 5)))
    assert (added.version, added.key, added.gone) == ("5", ("default", "a"), False)
    assert read(as_line("DELETED", a_pod("a", 6))).gone
    mark = read(bookmark(8))
    assert (mark.version, mark.key) == ("8", None)


def test_an_error_in_a_watch_is_raised_by_what_it_means() -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    with pytest.raises(Expired, match="watch pods: too old"):
        decoding(PODS).event(as_line("ERROR", status))
    with pytest.raises(ServerError):
        decoding(PODS).event(as_line("ERROR", {"code": 500}))


@pytest.mark.parametrize("line", [b"", b"{", b'{"type":"NEW","object":{}}', b'{"type":"ADDED"}'])
def test_a_line_that_is_no_event_is_unreadable(line: bytes) -> None:
    with pytest.raises(UnreadableResponse, match="watch of pods"):
        decoding(PODS).event(line)


def test_a_list_that_is_none_is_unreadable() -> None:
    with pytest.raises(UnreadableResponse, match="list of pods"):
        decoding(PODS).page(b"<html>")


@pytest.mark.parametrize("module", [base, errors, times])
def test_examples_in_the_docstrings_hold(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert results.attempted > 0 and results.failed == 0


def test_times_of_leases_always_have_microseconds() -> None:
    assert micro_time(datetime(2026, 1, 2, tzinfo=UTC)) == "2026-01-02T00:00:00.000000Z"
