"""Releasing the lease of leadership, whatever was in flight when the process was told to stop."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, cast

import msgspec
import pytest

from fluxnetes.controller.leadership.election import LeaderElection, LeaseTiming
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import Conflict, NotFound
from fluxnetes.kube.objects.leases import Lease

QUICK = LeaseTiming(duration=3.0, deadline=2.0, retry=0.05, skew=0.1)


class LeaseServer:
    """Holds one Lease; a write must name the version that it is about."""

    def __init__(self) -> None:
        self.content: dict[str, Any] | None = None
        self.slow = False
        """Whether writes are done at once, and answered late."""

    async def get(self, *_: object) -> Lease:
        if self.content is None:
            raise NotFound("there is none")
        return msgspec.convert(self.content, Lease)

    async def create(self, _: object, content: dict[str, Any], namespace: str) -> Lease:
        self._write(content)
        return await self.get()

    async def patch(self, _: object, name: str, patch: Any, namespace: str) -> Lease:
        content = patch.content
        assert self.content is not None
        version = content["metadata"]["resourceVersion"]
        if version != self.content["metadata"]["resourceVersion"]:
            raise Conflict(f"version {version} is old")
        self._write({**self.content, "spec": {**self.content["spec"], **content["spec"]}})
        if self.slow:
            await asyncio.sleep(60)
        return await self.get()

    def _write(self, content: dict[str, Any]) -> None:
        known = self.content["metadata"]["resourceVersion"] if self.content else "0"
        metadata = {"name": "fluxnetes", "uid": "u", "resourceVersion": str(int(known) + 1)}
        spec = {key: value for key, value in content["spec"].items() if value is not None}
        self.content = {"metadata": metadata, "spec": spec}

    @property
    def holder(self) -> str:
        assert self.content is not None
        return str(self.content["spec"].get("holderIdentity", ""))

    def candidate(self, identity: str) -> LeaderElection:
        return LeaderElection(cast(KubeClient, self), identity, "ns", timing=QUICK)


@pytest.mark.parametrize("in_flight", [False, True])
async def test_a_lease_is_released_though_a_renewal_was_cut_off(in_flight: bool) -> None:
    server = LeaseServer()
    leader = server.candidate("a")
    await leader.win()
    server.slow = in_flight
    keeping = asyncio.create_task(leader.keep())
    await asyncio.sleep(3 * QUICK.retry)
    keeping.cancel()
    with suppress(asyncio.CancelledError):
        await keeping
    server.slow = False
    await leader.release()
    assert server.holder == ""


async def test_a_lease_that_another_candidate_took_meanwhile_is_left_to_it() -> None:
    server = LeaseServer()
    leader = server.candidate("a")
    await leader.win()
    assert server.content is not None
    server._write({**server.content, "spec": {**server.content["spec"], "holderIdentity": "b"}})
    await leader.release()
    assert server.holder == "b"
