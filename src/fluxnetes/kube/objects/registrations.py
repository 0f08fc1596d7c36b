"""Registrations of webhooks: what the API server asks us about before it stores it."""

from __future__ import annotations

from fluxnetes.kube.objects.base import Object, Part, Resource


class ClientConfig(Part, frozen=True):
    """How the server reaches a webhook."""

    url: str = ""
    """Empty: by a service of the cluster."""
    ca_bundle: str = ""
    """Whom it trusts there: certificates in PEM, in base64."""


class Webhook(Part, frozen=True):
    """One of a registration's webhooks."""

    name: str
    client_config: ClientConfig = ClientConfig()


class Registration(Object, frozen=True):
    """A MutatingWebhookConfiguration."""

    webhooks: tuple[Webhook, ...] = ()


REGISTRATIONS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    Registration,
    namespaced=False,
)
