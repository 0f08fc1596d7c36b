"""Leader election by a Lease of the cluster, which one controller holds at a time.

    leader = LeaderElection(client, identity, namespace)
    await leader.win()                    # waits as long as another controller leads
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(leader.keep())  # raises LeadershipLost
        ...                               # before any write: leader.is_sure()
    await leader.release()                # so that the next leader need not wait

Clocks of machines differ, so the time in the lease is never compared with a clock. A candidate
notes by its own monotonic clock when it last saw the lease change; if the lease then does not
change for as long as it lasts, its holder is gone. The holder counts from before its request, the
candidates from after they saw the change, so the holder stops being sure before another one can
win. A process that was paused for a minute is not sure when it resumes, whatever it was about to
write.

Every write names the version that it read, so of two candidates one wins and the other reads again.
The lease guards what is written to Kubernetes; the store has a lease of its own (`store.lease`),
with a fence.

The identity of a holder must be unique among running processes. A process that restarts under its
old identity gets its lease back at once.
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
"""Name of the Lease object."""

_log = logging.getLogger("fluxnetes.controller")


class LeadershipLost(RuntimeError):  # noqa: N818 - reads better where it is raised
    """This controller does not lead any more: nothing may be written."""


@dataclass(frozen=True, slots=True)
class LeaseTiming:
    """In seconds. Each must be clearly less than the one before."""

    duration: float = 15.0
    """How long candidates wait for a renewal."""
    deadline: float = 10.0
    """How long the holder tries to renew before it gives up."""
    retry: float = 2.0
    """Between two attempts, and between two reads of a candidate."""
    skew: float = 1.0
    """By how much two clocks may drift apart in the duration."""

    @classmethod
    def lasting(cls, seconds: float) -> LeaseTiming:
        """Timing of a lease of `seconds`, in the proportions of the defaults."""
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
            raise ValueError("a candidate needs a unique identity")
        self._client = client
        self.identity = identity
        self._namespace, self._name = namespace, name
        self._timing = timing or LeaseTiming()
        self._clock = clock
        self._lease: Lease | None = None
        """As it was last seen."""
        self._seen = float("-inf")
        """When it was first seen like this."""
        self._renewed = float("-inf")
        """When the last renewal that succeeded was sent."""
        self._problem = ""
        self.lost = asyncio.Event()

    @property
    def holder(self) -> str:
        """The identity of the leader, as last seen; empty: none."""
        return self._lease.spec.holder_identity if self._lease is not None else ""

    def is_sure(self) -> bool:
        """Whether no other controller can lead at this moment."""
        return self.sure_for() > 0

    def sure_for(self) -> float:
        """For how many seconds no other controller can lead."""
        if self.lost.is_set():
            return 0.0
        return self._renewed + self._timing.duration - self._timing.skew - self._clock()

    # --- to win --------------------------------------------------------------------------------

    async def win(self) -> None:
        """Wait until this candidate leads."""
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
        """Renew the lease until cancelled; raises LeadershipLost when it is lost."""
        timing = self._timing
        try:
            while True:
                await asyncio.sleep(timing.retry)
                # After a pause of the process there is time for one attempt: the lease may still be
                # ours.
                latest = max(self._renewed + timing.deadline, self._clock() + timing.retry)
                await self._renew(latest)
        finally:
            self.lost.set()

    async def _renew(self, latest: float) -> None:
        while not await self._try(self._write, latest):
            if self.holder != self.identity:
                by = f"{self.holder!r} leads" if self.holder else "no controller leads"
                raise LeadershipLost(f"{self.identity!r} lost the lease {self._name}: now {by}")
            if self._clock() + self._timing.retry > latest:
                raise LeadershipLost(
                    f"{self.identity!r} could not renew the lease {self._name} for "
                    f"{self._clock() - self._renewed:.1f} s: {self._problem or 'no answer'}"
                )
            await asyncio.sleep(self._timing.retry)

    async def release(self) -> None:
        """Release the lease, if it is ours. Best effort: otherwise it expires."""
        held, self._renewed = self._lease, float("-inf")
        self.lost.set()
        try:
            async with asyncio.timeout(self._timing.retry):
                while held is not None and held.spec.holder_identity == self.identity:
                    held = await self._release(held)
        except (KubeError, TimeoutError) as error:
            _log.info("cannot release the lease %s: %s", self._name, error)

    async def _release(self, held: Lease) -> Lease | None:
        """Release the lease as it was last seen; the lease as it is now, if it is another one.

        A renewal may have been in flight when this candidate was stopped. Its answer was not
        waited for, and the lease has a newer version than is known here.
        """
        released = {"holderIdentity": None, "leaseDurationSeconds": 1, "renewTime": _now()}
        try:
            await self._patch(held, released)
        except Conflict:
            return await self._client.get(LEASES, self._name, self._namespace)
        return None

    # --- both ----------------------------------------------------------------------------------

    async def _try(self, step: Callable[[], Awaitable[bool]], latest: float = float("inf")) -> bool:
        """Attempt a step that may fail temporarily; whether it worked."""
        left = min(latest - self._clock(), self._timing.deadline / 2)
        try:
            async with asyncio.timeout(left):
                worked = await step()
        except (KubeError, TimeoutError) as error:
            self._report(str(error) or "the server does not answer")
            return False
        self._problem = ""
        return worked

    async def _write(self) -> bool:
        """Write our identity and a new time into the lease as last seen."""
        assert self._lease is not None  # noqa: S101 - win() comes first
        asked = self._clock()
        try:
            self._hold(await self._patch(self._lease, self._spec(self._lease.spec)), asked)
        except (Conflict, NotFound):
            # Another candidate wrote it, or our own write whose answer was lost: read it again.
            return await self._read_again()
        return True

    async def _read_again(self) -> bool:
        try:
            self._see(await self._client.get(LEASES, self._name, self._namespace))
        except NotFound:
            self._lease = None
            return await self._make()
        return False

    async def _patch(self, lease: Lease, spec: dict[str, Any]) -> Lease:
        metadata = {"resourceVersion": lease.metadata.resource_version, "uid": lease.metadata.uid}
        content = {"metadata": metadata, "spec": spec}
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

    def _report(self, why: str) -> None:
        if why != self._problem:
            _log.warning("lease %s/%s: %s; retrying", self._namespace, self._name, why)
        self._problem = why


def _now() -> str:
    return micro_time(datetime.now(UTC))
