"""Why a job waits, cannot start or ended: as data with a stable code, and as text.

    matcher, queue, controller, service ──▶ Reason(message, args, code) ──▶ store (codes and data)
                                                      │
                                                      ▼ only at the edges
                         text.ReasonText (queue units)   cluster.reason_text (Kubernetes units)

Decisions compare codes and values, never words. A reason is made where something is decided, is
passed on and stored as it is, and becomes English where it leaves the program.

- `codes`: the stable codes that users and programs see.
- `messages`: which messages there are, and the code of each.
- `model`: a reason and its arguments (amounts, times, jobs, other reasons).
- `growth`: which codes more nodes would do away with, for autoscalers.
- `text`: the English of every message, in the units of the queue.
"""

from fluxnetes.common.reasons.codes import ReasonCode
from fluxnetes.common.reasons.messages import Message
from fluxnetes.common.reasons.model import (
    Amount,
    Argument,
    JobRef,
    Moment,
    Reason,
    ResourceHours,
    code_of,
)

__all__ = [
    "Amount",
    "Argument",
    "JobRef",
    "Message",
    "Moment",
    "Reason",
    "ReasonCode",
    "ResourceHours",
    "code_of",
]
