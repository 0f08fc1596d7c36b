"""Who leads: a Lease of the cluster, held by one controller at a time.

    leader = Leader(client, identity, namespace)
    await leader.win()                    # as long as another leads, this waits
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(leader.keep())  # raises LeadershipLost
        ...                               # before any write: leader.is_sure()
    await leader.release()                # so that the next need not wait

Clocks of machines differ, so nobody compares the time in the lease with a clock. A candidate notes
by its own monotonic clock when it saw the lease change last; if it then does not change for as long
as the lease lasts, its holder is gone. The holder counts from before it asked, the candidates from
after they saw, so the holder stops to be sure before anyone else can win. A process that was paused
for a minute is not sure when it wakes, whatever it still has in hand.

Every write names the version that it read, so of two candidates one wins and the other reads again.
The lease guards what is written to Kubernetes; the store has its own (`store.lease`), with a fence.

A holder's name must be unlike that of any other process that lives. One that starts again under
its old name gets its lease back at once.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import AlreadyExists, Conflict, KubeError, NotFound
from fluxnetes.kube.objects.leases import LEASES, Lease, LeaseSpec
from fluxnetes.kube.objects.times import micro_time
from fluxnetes.kube.patches import merge

NAME = "fluxnetes"

_log = logging.getLogger("fluxnetes.controller")


class LeadershipLost(RuntimeError):  # noqa: N818 - reads better where it is raised
    """We do not lead any more: nothing may be written."""


@dataclass(frozen=True, slots=True)
class LeaseTiming:
    """Seconds. Each must be clearly less than the one before."""

    duration: float = 15.0
    """How long others wait for a sign of life."""
    deadline: float = 10.0
    """How long we try to give one before we step down."""
    retry: float = 2.0
    """Between two tries, and between two looks of a candidate."""
    skew: float = 1.0
    """By how much two clocks may go apart in the duration."""

    @classmethod
    def lasting(cls, seconds: float) -> LeaseTiming:
        """For a lease of so many seconds, in the proportions of the defaults."""
        usual = cls()
        scale = seconds / usual.duration
        return cls(seconds, usual.deadline * scale, usual.retry * scale, usual.skew * scale)


class LeaderElection:
    """One candidate for one lease."""

    def __init__(
        self,
        client: KubeClient,
        identity: str,
        namespace: str,
        *,
        name: str = NAME,
        timing: LeaseTiming | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not identity:
            raise ValueError("a candidate needs an identity that no other has")
        self._client = client
        self.identity = identity
        self._namespace, self._name = namespace, name
        self._timing = timing or LeaseTiming()
        self._clock = clock
        self._lease: Lease | None = None
        """As it was when we saw it last."""
        self._seen = float("-inf")
        """When we first saw it like this."""
        self._renewed = float("-inf")
        """When we asked for what we hold."""
        self._complained = ""
        self.lost = asyncio.Event()

    @property
    def holder(self) -> str:
        """Who leads, as far as we have seen; empty: nobody."""
        return self._lease.spec.holder_identity if self._lease is not None else ""

    def is_sure(self) -> bool:
        """Whether nobody else can lead at this moment."""
        return self.sure_for() > 0

    def sure_for(self) -> float:
        """For how many seconds nobody else can lead."""
        if self.lost.is_set():
            return 0.0
        return self._renewed + self._timing.duration - self._timing.skew - self._clock()

    # --- to win --------------------------------------------------------------------------------

    async def win(self) -> None:
        """Wait until we lead."""
        self.lost.clear()
        while not await self._try(self._take_if_free):
            await asyncio.sleep(self._timing.retry)
        _log.info("%s leads (lease %s/%s)", self.identity, self._namespace, self._name)

    async def _take_if_free(self) -> bool:
        try:
            self._see(await self._client.get(LEASES, self._name, self._namespace))
        except NotFound:
            return await self._make()
        return self._is_free() and await self._write()

    def _see(self, lease: Lease) -> None:
        if self._lease is None or self._lease.spec != lease.spec:
            self._seen = self._clock()
        self._lease = lease

    def _is_free(self) -> bool:
        assert self._lease is not None  # noqa: S101 - the caller read it
        held = self._lease.spec
        if held.holder_identity in ("", self.identity):
            return True
        lasts = held.lease_duration_seconds or self._timing.duration
        return self._clock() - self._seen > lasts

    async def _make(self) -> bool:
        asked = self._clock()
        content = {"metadata": {"name": self._name}, "spec": self._spec(LeaseSpec())}
        try:
            self._hold(await self._client.create(LEASES, content, self._namespace), asked)
        except AlreadyExists:
            return False
        return True

    # --- to keep -------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Renew what was won, for ever; raises when it is lost."""
        timing = self._timing
        try:
            while True:
                await asyncio.sleep(timing.retry)
                # After a pause there is time for one try: nobody may have noticed.
                latest = max(self._renewed + timing.deadline, self._clock() + timing.retry)
                await self._renew(latest)
        finally:
            self.lost.set()

    async def _renew(self, latest: float) -> None:
        while not await self._try(self._write, latest):
            if self.holder != self.identity:
                by = f"{self.holder!r} leads" if self.holder else "nobody leads"
                raise LeadershipLost(f"{self.identity!r} lost the lease {self._name}: now {by}")
            if self._clock() + self._timing.retry > latest:
                raise LeadershipLost(
                    f"{self.identity!r} could not renew the lease {self._name} for "
                    f"{self._clock() - self._renewed:.1f} s: {self._complained or 'no answer'}"
                )
            await asyncio.sleep(self._timing.retry)

    async def release(self) -> None:
        """Give it back, if it is ours. Best effort: otherwise it runs out by itself."""
        held, self._renewed = self._lease, float("-inf")
        self.lost.set()
        if held is None or held.spec.holder_identity != self.identity:
            return
        given_back = {"holderIdentity": None, "leaseDurationSeconds": 1, "renewTime": _now()}
        try:
            async with asyncio.timeout(self._timing.retry):
                await self._patch(held, given_back)
        except (KubeError, TimeoutError) as error:
            _log.info("the lease %s was not given back: %s", self._name, error)

    # --- both ----------------------------------------------------------------------------------

    async def _try(self, step: Callable[[], Awaitable[bool]], latest: float = float("inf")) -> bool:
        """Do a step that may fail for a while; whether it worked."""
        left = min(latest - self._clock(), self._timing.deadline / 2)
        try:
            async with asyncio.timeout(left):
                worked = await step()
        except (KubeError, TimeoutError) as error:
            self._complain(str(error) or "the server does not answer")
            return False
        self._complained = ""
        return worked

    async def _write(self) -> bool:
        """Put our name and a new time into the lease that we saw last."""
        assert self._lease is not None  # noqa: S101 - win() comes first
        asked = self._clock()
        try:
            self._hold(await self._patch(self._lease, self._spec(self._lease.spec)), asked)
        except (Conflict, NotFound):
            # Somebody else's write, or one of ours whose answer was lost: look again.
            return await self._look_again()
        return True

    async def _look_again(self) -> bool:
        try:
            self._see(await self._client.get(LEASES, self._name, self._namespace))
        except NotFound:
            self._lease = None
            return await self._make()
        return False

    async def _patch(self, lease: Lease, spec: dict[str, Any]) -> Lease:
        who = {"resourceVersion": lease.metadata.resource_version, "uid": lease.metadata.uid}
        content = {"metadata": who, "spec": spec}
        return await self._client.patch(LEASES, self._name, merge(content), self._namespace)

    def _spec(self, before: LeaseSpec) -> dict[str, Any]:
        now, is_ours = _now(), before.holder_identity == self.identity
        after = LeaseSpec(
            holder_identity=self.identity,
            lease_duration_seconds=math.ceil(self._timing.duration),
            acquire_time=before.acquire_time if is_ours else now,
            renew_time=now,
            lease_transitions=before.lease_transitions + (not is_ours),
        )
        content: dict[str, Any] = msgspec.to_builtins(after)
        return content

    def _hold(self, lease: Lease, asked: float) -> None:
        self._see(lease)
        self._renewed = asked

    def _complain(self, why: str) -> None:
        if why != self._complained:
            _log.warning("lease %s/%s: %s; trying again", self._namespace, self._name, why)
        self._complained = why


def _now() -> str:
    return micro_time(datetime.now(UTC))
