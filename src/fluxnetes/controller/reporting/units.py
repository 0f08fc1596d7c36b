"""The queue's reasons in the units that users of Kubernetes write.

The queue counts seconds, millicores and MiB, and knows nothing of any of them. It says `needs room
for 9 pods of 1 pods, 1 tenancy, 16000 cpu`; its user asked for nine pods of 16 cpu.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_AMOUNT = re.compile(r"(\d+) (cpu|memory|ephemeral-storage|hugepages-\w+)\b")
_ONE_EACH = re.compile(r"\b1 (?:pods|tenancy)(?:, (?=\d)|(?=;|$))|, 1 (?:pods|tenancy)\b")
_WHOLE = re.compile(r"\b1000000 tenancy\b")
_NO_TENANCY = re.compile(r"needs (?:1|1000000) tenancy on one node; the most that one has is \d+")
_LARGEST = re.compile(r"(needs \d+ (\S+) on one node; the most that one has is )(\d+)")
_MIB_IN_GIB = 1024


_MOMENT = re.compile(r"(?<=\bat )\d{9,11}\b|(?<=\()\d{9,11}(?= to \d)|(?<=\d to )\d{9,11}(?=\))")


def moment(seconds: int) -> str:
    """A time since the epoch, for people.

    >>> moment(1794787200)
    '2026-11-16T00:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def in_users_units(reason: str) -> str:
    """A reason of the queue, for people."""
    reason = _MOMENT.sub(lambda found: moment(int(found[0])), reason)
    reason = _NO_TENANCY.sub("no node is free for a pod that shares its node with nobody", reason)
    reason = _ONE_EACH.sub("", reason)
    reason = _WHOLE.sub("a whole node", reason)
    reason = _LARGEST.sub(r"\1\3 \2", reason)
    return _AMOUNT.sub(_with_unit, reason)


def _with_unit(found: re.Match[str]) -> str:
    amount, type = int(found[1]), found[2]
    if type == "cpu":
        return f"{amount // 1000} cpu" if amount % 1000 == 0 else f"{amount}m cpu"
    if amount and amount % _MIB_IN_GIB == 0:
        return f"{amount // _MIB_IN_GIB}Gi {type}"
    return f"{amount}Mi {type}"
