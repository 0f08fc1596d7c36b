"""What the webhook is told when it starts."""

from __future__ import annotations

from dataclasses import dataclass, field

from fluxnetes.webhook.certificates import Lifetimes
from fluxnetes.webhook.mutate import AdmissionPolicy
from fluxnetes.webhook.registration import Reach


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """One webhook."""

    reach: Reach
    """How the API server gets to us."""
    policy: AdmissionPolicy = field(default_factory=AdmissionPolicy)
    everything: bool = False
    """Take all namespaces, not only what opted in."""
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    look_every: float = 60.0
    """Seconds between looks at the certificates and the registration."""
    drain: float = 0.0
    """Seconds for which we go on after we were told to stop: as long as others may not know it."""
