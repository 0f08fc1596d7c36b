"""The settings of the webhook."""

from __future__ import annotations

from dataclasses import dataclass, field

from fluxnetes.webhook.certificates import Lifetimes
from fluxnetes.webhook.mutate import AdmissionPolicy
from fluxnetes.webhook.registration import Reach


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """The settings of one webhook."""

    reach: Reach
    """How the API server reaches the webhook."""
    policy: AdmissionPolicy = field(default_factory=AdmissionPolicy)
    everything: bool = False
    """Queue the Jobs and Pods of all namespaces, without opting in."""
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    check_interval: float = 60.0
    """Seconds between checks of the certificates and the registration."""
    drain: float = 0.0
    """Seconds to keep serving after the stop, until endpoints no longer route requests here."""
