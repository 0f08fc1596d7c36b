"""Reasons in the units and names that users of Kubernetes write.

The queue counts seconds, millicores and MiB, and knows jobs by number. To it a gang `needs room for
9 pods of 1 pods, 1 tenancy, 16000 cpu`; its user asked for nine pods of 16 cpu. Which pools stand
for something that users never name (a pod's slot, its share of the node's tenancy) is known here
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from fluxnetes.common.reasons import Amount, Argument, Message, Reason, ResourceHours
from fluxnetes.common.reasons.text import ReasonText

_MEMORY = ("memory", "ephemeral-storage")
_HUGE_PAGES = "hugepages-"
_MIB_IN_GIB = 1024
_TENANCY = "tenancy"
_WHOLE_NODE = 1_000_000
"""What a pod takes of a node's tenancy that shares its node with no other pod."""
_IMPLIED = frozenset({"pods", _TENANCY})
"""Pools of which every pod takes one; that goes without saying."""


def moment_text(seconds: int) -> str:
    """A time since the epoch, for people.

    >>> moment_text(1794787200)
    '2026-11-16T00:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def amount_text(value: int, type: str) -> str:
    """An amount of a pool as users write it.

    >>> amount_text(16000, "cpu"), amount_text(500, "cpu"), amount_text(2048, "memory")
    ('16 cpu', '500m cpu', '2Gi memory')
    """
    if type == "cpu":
        return f"{value // 1000} cpu" if value % 1000 == 0 else f"{value}m cpu"
    if type in _MEMORY or type.startswith(_HUGE_PAGES):
        whole = value and value % _MIB_IN_GIB == 0
        return f"{value // _MIB_IN_GIB}Gi {type}" if whole else f"{value}Mi {type}"
    if type == _TENANCY and value == _WHOLE_NODE:
        return "a whole node"
    return f"{value} {type}"


class KubernetesReasonText(ReasonText):
    """Renders reasons for users of Kubernetes; `name_of` gives the name of a job, if it has one."""

    def __init__(self, name_of: Callable[[int], str | None] = lambda id: None) -> None:
        self._name_of = name_of

    def template(self, reason: Reason) -> str:
        match reason:
            case Reason(Message.POD_ON_ONE_NODE, (("needs", Amount(_, "tenancy")), *_)):
                return "no node is free for a pod that shares its node with no other"
            case _:
                return super().template(reason)

    def amount(self, amount: Amount) -> str:
        text = amount_text(amount.value, amount.type)
        return f"at least {text}" if amount.at_least else text

    def value_alone(self, amount: Amount | ResourceHours) -> str:
        """With its unit, without which the number would say something else."""
        if isinstance(amount, Amount):
            return self.amount(amount)
        return super().value_alone(amount)

    def several(self, values: tuple[Argument, ...], separator: str) -> str:
        told = tuple(each for each in values if not _is_implied(each))
        return super().several(told or values, separator)

    def moment(self, at: int) -> str:
        return moment_text(at)

    def job(self, id: int) -> str:
        return self._name_of(id) or super().job(id)


def _is_implied(value: Argument) -> bool:
    return isinstance(value, Amount) and value.value == 1 and value.type in _IMPLIED
