"""The pods of a template count what the server will say that they do."""

from __future__ import annotations

import pytest

from fluxnetes.cluster.demand import Prerequisite
from fluxnetes.cluster.pods.priorities import priority_of
from fluxnetes.kube.objects.base import Key, Metadata
from fluxnetes.kube.objects.pods import PodSpec
from fluxnetes.kube.objects.priorities import PriorityClass
from tests.unit.cluster.builders import a_job, pod_of
from tests.unit.cluster.test_demand import Scene


def classes(*all: PriorityClass) -> dict[Key, PriorityClass]:
    return {("", each.metadata.name): each for each in all}


HIGH = PriorityClass(Metadata("high"), 1000)
LOW = PriorityClass(Metadata("low"), -5, global_default=True)
USUAL = PriorityClass(Metadata("usual"), 10, global_default=True)


@pytest.mark.parametrize(
    ("name", "there", "priority"),
    [
        ("", [HIGH], 0),
        ("high", [HIGH, USUAL], 1000),
        ("", [HIGH, USUAL], 10),
        ("", [USUAL, LOW], -5),
        ("lost", [HIGH, USUAL], None),
    ],
)
def test_the_class_that_is_named_or_the_default(
    name: str, there: list[PriorityClass], priority: int | None
) -> None:
    assert priority_of(PodSpec(priority_class_name=name), classes(*there)) == priority


def test_a_workload_without_pods_is_of_the_class_of_its_template() -> None:
    scene = Scene(a_job("train", pod={"priorityClassName": "high"}))
    with pytest.raises(Prerequisite, match="there is no PriorityClass high"):
        scene.ask()
    scene.model.priority_classes_changed(classes(HIGH))
    assert scene.asked().job_class == 1000


def test_pods_that_are_there_say_themselves_what_they_count() -> None:
    job = a_job("train", pod={"priorityClassName": "high"})
    scene = Scene(job, pod_of(job, "a", priority=3))
    assert scene.asked().job_class == 3
