"""Reasons in words for callers of the service.

Where a graph has `cpu`, it counts thousandths (see `requests.pools`). Limits and budgets are
in cpus, as operators configure them; all else is in the units of the graph, as callers ask for it.
Pools that every pod takes one of, and that no caller asks for, are left out.
"""

from __future__ import annotations

from fluxnetes.cluster.config_units import units_of
from fluxnetes.cluster.reason_text import is_implied
from fluxnetes.common.reasons import Amount, Argument, Message, Reason, ResourceHours
from fluxnetes.common.reasons.text import ReasonText

_CPU = "cpu"
_IN_CPUS = frozenset({Message.MAY_HOLD, Message.BUDGET_SHORT, Message.BUDGET_EXCEEDED})


class CallerReasonText(ReasonText):
    """Renders reasons for callers."""

    def render(self, reason: Reason | None) -> str:
        if reason is not None and reason.message in _IN_CPUS:
            return _OF_LIMITS.render(reason)
        return super().render(reason)

    def several(self, values: tuple[Argument, ...], separator: str) -> str:
        named = tuple(each for each in values if not is_implied(each))
        return super().several(named or values, separator)


class LimitReasonText(ReasonText):
    """Renders limits and budgets, in cpus."""

    def amount(self, amount: Amount) -> str:
        return f"{self.value_alone(amount)} {amount.type}"

    def hours(self, hours: ResourceHours) -> str:
        return f"{self.value_alone(hours)} {hours.type}-hours"

    def value_alone(self, amount: Amount | ResourceHours) -> str:
        if amount.type != _CPU:
            return super().value_alone(amount)
        cpus = amount.value / units_of(_CPU)
        return f"{cpus:.1f}" if isinstance(amount, ResourceHours) else f"{cpus:g}"


_OF_LIMITS = LimitReasonText()
_FOR_CALLERS = CallerReasonText()


def caller_text(reason: Reason | None) -> str:
    """A reason in words for a caller; empty where there is none."""
    return _FOR_CALLERS.render(reason)
