"""Whoever has the resources: what every dialect asks of it.

There are three hosts. `alone` has a matcher on a graph of its own. `queued` has a queue on one. And
`live` is a controller that leads: its graph is the cluster, and its queue Kubernetes' work.

What a host does not do it refuses: see `refusals`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from fluxnetes.queue.jobs import Submission
from fluxnetes.service.changelog import ChangeLog
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

    # -- jobs that are matched -----------------------------------------------------------------

    async def match(self, wish: MatchCall) -> Grant:
        """Grant a wish or say why not. If the caller goes away meanwhile, nothing is granted."""
        ...

    async def withdraw(self, grant: Grant) -> None:
        """Take back what nobody heard of, if it is still as it was granted."""
        ...

    async def update(self, adoption: AllocationUpdate) -> Grant:
        """Take note of an allocation that was made elsewhere."""
        ...

    async def renew(self, job: int) -> int | None:
        """An allocation is still wanted; returns when it expires otherwise, None: never."""
        ...

    async def cancel(self, job: int, reason: str = "") -> None:
        """Call a job off, and have back all that it holds."""
        ...

    # -- jobs that are queued ------------------------------------------------------------------

    async def submit(self, submission: Submission, key: str) -> JobView:
        """Queue a job. Its number is given here, whatever the submission says."""
        ...

    async def start(self, job: int) -> JobView:
        """A job began to run on what it was given."""
        ...

    async def finish(self, job: int, ok: bool, reason: str) -> None:
        """A job is over."""
        ...

    async def hold(self, job: int) -> JobView: ...

    async def release(self, job: int) -> JobView: ...

    async def explain(self, job: int) -> JobExplanation: ...

    async def estimate(self, submission: Submission, now: int) -> StartEstimate:
        """When and where a job would start if it were submitted now."""
        ...

    # -- the graph -----------------------------------------------------------------------------

    async def load(self, text: str, format: str, policy: str) -> int:
        """Begin anew on another graph; returns how many vertices it has."""
        ...

    async def grow(self, jgf: str) -> int: ...

    async def shrink(self, paths: Sequence[str]) -> int: ...

    async def text(self) -> str:
        """The whole graph, as JGF."""
        ...

    # -- looking -------------------------------------------------------------------------------

    async def groups(self) -> list[GroupView]: ...

    async def job_views(self, jobs: Collection[int] | None) -> list[JobView]:
        """These jobs, also such as ended lately; or all that live. Unknown ones are left out."""
        ...

    async def node_views(self, names: Collection[str] | None) -> list[NodeView]:
        """These nodes, or all. Unknown ones are left out."""
        ...

    async def node_page(self, first: int, count: int) -> list[NodeView]:
        """Some of the nodes, in the order of the tree."""
        ...

    async def status(self) -> BackendStatus: ...
