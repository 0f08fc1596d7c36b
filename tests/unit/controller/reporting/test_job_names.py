"""Users know jobs by the names of their objects."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fluxnetes.common.reasons import JobRef, Message, Reason
from fluxnetes.controller.reporting.job_names import text_for
from fluxnetes.queue.jobs import Origin


def a_job(workload: str, origin: Origin = Origin.CLUSTER, name: str = "") -> SimpleNamespace:
    return SimpleNamespace(submission=SimpleNamespace(workload=workload, origin=origin, name=name))


SHARED: Any = SimpleNamespace(
    scheduler=SimpleNamespace(
        jobs={
            1: a_job("Job/default/prepare/u1"),
            2: a_job("Pod/other/probe/u2"),
            3: a_job("Group/default/ring"),
            4: a_job("key-1", Origin.CALL_SUBMIT, "sweep"),
            5: a_job("key-2", Origin.CALL_MATCH),
        }
    ),
    last_job={("Job", "default", "old"): 6},
)


@pytest.mark.parametrize(
    ("job", "name"),
    [
        (1, "job/prepare"),
        (2, "pod/probe in namespace other"),
        (3, "group/ring"),
        (4, "job sweep of a gRPC caller"),
        (5, "job 5 of a gRPC caller"),
        (6, "job/old"),
        (7, "a job that ended earlier"),
    ],
)
def test_a_job_is_called_by_the_name_that_its_reader_knows(job: int, name: str) -> None:
    reason = Reason.of(Message.ORDERED_BEFORE, job=JobRef(job))
    assert text_for(SHARED, reason, "default") == f"{name} is ordered before it"
