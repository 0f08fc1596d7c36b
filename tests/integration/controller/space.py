"""One namespace of a test: make things in it, look at them, and wait until they are as they should.

Nothing here sleeps. `until` follows a watch, and what never comes fails the test with all that the
API says of the namespace by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from fluxnetes.plane.api import Object, PlaneApi
from fluxnetes.plane.errors import PlaneFailed, RequestRefused
from tests.integration.controller.objects import Content, Maker, a_pod

T = TypeVar("T")
Things = Mapping[str, Object]
"""Objects by their names."""

KINDS = {
    "Pod": "/api/v1/namespaces/{}/pods",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "FluxJob": "/apis/jobs.converged-computing.org/v1alpha1/namespaces/{}/fluxjobs",
    "Event": "/apis/events.k8s.io/v1/namespaces/{}/events",
}
PATIENCE = 30.0
"""Seconds in which everything here should have come, however slow the machine is."""
_LAST_LINES = 20


class Space:
    """What a user sees and does in a namespace."""

    def __init__(self, api: PlaneApi, namespace: str, log: Path) -> None:
        self.api = api
        self.namespace = namespace
        self._log = log

    def path(self, kind: str, name: str = "") -> str:
        path = KINDS[kind].format(self.namespace) if kind in KINDS else kind
        return f"{path}/{name}" if name else path

    # -- doing ---------------------------------------------------------------------------------

    def create(self, *makers: Maker | Iterable[Maker]) -> None:
        """Make Jobs and pods, in this order."""
        for maker in makers:
            for each in [maker] if isinstance(maker, Maker) else maker:
                self.api.create(self.path(each.content["kind"]), each.content)

    def patch(self, kind: str, name: str, change: Content) -> Object:
        return self.api.patch(self.path(kind, name), change)

    def annotate(self, kind: str, name: str, **annotations: str | None) -> None:
        """Ours, without the prefix: `hold="true"`; None removes one."""
        ours = {f"fluxnetes.io/{key}": value for key, value in annotations.items()}
        self.patch(kind, name, {"metadata": {"annotations": ours}})

    def delete(self, kind: str, *names: str) -> None:
        for name in names:
            self.api.delete(f"{self.path(kind, name)}?propagationPolicy=Background")

    # -- looking -------------------------------------------------------------------------------

    def get(self, kind: str, name: str) -> Object:
        return self.api.get(self.path(kind, name))

    def all(self, kind: str) -> dict[str, Object]:
        items = self.api.get(self.path(kind))["items"]
        return {each["metadata"]["name"]: each for each in items}

    def node_of(self, name: str) -> str:
        """The node of a pod; empty: it has none."""
        return node_of(self.get("Pod", name))

    def events(self, name: str) -> list[Object]:
        """All about the object of that name, the first first."""
        found = [e for e in self.all("Event").values() if e["regarding"].get("name") == name]
        return sorted(found, key=lambda event: str(event["eventTime"]))

    # -- waiting -------------------------------------------------------------------------------

    def until(self, kind: str, is_so: Callable[[Things], T | None], seconds: float = PATIENCE) -> T:
        """The first answer that is not false, asked of all objects of a kind after each change."""
        try:
            for things in self.api.follow(self.path(kind), seconds):
                if answer := is_so(things):
                    return answer
        except PlaneFailed as late:
            raise AssertionError(f"{late}\n{self.story()}") from None
        raise AssertionError("unreachable")

    def until_one(
        self, kind: str, name: str, is_so: Callable[[Object], bool], seconds: float = PATIENCE
    ) -> Object:
        """The object, as soon as it is there and is so."""

        def look(things: Things) -> Object | None:
            return things[name] if name in things and is_so(things[name]) else None

        return self.until(kind, look, seconds)

    def until_bound(self, *names: str) -> dict[str, str]:
        """The node of each of these pods, once all have one."""

        def look(pods: Things) -> dict[str, str] | None:
            nodes = {name: node_of(pods[name]) for name in names if name in pods}
            return nodes if len(nodes) == len(names) and all(nodes.values()) else None

        return self.until("Pod", look)

    def until_job_bound(self, job: str, count: int) -> list[Object]:
        """The pods of a Job, once so many of them live on a node; in order of their index."""

        def look(pods: Things) -> list[Object] | None:
            mine = [p for p in pods.values() if of_job(p) == job and is_alive(p) and node_of(p)]
            return sorted(mine, key=index_of) if len(mine) == count else None

        return self.until("Pod", look)

    def until_phase(self, phase: str, *names: str) -> list[Object]:
        """These pods, once all are in this phase."""

        def look(pods: Things) -> list[Object] | None:
            found = [pods[name] for name in names if name in pods]
            is_so = len(found) == len(names) and all(p["status"]["phase"] == phase for p in found)
            return found if is_so else None

        return self.until("Pod", look)

    def until_gone(self, kind: str, *names: str) -> None:
        """None of these is there; without names: nothing is."""

        def look(things: Things) -> bool:
            return not things if not names else not any(name in things for name in names)

        self.until(kind, look)

    def until_condition(self, job: str, type: str) -> Object:
        """A condition of a Job, once it is true."""
        found = self.until_one("Job", job, lambda job: condition(job, type)["status"] == "True")
        return condition(found, type)

    def until_event(self, name: str, reason: str, words: str = "") -> Object:
        """An event about the object of that name, with this reason and these words."""

        def look(events: Things) -> Object | None:
            for event in events.values():
                is_about = event["regarding"].get("name") == name and event["reason"] == reason
                if is_about and words in event.get("note", ""):
                    return event
            return None

        return self.until("Event", look)

    def until_waits(self, *names: str) -> None:
        """The queue looked at these pods, and decided that they wait."""
        for name in names:
            self.until_event(name, "FailedScheduling", "not yet: ")

    def let_the_scheduler_act(self, name: str = "signal") -> None:
        """Until it has bound a pod that came after all others, and so has seen those."""
        self.create(a_pod(name))
        self.until_bound(name)

    def until_state(self, fluxjob: str, state: str) -> Object:
        """The status of a FluxJob, once it has come to this state."""

        def is_so(record: Object) -> bool:
            return bool(record.get("status", {}).get("state") == state)

        status: Object = self.until_one("FluxJob", fluxjob, is_so)["status"]
        return status

    def until_reason(self, fluxjob: str, code: str) -> Object:
        """The status of a FluxJob, once its reason has this code."""

        def is_so(record: Object) -> bool:
            return bool(record.get("status", {}).get("reasonCode") == code)

        status: Object = self.until_one("FluxJob", fluxjob, is_so)["status"]
        return status

    # -- telling -------------------------------------------------------------------------------

    def story(self) -> str:
        """What the API says of this namespace, to explain why a test failed."""
        lines = [f"namespace {self.namespace}:"]
        for kind, tell in (("Pod", _tell_pod), ("Job", _tell_job), ("FluxJob", _tell_fluxjob)):
            try:
                lines += [f"  {kind} {name}: {tell(it)}" for name, it in self.all(kind).items()]
            except RequestRefused as error:
                lines.append(f"  {kind}: {error}")
        events = sorted(self.all("Event").values(), key=lambda event: str(event["eventTime"]))
        lines += [f"  Event {e['regarding'].get('name')}: {_tell_event(e)}" for e in events]
        log = self._log.read_text().splitlines()[-_LAST_LINES:]
        return "\n".join([*lines, f"{self._log.name} ends with", *(f"  {line}" for line in log)])

    def clean(self) -> None:
        """Leave nothing that holds a node."""
        self.api.delete(f"{self.path('Job')}?propagationPolicy=Background")
        self.api.delete(f"{self.path('Pod')}?gracePeriodSeconds=0")
        self.until_gone("Pod")


# --- what objects say --------------------------------------------------------------------------


def node_of(pod: Object) -> str:
    return str(pod["spec"].get("nodeName", ""))


def of_job(pod: Object) -> str:
    return str(pod["metadata"].get("labels", {}).get("batch.kubernetes.io/job-name", ""))


def index_of(pod: Object) -> int:
    labels = pod["metadata"].get("labels", {})
    return int(labels.get("batch.kubernetes.io/job-completion-index", 0))


def is_alive(pod: Object) -> bool:
    is_over = pod["status"]["phase"] in ("Succeeded", "Failed")
    return not is_over and "deletionTimestamp" not in pod["metadata"]


def condition(thing: Object, type: str) -> Object:
    """A condition; one that is not there is False."""
    there = thing.get("status", {}).get("conditions") or []
    found = [each for each in there if each["type"] == type]
    return found[0] if found else {"type": type, "status": "False"}


def _tell_pod(pod: Object) -> str:
    said = condition(pod, "PodScheduled")
    words = f"{said.get('reason', '')} {said.get('message', '')}".strip()
    return f"{pod['status']['phase']} on {node_of(pod) or 'no node'}; {words}"


def _tell_job(job: Object) -> str:
    counts = {key: n for key, n in job["status"].items() if isinstance(n, int) and n}
    return f"suspended={job['spec'].get('suspend', False)} {counts}"


def _tell_fluxjob(record: Object) -> str:
    status = record.get("status", {})
    return f"{status.get('state')}: {status.get('reason')}; nodes {status.get('nodes', [])}"


def _tell_event(event: Object) -> str:
    who, what = event.get("reportingController"), event["reason"]
    return f"{who} {event['type']} {what}: {event.get('note', '')}"
