"""MutatingWebhookConfigurations: which requests the API server sends to the webhook."""

from __future__ import annotations

from fluxnetes.kube.objects.base import Object, Part, Resource


class ClientConfig(Part, frozen=True):
    """How the server reaches a webhook."""

    url: str = ""
    """Empty: through a service of the cluster."""
    ca_bundle: str = ""
    """The authorities that the server trusts there: PEM certificates, in base64."""


class Webhook(Part, frozen=True):
    """A webhook of a registration."""

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
