"""Who has used how much, and what that means for the order.

Usage is what somebody's jobs hold, in resource-seconds, and fades with a half-life: what was used
one half-life ago counts half. Between changes the rate of use is constant, so usage at any moment
has a closed form and needs no ticking.

Shares form a tree: namespaces share the cluster, the users of a namespace share the namespace. The
*fair share factor* of a user is 2^(-usage/share): 1 for who used nothing, 1/2 for who used just the
share. Usage is a fraction of all usage; a user also answers for a part of what others in the
namespace used, so that a new user of a greedy namespace does not start from nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from fluxnetes.queue.changes import UsageRecord
from fluxnetes.queue.config import FairShare

Account = tuple[str, str]
"""Namespace and user."""


@dataclass(slots=True)
class UsageMeter:
    """The usage of one account: an amount as of a moment, and what is held since."""

    amount: float
    at: int
    rate: float = 0.0


class UsageLedger:
    """The usage of all accounts, and what follows from it."""

    def __init__(self, config: FairShare) -> None:
        self._config = config
        self._meters: dict[Account, UsageMeter] = {}
        self.version = 0
        self._factors: tuple[tuple[int, int], dict[Account, float]] = ((-1, -1), {})

    def load(self, usage: UsageRecord) -> None:
        self._meters[usage.namespace, usage.user] = UsageMeter(usage.amount, usage.at)

    def written(self) -> tuple[UsageRecord, ...]:
        """The usage of all accounts, each as it was last written down."""
        return tuple(UsageRecord(*account, m.amount, m.at) for account, m in self._meters.items())

    def register(self, account: Account, now: int) -> UsageRecord | None:
        """Somebody is here to share, if only to wait so far; None: that was known."""
        if account in self._meters:
            return None
        self._meters[account] = UsageMeter(0.0, now)
        self.version += 1
        return UsageRecord(account[0], account[1], 0.0, now)

    def change(self, account: Account, by: float, now: int) -> UsageRecord:
        """An account holds so much more (or less) from now on."""
        meter = self._meters.setdefault(account, UsageMeter(0.0, now))
        meter.amount, meter.at = self._read(meter, now), now
        meter.rate = max(0.0, meter.rate + by)
        self.version += 1
        return UsageRecord(account[0], account[1], meter.amount, now)

    def resume(self, account: Account, by: float) -> None:
        """An account holds so much since it was last written down: after a restart."""
        self._meters.setdefault(account, UsageMeter(0.0, 0)).rate += by

    def used(self, account: Account, now: int) -> float:
        meter = self._meters.get(account)
        return 0.0 if meter is None else self._read(meter, now)

    def _read(self, meter: UsageMeter, now: int) -> float:
        elapsed = now - meter.at
        if elapsed <= 0:
            return meter.amount
        half_life = self._config.half_life
        kept = 2.0 ** (-elapsed / half_life)
        faded = meter.amount * kept
        return float(faded + meter.rate * (1.0 - kept) * half_life / math.log(2.0))

    def factor(self, account: Account, now: int) -> float:
        """The fair share factor of an account, from 0 (used far too much) to 1 (nothing)."""
        key = (self.version, now)
        if self._factors[0] != key:
            self._factors = (key, {})
        factors = self._factors[1]
        if account not in factors:
            factors[account] = self._factor(account, now)
        return factors[account]

    def _factor(self, account: Account, now: int) -> float:
        namespace, _ = account
        by_namespace: dict[str, float] = defaultdict(float)
        for (other, _), meter in self._meters.items():
            by_namespace[other] += self._read(meter, now)
        everything = sum(by_namespace.values())
        if everything <= 0:
            return 1.0
        of_namespace = self._part_of_namespaces(namespace, set(by_namespace))
        of_user = self._part_of_users(account)
        used = self.used(account, now) / everything
        by_all = by_namespace[namespace] / everything
        answers_for = used + (by_all - used) * of_user
        return float(2.0 ** (-answers_for / (of_namespace * of_user)))

    def _part_of_namespaces(self, namespace: str, seen: set[str]) -> float:
        shares = self._config.namespaces
        others = seen | set(shares) | {namespace}
        return shares.get(namespace, 1.0) / sum(shares.get(n, 1.0) for n in others)

    def _part_of_users(self, account: Account) -> float:
        shares = self._config.users
        accounts = {a for a in (*self._meters, *shares) if a[0] == account[0]} | {account}
        return shares.get(account, 1.0) / sum(shares.get(a, 1.0) for a in accounts)
