"""Secrets, which hold the keys and certificates of the webhook."""

from __future__ import annotations

from msgspec import field

from fluxnetes.kube.objects.base import Labels, Object, Resource


class Secret(Object, frozen=True):
    """A Secret."""

    data: Labels = field(default_factory=dict)
    """The content by name, in base64."""


SECRETS = Resource("", "v1", "secrets", "Secret", Secret)
