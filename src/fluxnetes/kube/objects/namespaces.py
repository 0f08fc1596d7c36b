"""Namespaces, whose labels opt in."""

from __future__ import annotations

from fluxnetes.kube.objects.base import Object, Part, Resource


class NamespaceStatus(Part, frozen=True):
    """Active, or Terminating."""

    phase: str = "Active"


class Namespace(Object, frozen=True):
    """A namespace."""

    status: NamespaceStatus = NamespaceStatus()


NAMESPACES = Resource("", "v1", "namespaces", "Namespace", Namespace, namespaced=False)
