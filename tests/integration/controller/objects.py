"""Pods and Jobs as users write them, made step by step.

    a_pod("a").with_cpu(2).in_group("g", 4)
    a_job("train").of(4).with_walltime(60).running_for("2s")

A builder changes itself and returns itself. What it made so far is in `content`. A Job's spec of
pods is its template's, so the steps are the same for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Self

Content = dict[str, Any]

GROUP, GROUP_SIZE = "fluxnetes.io/group", "fluxnetes.io/group-size"
RUN_TIME, EXIT_CODE = "fluxnetes.io/run-time", "fluxnetes.io/exit-code"
REFUSE, STOP_TIME = "fluxnetes.io/refuse", "fluxnetes.io/stop-time"
WALLTIME, QUEUED = "fluxnetes.io/walltime", "fluxnetes.io/queued"


class Maker:
    """Something with metadata, and a spec of pods somewhere in it."""

    content: Content
    spec: Content
    """Of the pod, or of the template."""
    pod_metadata: Content
    """Of the pod, or of the template."""

    @property
    def name(self) -> str:
        return str(self.content["metadata"]["name"])

    @property
    def main(self) -> Content:
        """The only container that there is at first."""
        found: Content = self.spec["containers"][0]
        return found

    # -- what it needs -------------------------------------------------------------------------

    def asking_for(self, **amounts: str | int) -> Self:
        """Requests of the main container: `cpu=2, memory="1Gi"`."""
        requests = self.main.setdefault("resources", {}).setdefault("requests", {})
        requests.update({name: str(amount) for name, amount in amounts.items()})
        return self

    def with_cpu(self, cpu: str | int) -> Self:
        return self.asking_for(cpu=cpu)

    def asking_for_extended(self, name: str, amount: str | int) -> Self:
        """What has no separate request: GPUs, huge pages."""
        resources = self.main.setdefault("resources", {})
        for kind in ("requests", "limits"):
            resources.setdefault(kind, {})[name] = str(amount)
        return self

    def with_spec(self, **fields: Any) -> Self:
        """Any fields of the pod's spec."""
        self.spec.update(fields)
        return self

    def on(self, node: str) -> Self:
        """On this node, by its label."""
        return self.with_spec(nodeSelector={"kubernetes.io/hostname": node})

    # -- what it is ----------------------------------------------------------------------------

    def from_scheduler(self, name: str) -> Self:
        return self.with_spec(schedulerName=name)

    def of_others(self) -> Self:
        """For kube-scheduler."""
        del self.spec["schedulerName"]
        return self

    def labelled(self, labels: Mapping[str, str]) -> Self:
        self.content["metadata"].setdefault("labels", {}).update(labels)
        return self

    def annotated(self, annotations: Mapping[str, str]) -> Self:
        self.content["metadata"].setdefault("annotations", {}).update(annotations)
        return self

    def in_group(self, name: str, size: int | None = None) -> Self:
        sized = {} if size is None else {GROUP_SIZE: str(size)}
        return self.labelled({GROUP: name} | sized)

    def with_walltime(self, walltime: int | str) -> Self:
        return self.annotated({WALLTIME: str(walltime)})

    def with_priority(self, priority: int) -> Self:
        return self.annotated({"fluxnetes.io/priority": str(priority)})

    # -- how it does, on a node that KWOK plays ------------------------------------------------

    def _played(self, key: str, value: str) -> Self:
        self.pod_metadata.setdefault("annotations", {})[key] = value
        return self

    def running_for(self, time: str) -> Self:
        return self._played(RUN_TIME, time)

    def failing(self, code: int = 1) -> Self:
        return self._played(EXIT_CODE, str(code))

    def refused_by_kubelet(self, reason: str = "OutOfcpu") -> Self:
        return self._played(REFUSE, reason)

    def stopping_for(self, time: str) -> Self:
        return self._played(STOP_TIME, time)


class PodMaker(Maker):
    """A pod for our scheduler that runs until it is deleted."""

    def __init__(self, name: str) -> None:
        self.spec = _a_spec()
        self.pod_metadata = {"name": name}
        self.content = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": self.pod_metadata,
            "spec": self.spec,
        }

    def times(self, count: int) -> list[PodMaker]:
        """So many of them: `a-0`, `a-1`..."""
        made = [deepcopy(self) for _ in range(count)]
        for number, each in enumerate(made):
            each.pod_metadata["name"] = f"{self.name}-{number}"
        return made


class JobMaker(Maker):
    """A Job of one pod for our scheduler."""

    def __init__(self, name: str) -> None:
        self.spec = _a_spec()
        self.pod_metadata = {}
        self.job: Content = {"template": {"metadata": self.pod_metadata, "spec": self.spec}}
        self.content = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name},
            "spec": self.job,
        }

    def of(self, pods: int) -> Self:
        return self.with_job(parallelism=pods, completions=pods)

    def indexed(self) -> Self:
        return self.with_job(completionMode="Indexed")

    def with_job(self, **fields: Any) -> Self:
        """Any fields of the Job's spec."""
        self.job.update(fields)
        return self

    def on_template(self, annotations: Mapping[str, str]) -> Self:
        self.pod_metadata.setdefault("annotations", {}).update(annotations)
        return self

    def queued(self) -> Self:
        """As the webhook leaves it."""
        return self.with_job(suspend=True).annotated({QUEUED: "true"})


def a_pod(name: str) -> PodMaker:
    return PodMaker(name)


def a_job(name: str) -> JobMaker:
    return JobMaker(name)


def a_gang(name: str, size: int, cpu: str | int = 1) -> list[PodMaker]:
    """Pods of one group, all alike."""
    return a_pod(name).with_cpu(cpu).in_group(name, size).times(size)


def _a_spec() -> Content:
    return {
        "schedulerName": "fluxnetes",
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "main", "image": "none"}],
    }
