"""Bundles everything that is reported to users: events, conditions of pods, FluxJobs, PodGroups.

    reports = report_to(client, "fluxnetes-host-1", find=pods.objects.get, idle=actions.is_idle)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(reports.run())
        reports.events.record(...)
        ...
        await reports.drain(5.0)
        running.cancel()

None of it is needed to place a pod: it may be late, and it has a lower priority than binds
(`throttle`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from fluxnetes.controller.reporting.conditions import ConditionWriter
from fluxnetes.controller.reporting.events import EventRecorder
from fluxnetes.controller.reporting.fluxjob_sync import KEEP, FluxJobSync
from fluxnetes.controller.reporting.pod_groups.sync import PodGroupSync
from fluxnetes.controller.reporting.pod_groups.view import PodGroupObjects
from fluxnetes.controller.reporting.throttle import WriteThrottle, always
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.objects.base import Key
from fluxnetes.kube.objects.pods import Pod

NO_POD_GROUPS = PodGroupObjects({}, {})

_LOOK_AGAIN = 0.02
"""Seconds between two checks whether all FluxJobs are written."""


@dataclass(frozen=True, slots=True)
class Reports:
    """The four kinds of reports, and the throttle that they share."""

    events: EventRecorder
    conditions: ConditionWriter
    fluxjobs: FluxJobSync
    pod_groups: PodGroupSync
    throttle: WriteThrottle

    async def run(self) -> None:
        """Write reports until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.events.run())
            tasks.create_task(self.conditions.run())
            tasks.create_task(self.fluxjobs.run())
            tasks.create_task(self.pod_groups.run())

    async def drain(self, seconds: float) -> bool:
        """Write what is left at full speed, while `run` runs; false if time was too short.

        Conditions and PodGroups are left out: the next leader writes why pods wait.
        """
        self.throttle.lift()
        try:
            async with asyncio.timeout(seconds):
                await self.events.drained()
                while not self.fluxjobs.is_synced():
                    self.fluxjobs.hurry()
                    await asyncio.sleep(_LOOK_AGAIN)
        except TimeoutError:
            return False
        return True


def report_to(
    client: KubeClient,
    instance: str,
    find: Callable[[Key], Pod | None],
    *,
    idle: Callable[[], bool] = always,
    may_write: Callable[[], bool] = always,
    keep: float = KEEP,
    pod_groups: PodGroupObjects = NO_POD_GROUPS,
) -> Reports:
    """Reports with default limits.

    `find` returns a pod by its key from the informer's cache, `idle` whether no binds are queued,
    and `may_write` whether this controller is sure to lead. `pod_groups` are those that exist.
    """
    throttle = WriteThrottle(idle, may_write)
    return Reports(
        EventRecorder(client, throttle, instance),
        ConditionWriter(client, throttle, find),
        FluxJobSync(client, throttle, keep=keep),
        PodGroupSync(client, throttle, pod_groups),
        throttle,
    )
