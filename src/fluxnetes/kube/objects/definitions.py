"""CustomResourceDefinitions."""

from __future__ import annotations

from fluxnetes.kube.objects.base import Condition, Object, Part, Resource


class Conversion(Part, frozen=True):
    """How versions of a kind are converted into each other: None or Webhook."""

    strategy: str = "None"


class DefinitionSpec(Part, frozen=True):
    """The spec of a definition; only the fields that Fluxnetes reads."""

    conversion: Conversion = Conversion()


class DefinitionStatus(Part, frozen=True):
    """Whether the server serves it."""

    conditions: tuple[Condition, ...] | None = None
    """None (the server writes null) until the server has processed it."""


class Definition(Object, frozen=True):
    """A CustomResourceDefinition."""

    spec: DefinitionSpec = DefinitionSpec()
    status: DefinitionStatus = DefinitionStatus()

    @property
    def is_established(self) -> bool:
        """Whether objects of this kind can be created."""
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
