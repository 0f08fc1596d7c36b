"""Events: messages to users about an object, as `kubectl describe` shows them."""

from __future__ import annotations

from fluxnetes.kube.objects.base import Object, Part, Resource


class Reference(Part, frozen=True):
    """The object that an event is about."""

    api_version: str
    kind: str
    name: str
    uid: str
    namespace: str = ""
    resource_version: str = ""


class Event(Object, frozen=True):
    """An event of the group events.k8s.io. To create one, all fields are required."""

    regarding: Reference | None = None
    type: str = ""
    """Normal, or Warning."""
    reason: str = ""
    """One word in CamelCase: Scheduled, FailedScheduling."""
    note: str = ""
    action: str = ""
    event_time: str | None = None
    """Written by `times.micro_time`."""
    reporting_controller: str = ""
    reporting_instance: str = ""


EVENTS = Resource("events.k8s.io", "v1", "events", "Event", Event)
