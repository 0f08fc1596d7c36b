"""What etcd says becomes a record, in order and complete."""

from __future__ import annotations

import json
from base64 import b64encode

from fluxnetes.plane.api import Object
from tests.integration.crash import record
from tests.integration.crash.record import Node, Pod
from tests.integration.crash.recorder import Recorder

POD = {
    "metadata": {
        "uid": "u1",
        "name": "p1",
        "labels": {"crash/work": "gang-1"},
        "annotations": {"fluxnetes.io/job": "7"},
    },
    "spec": {
        "schedulerName": "fluxnetes",
        "nodeName": "n1",
        "containers": [{"resources": {"requests": {"cpu": "1500m", "memory": "2Gi"}}}],
    },
    "status": {"phase": "Running"},
}
NODE = {"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "16", "memory": "512Mi"}}}


def put(key: str, version: int, thing: Object) -> Object:
    value = b64encode(json.dumps(thing).encode()).decode()
    return {"kv": {"key": coded(key), "value": value, "mod_revision": str(version)}}


def removed(key: str, version: int) -> Object:
    return {"type": "DELETE", "kv": {"key": coded(key), "mod_revision": str(version)}}


def coded(key: str) -> str:
    return b64encode(f"/registry/{key}".encode()).decode()


def taken(recorder: Recorder, *events: Object) -> list[record.Seen]:
    return recorder.take({"result": {"events": list(events)}})


def test_pods_and_nodes_are_recorded_with_what_they_have() -> None:
    seen = taken(Recorder(), put("minions/n1", 3, NODE), put("pods/crash/p1", 4, POD))
    assert [each.version for each in seen] == [3, 4]
    node, pod = (each.thing for each in seen)
    assert node == Node("n1", {"cpu": 16_000, "memory": 512})
    assert isinstance(pod, Pod)
    assert (pod.work, pod.job, pod.node, pod.is_ours) == ("gang-1", "7", "n1", True)
    assert pod.requests == {"cpu": 1500, "memory": 2048}
    assert pod.holds


def test_what_is_removed_is_recorded_as_it_was_last() -> None:
    recorder = Recorder()
    taken(recorder, put("pods/crash/p1", 4, POD))
    [seen] = taken(recorder, removed("pods/crash/p1", 9))
    assert isinstance(seen.thing, Pod)
    assert (seen.version, seen.thing.uid, seen.thing.is_gone) == (9, "u1", True)
    assert not seen.thing.holds


def test_nothing_else_is_recorded() -> None:
    lease = put("leases/kube-system/x", 5, {"metadata": {"name": "x"}})
    assert not taken(Recorder(), lease, removed("pods/crash/unknown", 6))


def test_a_record_is_read_as_it_was_written() -> None:
    seen = taken(Recorder(), put("minions/n1", 3, NODE), put("pods/crash/p1", 4, POD))
    lines = record.write(seen).splitlines()
    assert [record.decode(line) for line in lines] == seen
