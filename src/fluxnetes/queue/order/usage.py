"""Tracks the usage of accounts, and computes their fair share factors.

Usage is what the jobs of an account hold, in resource-seconds, and decays with a half-life: what
was used one half-life ago counts half. Between changes the rate of use is constant, so usage at any
moment has a closed form and needs no periodic update.

Shares form a tree: namespaces share the cluster, the users of a namespace share the namespace. The
*fair share factor* of a user is 2^(-usage/share): 1 for a user without usage, 1/2 for one that used
exactly the share. Usage is a fraction of all usage; a user is also charged a part of what others in
the namespace used, so that a new user of a namespace with high usage does not start from nothing.
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
    """The usage of one account: an amount as of a moment, and the rate of use since."""

    amount: float
    at: int
    rate: float = 0.0


class UsageLedger:
    """The usage and the fair share factors of all accounts."""

    def __init__(self, config: FairShare) -> None:
        self._config = config
        self._meters: dict[Account, UsageMeter] = {}
        self.version = 0
        self._factors: tuple[tuple[int, int], dict[Account, float]] = ((-1, -1), {})

    def load(self, usage: UsageRecord) -> None:
        self._meters[usage.namespace, usage.user] = UsageMeter(usage.amount, usage.at)

    def written(self) -> tuple[UsageRecord, ...]:
        """The usage of all accounts, each as it was last recorded."""
        return tuple(UsageRecord(*account, m.amount, m.at) for account, m in self._meters.items())

    def register(self, account: Account, now: int) -> UsageRecord | None:
        """An account takes part in the shares, even if its jobs only wait; None: it did already."""
        if account in self._meters:
            return None
        self._meters[account] = UsageMeter(0.0, now)
        self.version += 1
        return UsageRecord(account[0], account[1], 0.0, now)

    def change(self, account: Account, by: float, now: int) -> UsageRecord:
        """The rate of use of an account changes by this from now on."""
        meter = self._meters.setdefault(account, UsageMeter(0.0, now))
        meter.amount, meter.at = self._read(meter, now), now
        meter.rate = max(0.0, meter.rate + by)
        self.version += 1
        return UsageRecord(account[0], account[1], meter.amount, now)

    def resume(self, account: Account, by: float) -> None:
        """Add to the rate of use since the account was last recorded: after a restart."""
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
        """The fair share factor of an account, from 0 (far above its share) to 1 (no usage)."""
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
