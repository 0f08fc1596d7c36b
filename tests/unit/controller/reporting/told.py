"""Listens to what the controller of a play reports, in place of the API server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fluxnetes.controller.reporting.conditions import UNSCHEDULABLE, PodKeys
from fluxnetes.controller.reporting.fluxjob_view import FluxJobView
from fluxnetes.kube.objects.events import Reference
from tests.unit.controller.play import Play


@dataclass(frozen=True)
class ToldEvent:
    """One event."""

    about: str
    """Kind and name: `Job/train`."""
    reason: str
    note: str
    type: str = "Normal"


@dataclass
class Told:
    """All that was reported since a term began."""

    play: Play
    events: list[ToldEvent] = field(default_factory=list)
    fluxjobs: dict[str, FluxJobView] = field(default_factory=dict)
    """The last view of each FluxJob that is wanted, by the name of its group."""
    views: dict[str, list[FluxJobView]] = field(default_factory=dict)
    """All views of each FluxJob that differ from the one before."""
    conditions: list[str] = field(default_factory=list)
    """The messages of all conditions."""
    waits: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The reason and the message that each pod would be given last, by its name."""
    unschedulable: set[str] = field(default_factory=set)
    """The names of pods for which an autoscaler would ever have bought nodes."""

    def __post_init__(self) -> None:
        self.listen()

    def listen(self) -> None:
        """A term begins."""
        reports = self.play.controller.reporter.reports
        self._references: dict[str, str] = {}
        self._want, self._forget = reports.fluxjobs.want, reports.fluxjobs.forget
        self._record = reports.events.record
        self._condition = reports.conditions.want
        for key, wanted in reports.fluxjobs._wanted.items():  # since the term began
            self._references[key] = wanted.view.name
            self.fluxjobs[wanted.view.name] = wanted.view
        vars(reports.fluxjobs).update(want=self._on_want, forget=self._on_forget)
        vars(reports.events).update(record=self._on_event)
        vars(reports.conditions).update(want=self._on_condition)

    def _on_want(self, key: str, view: FluxJobView) -> None:
        self._want(key, view)
        self._references[key] = view.name
        if self.fluxjobs.get(view.name) != view:
            self.views.setdefault(view.name, []).append(view)
        self.fluxjobs[view.name] = view

    def _on_forget(self, key: str) -> None:
        self._forget(key)
        name = self._references.pop(key, "")
        if name in self.fluxjobs and not self.fluxjobs[name].is_over:
            del self.fluxjobs[name]

    def _on_event(self, regarding: Reference, reason: str, note: str, **more: Any) -> None:
        self._record(regarding, reason, note, **more)
        about = f"{regarding.kind}/{regarding.name}"
        self.events.append(ToldEvent(about, reason, note, more.get("type", "Normal")))

    def _on_condition(self, group: str, pods: PodKeys, reason: str, message: str) -> None:
        self._condition(group, pods, reason, message)
        names = [name for _, name in pods()]
        self.conditions.append(message)
        self.waits.update(dict.fromkeys(names, (reason, message)))
        if reason == UNSCHEDULABLE:
            self.unschedulable.update(names)

    # -- what tests ask ------------------------------------------------------------------------

    def about(self, object: str, reason: str = "") -> list[str]:
        """The notes of the events about an object, in order, each once."""
        found = (each for each in self.events if each.about == object)
        return list(dict.fromkeys(e.note for e in found if reason in ("", e.reason)))

    def asking(self) -> set[str]:
        """The names of the pods that wait and say that they lack nodes."""
        waiting = {
            pod.metadata.name
            for pod in self.play.cluster.pods.values()
            if not pod.spec.node_name and not pod.is_over
        }
        said = {name for name, (reason, _) in self.waits.items() if reason == UNSCHEDULABLE}
        return said & waiting

    def state(self, name: str) -> str:
        """The state that the FluxJob of a group shows."""
        return self.fluxjobs[name].state.value
