"""What `bench/kube` reads in an audit log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.kube_audit import Audit


def a_line(what: str, *, second: int = 0, code: int = 201, user: str = "s", name: str = "p") -> str:
    verb, _, kind = what.partition(" ")
    resource, _, subresource = kind.partition("/")
    event = {
        "stage": "ResponseComplete",
        "verb": verb,
        "user": {"username": user, "groups": ["system:authenticated"]},
        "objectRef": {"resource": resource, "subresource": subresource, "name": name},
        "responseStatus": {"metadata": {}, "code": code},
        "stageTimestamp": f"1970-01-01T00:00:{second:02}.250000Z",
    }
    return json.dumps(event) + "\n"


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return Audit(tmp_path)


def write(audit: Audit, text: str) -> None:
    path = Path(audit.arguments[-1].partition("=")[2])
    with path.open("a") as log:
        log.write(text)
    audit.read()


def test_pods_are_made_and_bound_when_the_server_says_so(audit: Audit) -> None:
    write(audit, a_line("create pods", second=1) + a_line("create pods/binding", second=2))
    assert (audit.created, audit.bound) == ({"p": 1.25}, {"p": 2.25})


def test_a_bind_that_was_refused_binds_nothing_but_was_written(audit: Audit) -> None:
    write(audit, a_line("create pods/binding", code=409))
    assert audit.bound == {}
    assert audit.written("s", since=0.0) == {"create pods/binding": 1}


def test_half_a_line_is_read_when_it_is_whole(audit: Audit) -> None:
    line = a_line("create pods/binding", second=2)
    write(audit, line[:40])
    assert audit.bound == {}
    write(audit, line[40:])
    assert audit.bound == {"p": 2.25}


def test_only_what_the_scheduler_wrote_since_then_counts(audit: Audit) -> None:
    write(audit, a_line("create events", second=1) + a_line("create events", second=3))
    write(audit, a_line("create events", second=3, user="alice"))
    write(audit, a_line("create pods", second=3) + a_line("update leases", second=3))
    assert audit.written("s", since=2.0) == {"create events": 1}


def test_a_log_that_is_not_there_yet_says_nothing(audit: Audit) -> None:
    audit.read()
    assert audit.writes == []
