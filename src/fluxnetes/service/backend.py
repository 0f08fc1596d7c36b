"""The protocol of a backend: what every dialect asks of a matcher or a queue.

There are two implementations, in three uses:

    MatcherBackend   a matcher on a graph of its own, without a queue (`fluxnetes serve`)
    QueueBackend     a standalone queue on a graph of its own (`fluxnetes serve --queue`), or
                     the queue of the leading controller, on the live cluster (`--serve`)

A backend refuses what it does not support with an exception of `errors`.

A caller changes only its own jobs, others are Denied; and of views it gets only those of its own
jobs, so others are unknown to it (`callers`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from fluxnetes.queue.jobs import Submission
from fluxnetes.service.callers import ADMIN, Caller
from fluxnetes.service.changelog import ChangeLog
from fluxnetes.service.health import HealthSignal
from fluxnetes.service.values import (
    AllocationUpdate,
    BackendStatus,
    Grant,
    GroupView,
    JobExplanation,
    JobView,
    MatchCall,
    NodeView,
    StartEstimate,
)


class Backend(Protocol):
    """See the module's docstring."""

    jobs: ChangeLog
    """Which jobs changed, by number."""
    nodes: ChangeLog
    """Which nodes changed, by name."""
    health: HealthSignal
    """Whether calls would be answered: always, but for a queue that another replica runs."""

    # -- jobs that are matched -----------------------------------------------------------------

    async def match(self, call: MatchCall) -> Grant:
        """Allocate resources, or say why not. Cancelling the call leaves nothing allocated."""
        ...

    async def withdraw(self, grant: Grant) -> None:
        """Release a grant that its caller never received, unless its job ended already."""
        ...

    async def update(self, allocation: AllocationUpdate) -> Grant:
        """Record an allocation that was made elsewhere."""
        ...

    async def renew(self, job: int, caller: Caller = ADMIN) -> int | None:
        """Renew the lease of an allocation; returns when it expires, None: never."""
        ...

    async def cancel(self, job: int, reason: str = "", caller: Caller = ADMIN) -> None:
        """Cancel a job, and release all that it holds."""
        ...

    # -- jobs that are queued ------------------------------------------------------------------

    async def submit(self, submission: Submission, key: str) -> JobView:
        """Queue a job. The backend numbers it, whatever the submission says."""
        ...

    async def start(self, job: int, caller: Caller = ADMIN) -> JobView:
        """A job started on its allocation."""
        ...

    async def finish(self, job: int, ok: bool, reason: str, caller: Caller = ADMIN) -> None:
        """A job ended."""
        ...

    async def hold(self, job: int, caller: Caller = ADMIN) -> JobView: ...

    async def release(self, job: int, caller: Caller = ADMIN) -> JobView: ...

    async def explain(self, job: int, caller: Caller = ADMIN) -> JobExplanation: ...

    async def estimate(self, submission: Submission, now: int) -> StartEstimate:
        """When and where a job would start if it were submitted now."""
        ...

    # -- the graph -----------------------------------------------------------------------------

    async def load(self, text: str, format: str, policy: str, caller: Caller = ADMIN) -> int:
        """Replace the graph and forget all jobs; returns the number of vertices. Denied if another
        caller has jobs."""
        ...

    async def grow(self, jgf: str) -> int: ...

    async def shrink(self, paths: Sequence[str], caller: Caller = ADMIN) -> int: ...

    async def text(self) -> str:
        """The whole graph, as JGF."""
        ...

    # -- views ---------------------------------------------------------------------------------

    async def groups(self, caller: Caller = ADMIN) -> list[GroupView]: ...

    async def job_views(
        self, jobs: Collection[int] | None, caller: Caller = ADMIN
    ) -> list[JobView]:
        """These jobs, also recently ended ones; or all live jobs. Unknown jobs are left out."""
        ...

    async def node_views(
        self, names: Collection[str] | None, caller: Caller = ADMIN
    ) -> list[NodeView]:
        """These nodes, or all. Unknown nodes are left out."""
        ...

    async def node_page(self, first: int, count: int, caller: Caller = ADMIN) -> list[NodeView]:
        """Some of the nodes, in tree order."""
        ...

    async def status(self) -> BackendStatus: ...
