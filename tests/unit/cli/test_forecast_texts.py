"""A forecast speaks of jobs and amounts as the users of the queue do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fluxnetes.cli.simulate.job_texts import JobTexts
from fluxnetes.cli.simulate.show import print_outlook
from fluxnetes.common.reasons import Amount, JobRef, Message, Reason
from fluxnetes.queue.jobs import Origin
from fluxnetes.simulate.forecast import Forecast
from tests.unit.simulate.queues import HEAD, NOW, RUNNING, snapshot_of

POD = (Amount(1, "pods"), Amount(1, "tenancy"), Amount(14_000, "cpu"))
NEEDS = Reason.of(Message.PODS, count=4, pod=POD, found=1)
AFTER = Reason.of(Message.AFTER_JOB, kind="afterok", job=JobRef(1))
ON_CLUSTER = tuple(
    replace(each, origin=Origin.CLUSTER, workload=f"Job/lab/{name}/uid-{name}")
    for each, name in ((RUNNING, "prepare"), (HEAD, "train"))
)


def printed(texts: JobTexts, capsys: pytest.CaptureFixture[str], *why: Reason) -> list[str]:
    """The lines about a job without a start, for each reason."""
    forecasts = [
        Forecast(f"scenario {number}", NOW, {}, {}, {2: reason})
        for number, reason in enumerate(why)
    ]
    print_outlook(forecasts, texts)
    return [line for line in capsys.readouterr().out.splitlines() if "no start" in line]


def test_jobs_of_a_cluster_have_the_names_of_their_objects_and_its_units(
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = JobTexts(snapshot_of(*ON_CLUSTER))
    assert printed(texts, capsys, NEEDS, AFTER) == [
        "scenario 0: no start is known for job 2 (job/train in namespace lab): "
        "needs 4 pods of 14 cpu; 1 fit now",
        "scenario 1: no start is known for job 2 (job/train in namespace lab): "
        "it runs after job/prepare in namespace lab succeeded",
    ]


def test_jobs_of_callers_have_numbers_and_the_units_of_their_graph(
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = JobTexts(snapshot_of(RUNNING, HEAD))
    assert printed(texts, capsys, NEEDS, AFTER) == [
        "scenario 0: no start is known for job 2: needs 4 pods of 14000 cpu; 1 fit now",
        "scenario 1: no start is known for job 2: afterok job 1",
    ]
