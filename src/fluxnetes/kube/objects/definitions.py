"""Custom resource definitions: the kinds that a server is taught."""

from __future__ import annotations

from fluxnetes.kube.objects.base import Condition, Object, Part, Resource


class Conversion(Part, frozen=True):
    """Who turns one version of a kind into another: None or Webhook."""

    strategy: str = "None"


class DefinitionSpec(Part, frozen=True):
    """What a kind is; only what we look at."""

    conversion: Conversion = Conversion()


class DefinitionStatus(Part, frozen=True):
    """Whether the server serves it."""

    conditions: tuple[Condition, ...] | None = None
    """None (the server writes null) while it is new."""


class Definition(Object, frozen=True):
    """A CustomResourceDefinition."""

    spec: DefinitionSpec = DefinitionSpec()
    status: DefinitionStatus = DefinitionStatus()

    @property
    def is_established(self) -> bool:
        """Whether objects of this kind can be made."""
        return any(
            condition.type == "Established" and condition.status == "True"
            for condition in self.status.conditions or ()
        )


DEFINITIONS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    Definition,
    namespaced=False,
)
