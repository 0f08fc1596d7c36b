"""`bench/kube`, very small: what it measures is what it says."""

from __future__ import annotations

import pytest

from bench.kube_contestants import KubeScheduler, NativeGangs
from bench.kube_run import BACKLOG, STREAM, Case, measure
from bench.kube_work import GANGS, SINGLES

pytestmark = pytest.mark.usefixtures("binaries")


def test_every_pod_of_a_stream_is_bound_and_every_write_is_counted() -> None:
    found = measure(Case(SINGLES, STREAM, nodes=20, pods=40), KubeScheduler)
    assert found.pods == 40
    assert found.writes["create pods/binding"] == 40
    assert found.writes_a_pod == pytest.approx(2, abs=0.2)  # the bind and the event
    assert 0 < found.p50 <= found.p99 <= found.seconds
    assert found.scheduler.memory > 10


def test_a_backlog_waits_from_when_the_scheduler_may_act() -> None:
    found = measure(Case(GANGS, BACKLOG, nodes=20, pods=40), NativeGangs)
    assert found.writes["create pods/binding"] == 40
    assert found.p99 <= found.seconds
