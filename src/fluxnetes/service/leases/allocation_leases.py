"""Leases of a matcher's allocations: renewed by their callers, otherwise expired.

A matcher does not know whether a job runs. A client that is killed, or that cancels a call at the
moment at which it is answered, leaves an allocation that no caller knows of. With leases, an
allocation that is not renewed in time is released.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class AllocationLeases:
    """When each allocation was last renewed. Used by one thread at a time."""

    renew_within: float | None = None
    """Seconds after which an allocation that is not renewed expires; None: never."""
    clock: Callable[[], float] = time.monotonic
    _renewed: dict[int, float] = field(default_factory=dict)
    """By the number of the job, in the order in which they were renewed."""

    def renew(self, job: int) -> int | None:
        """Begin or renew a lease; returns when it expires, in seconds since the epoch."""
        if self.renew_within is None:
            return None
        self._renewed.pop(job, None)
        self._renewed[job] = self.clock()
        return int(time.time() + self.renew_within)

    @property
    def jobs(self) -> Set[int]:
        """The jobs that have a lease."""
        return self._renewed.keys()

    def begin_all(self, jobs: Iterable[int]) -> None:
        """Only these jobs hold something; all their leases begin anew."""
        self._renewed.clear()
        for job in jobs:
            self.renew(job)

    def forget(self, job: int) -> None:
        """A job ended."""
        self._renewed.pop(job, None)

    def expired(self) -> list[int]:
        """The jobs that were not renewed in time."""
        found = []
        limit = self.clock() - (self.renew_within or 0.0)
        for job, renewed in self._renewed.items():
            if renewed >= limit:
                break  # all others were renewed later
            found.append(job)
        return found
