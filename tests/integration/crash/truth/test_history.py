"""A history tells what happened to one workload, and which client requested it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.crash.record import KubeJob, LeaseSeen, Node, Pod, Seen
from tests.integration.crash.truth.history import Line, Surroundings, tell
from tests.integration.crash.truth.workloads import divide
from tests.integration.crash.truth.writers import Write, pods_deleted_by_users, read_log


def entry(audit_id: str, stage: str, verb: str = "delete", code: int = 0, **of: str) -> str:
    content = {
        "auditID": audit_id,
        "stage": stage,
        "verb": verb,
        "user": {"username": "admin"},
        "objectRef": {"resource": "pods", **of},
        "stageTimestamp": "2026-11-16T22:00:01.500000Z",
        **({"responseStatus": {"code": code}} if code else {}),
    }
    return json.dumps(content)


def test_a_history_has_the_changes_of_a_workload_and_what_happened_around_it() -> None:
    record = (
        Seen(1, 100.0, Node("n1", {})),
        Seen(2, 101.0, Pod("p1", "g-0", "g", node="n1")),
        Seen(3, 101.5, Pod("p2", "other", "other", node="n1")),
        Seen(4, 102.0, LeaseSeen("l", "b")),
        Seen(5, 103.0, Pod("p1", "g-0", "g", node="n1", phase="Failed")),
        Seen(6, 104.0, KubeJob("u", "j", "j")),
    )
    around = Surroundings(
        began=100.0,
        epoch=1000.0,
        record=record,
        faults=(Line(102.5, "=== kill"), Line(500.0, "=== too late")),
        writes=(Write(1102.2, "fluxnetes-controller", "create", "pods/binding", "g-0", 201),),
        stored={"g": (Line(1102.8, "  store: job 1 running -> failed"),)},
    )
    told = tell(divide(record, {"g": False, "j": True})["g"], around).splitlines()
    assert [line.split(maxsplit=1)[1] for line in told] == [
        "--- node n1: there",
        "pod g-0: Pending, on n1",
        "--- leader: b",
        "fluxnetes: create pods/binding g-0 -> 201",
        "=== kill",
        "store: job 1 running -> failed",
        "pod g-0: Failed, on n1",
    ]


def test_a_request_is_read_once_whether_it_was_answered_or_not(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    lines = [
        entry("1", "RequestReceived", name="answered"),
        entry("1", "ResponseComplete", name="answered", code=200),
        entry("2", "RequestReceived", name="unanswered"),
        entry("3", "ResponseComplete", name="refused", code=404),
        entry("4", "ResponseComplete", "create", 201, name="evicted", subresource="eviction"),
        entry("5", "ResponseComplete", "patch", 200, name="patched"),
        '{"auditID": "6", "half',
    ]
    log.write_text("\n".join(lines))
    writes = read_log(log)
    assert [each.name for each in writes] == [
        *("answered", "unanswered", "refused", "evicted", "patched")
    ]
    assert pods_deleted_by_users(writes) == {"answered", "unanswered", "evicted"}
