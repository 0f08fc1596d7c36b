"""Runs the demo, from its first job to its last."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TypeVar

from fluxnetes.cli.up.demo.board import DemoRow, rows
from fluxnetes.cli.up.demo.screens import Screen, choose_screen
from fluxnetes.cli.up.demo.submit import prepare, submit
from fluxnetes.cli.up.demo.words import afterwards, before
from fluxnetes.cli.up.demo.workload import NAMESPACE, DemoEntry, waves
from fluxnetes.cli.up.show import say
from fluxnetes.kube.auth.access import find_access
from fluxnetes.kube.client import KubeClient, Scope
from fluxnetes.kube.informer import Informer
from fluxnetes.kube.objects.base import Object
from fluxnetes.kube.objects.fluxjobs import FLUX_JOBS
from fluxnetes.kube.objects.pods import PODS

T = TypeVar("T", bound=Object)

_LONGEST = 300.0
"""Maximum seconds of the demo; on an idle machine it takes half a minute."""
_LOOK_EVERY = 0.5
"""Maximum seconds between two updates of the board."""


def run_demo(kubeconfig: Path, nodes: int, has_failed: Callable[[], bool], *, once: bool) -> int:
    """Run the demo to its end, or until `has_failed`; 0 if every entry ended as expected."""
    screen = choose_screen()
    screen.say(before(nodes))
    is_good = asyncio.run(_run(kubeconfig, nodes, screen, has_failed))
    if is_good:
        screen.say(afterwards(kubeconfig, once=once))
    return 0 if is_good else 1


async def _run(
    kubeconfig: Path, nodes: int, screen: Screen, has_failed: Callable[[], bool]
) -> bool:
    async with KubeClient(find_access(kubeconfig)) as client:
        await prepare(client)
        demo = _Demo(client, waves(nodes), screen)
        async with asyncio.TaskGroup() as tasks:
            following = [
                tasks.create_task(demo.follow(demo.jobs)),
                tasks.create_task(demo.follow(demo.pods)),
            ]
            with screen:
                is_good = await demo.run(has_failed)
            for task in following:
                task.cancel()
        return is_good


class _Demo:
    def __init__(
        self, client: KubeClient, waves: tuple[tuple[DemoEntry, ...], ...], screen: Screen
    ) -> None:
        self._client, self._screen = client, screen
        self._waves = waves
        self._submitted: list[DemoEntry] = []
        self._changed = asyncio.Event()
        self._began = time.monotonic()
        self.jobs = Informer(client, FLUX_JOBS, Scope(NAMESPACE))
        self.pods = Informer(client, PODS, Scope(NAMESPACE))

    async def follow(self, informer: Informer[T]) -> None:
        async for _ in informer.changes():
            self._changed.set()

    async def run(self, has_failed: Callable[[], bool]) -> bool:
        """Whether every entry is in the expected state at the end."""
        waiting = list(self._waves)
        while not has_failed():
            board = self._update_board()
            if waiting and all(row.is_known for row in board):
                await self._submit(waiting.pop(0))
            elif not waiting and all(row.is_settled for row in board):
                return self._check_states(board)
            elif time.monotonic() - self._began > _LONGEST:
                late = ", ".join(row.name for row in board if not row.is_settled)
                say(f"the demo has not ended after {_LONGEST:.0f} s; these jobs have not: {late}")
                return False
            await self._until_change()
        return False

    def _update_board(self) -> list[DemoRow]:
        board = rows(self._submitted, self.jobs.objects.values(), self.pods.objects.values())
        self._screen.show(board, time.monotonic() - self._began)
        return board

    async def _submit(self, wave: tuple[DemoEntry, ...]) -> None:
        for entry in wave:
            await submit(self._client, entry)
            self._submitted.append(entry)

    def _check_states(self, board: list[DemoRow]) -> bool:
        expected = {entry.name: entry.ends for entry in chain.from_iterable(self._waves)}
        odd = [row for row in board if row.state != expected[row.name]]
        for row in odd:
            say(f"{row.name} is {row.state}, expected {expected[row.name]}: {row.why}")
        return not odd

    async def _until_change(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), _LOOK_EVERY)
        self._changed.clear()
