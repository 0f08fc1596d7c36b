"""Distributes equal pods over nodes and domains of known capacity: pure arithmetic on arrays.

Pods fill the first nodes in order. Slices fill as few domains as possible: the domain with the
least capacity that holds all slices or, if none does, the one with the most, and so on with the
rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fluxnetes.common.arrays import Ints


def fill_first(capacity: Ints, count: int) -> Ints:
    """The pods on each node if the first ones in order are filled; fewer if they have less."""
    before = np.cumsum(capacity) - capacity
    taken: Ints = np.minimum(capacity, np.maximum(count - before, 0))
    return taken


def within_quota(capacity: Ints, domain: Ints, quota: Ints) -> Ints:
    """The capacity of nodes of whose domains no more than a quota may be used, the first first."""
    order = np.argsort(domain, kind="stable")
    ordered, its = capacity[order], domain[order]
    before = np.cumsum(ordered) - ordered
    is_first = np.ones(len(its), np.bool_)
    is_first[1:] = its[1:] != its[:-1]
    in_domain = before - before[is_first][np.cumsum(is_first) - 1]
    found = np.empty_like(capacity)
    found[order] = np.minimum(ordered, np.maximum(quota[its] - in_domain, 0))
    return found


@dataclass(slots=True)
class SliceDomains:
    """The domains of which each slice needs one, and wider ones that may be used up to a quota."""

    capacity: Ints
    """Pods that fit in each domain."""
    size: int
    """Pods of a slice."""
    wider: Ints
    """The wider domain of each domain; all 0 without a quota."""
    quota: Ints
    """Pods that each wider domain may still have."""

    def usable(self) -> Ints:
        """The full slices that fit in each domain, each looked at alone."""
        found: Ints = np.minimum(self.capacity, self.quota[self.wider]) // self.size
        return found

    def total(self) -> int:
        """The full slices that fit in all domains together."""
        full = np.bincount(
            self.wider, weights=self.capacity // self.size, minlength=len(self.quota)
        )
        return int(np.minimum(full.astype(np.int64), self.quota // self.size).sum())

    def without(self, domain: int, pods: int) -> SliceDomains:
        """What is left when pods were placed in a domain."""
        capacity, quota = self.capacity.copy(), self.quota.copy()
        capacity[domain] -= pods
        quota[self.wider[domain]] -= pods
        return SliceDomains(capacity, self.size, self.wider, quota)


@dataclass(frozen=True, slots=True)
class SlicePlan:
    """The pods in each domain, in the order in which they are placed."""

    pods: dict[int, int]
    found: int
    """Slices that were placed; fewer than asked for if there were too few."""


def place_slices(domains: SliceDomains, count: int) -> SlicePlan:
    """Distribute `count` pods in slices; the pods that are left over are one more slice."""
    full, rest = divmod(count, domains.size)
    plan, left = _place_full(domains, full)
    if plan.found < full or not rest:
        return plan
    last = _domain_for_rest(left, rest, plan)
    if last is not None:
        return _with_rest(plan, last, rest)
    return _place_rest_first(domains, full, rest) or plan


def _place_full(domains: SliceDomains, wanted: int) -> tuple[SlicePlan, SliceDomains]:
    pods: dict[int, int] = {}
    found = 0
    while found < wanted:
        usable = domains.usable()
        domain = _next_domain(usable, domains.capacity, wanted - found)
        slices = min(int(usable[domain]), wanted - found) if len(usable) else 0
        if not slices:
            break
        pods[domain] = slices * domains.size
        found += slices
        domains = domains.without(domain, slices * domains.size)
    return SlicePlan(pods, found), domains


def _next_domain(usable: Ints, capacity: Ints, wanted: int) -> int:
    """The domain with the least that suffices; if none does, the one with the most."""
    if not len(usable):
        return 0
    suffices = usable >= wanted
    rank = np.where(suffices, usable, -usable)
    return int(np.lexsort((capacity, rank, ~suffices))[0])


def _domain_for_rest(left: SliceDomains, rest: int, plan: SlicePlan) -> int | None:
    """The domain for the last, smaller slice: one that is used already, if one has capacity."""
    fits = np.flatnonzero(np.minimum(left.capacity, left.quota[left.wider]) >= rest)
    if not len(fits):
        return None
    used = fits[np.isin(fits, list(plan.pods))]
    among = used if len(used) else fits
    return int(among[left.capacity[among].argmin()])


def _place_rest_first(domains: SliceDomains, full: int, rest: int) -> SlicePlan | None:
    """The same where the last slice fits only if others leave it a part of a quota."""
    fits = np.minimum(domains.capacity, domains.quota[domains.wider]) >= rest
    for domain in np.flatnonzero(fits).tolist():
        left = domains.without(domain, rest)
        if left.total() >= full:
            return _with_rest(_place_full(left, full)[0], domain, rest)
    return None


def _with_rest(plan: SlicePlan, domain: int, rest: int) -> SlicePlan:
    """The last slice comes last, so that every slice is a run of pods in one domain."""
    pods = {each: count for each, count in plan.pods.items() if each != domain}
    pods[domain] = plan.pods.get(domain, 0) + rest
    return SlicePlan(pods, plan.found + 1)
