"""All that we tell users: events, conditions of pods, FluxJobs.

    reports = report_to(client, "fluxnetes-host-1", find=pods.objects.get, idle=binder.is_idle)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(reports.run())
        reports.events.tell(...)
        ...
        await reports.drain(5.0)
        running.cancel()

None of it is needed to place a pod: it may come late, and it gives way to binds (`courtesy`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from fluxnetes.controller.reporting.conditions import ConditionWriter
from fluxnetes.controller.reporting.events import EventRecorder
from fluxnetes.controller.reporting.fluxjob_sync import KEEP, FluxJobSync
from fluxnetes.controller.reporting.throttle import WriteThrottle, always
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.objects.base import Key
from fluxnetes.kube.objects.pods import Pod

_LOOK_AGAIN = 0.02


@dataclass(frozen=True, slots=True)
class Reports:
    """The three ways to tell, and their manners."""

    events: EventRecorder
    conditions: ConditionWriter
    records: FluxJobSync
    throttle: WriteThrottle

    async def run(self) -> None:
        """Write what is told, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.events.run())
            tasks.create_task(self.conditions.run())
            tasks.create_task(self.records.run())

    async def drain(self, seconds: float) -> bool:
        """Write what is left without giving way, while `run` runs; false if time was too short.

        Conditions are left out: whoever comes next says why pods wait.
        """
        self.throttle.in_haste = True
        try:
            async with asyncio.timeout(seconds):
                await self.events.drained()
                while not self.records.is_level():
                    self.records.hurry()
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
) -> Reports:
    """Reports as they are by default.

    `find` is a pod by its key as the informer knows it, `idle` whether no binds are on their way,
    `may_write` whether we are sure to lead.
    """
    throttle = WriteThrottle(idle, may_write)
    return Reports(
        EventRecorder(client, throttle, instance),
        ConditionWriter(client, throttle, find),
        FluxJobSync(client, throttle, keep=keep),
        throttle,
    )
