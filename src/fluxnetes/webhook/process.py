"""The webhook as a child process, restarted whenever it ends.

    async with WebhookProcess(WebhookOptions(kubeconfig, folder)) as webhook:
        await webhook.ready.wait()

The socket belongs to the parent and is inherited. So while the process restarts, requests wait for
it instead of being refused, and the registration stays valid. The process stops when its standard
input ends, and so never outlives the parent, however that one ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio.subprocess import PIPE, Process
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from fluxnetes.common.backoff import Backoff, RetryTiming
from fluxnetes.webhook.mutate import AdmissionPolicy
from fluxnetes.webhook.run import listen

READY = b"ready"
"""The line that the process prints when it is registered with the API server."""

_GRACE = 10.0
"""Seconds that the process has to stop before it is killed."""


@dataclass(frozen=True, slots=True)
class WebhookOptions:
    """The command-line options of the process."""

    kubeconfig: Path
    folder: Path
    """The folder of its certificates."""
    context: str | None = None
    everything: bool = False
    policy: AdmissionPolicy = field(default_factory=AdmissionPolicy)
    address: str = "127.0.0.1"
    port: int = 0
    """0: any free port."""
    verbose: bool = False

    def arguments(self, socket: int) -> list[str]:
        """The command line."""
        named = {
            "--socket": str(socket),
            "--kubeconfig": str(self.kubeconfig),
            "--context": self.context or "",
            "--folder": str(self.folder),
            "--namespace": self.policy.namespace,
        }
        line = [part for name, value in named.items() if value for part in (name, value)]
        for name in self.policy.schedulers:
            line += ["--scheduler-name", name]
        flags = {"--all-namespaces": self.everything, "--verbose": self.verbose}
        return [*line, *(flag for flag, is_set in flags.items() if is_set)]


class WebhookProcess:
    """Starts the webhook, and restarts it whenever it ends. Open it with `async with`."""

    def __init__(self, options: WebhookOptions, timing: RetryTiming | None = None) -> None:
        self._options = options
        self._backoff = Backoff("the webhook", timing or RetryTiming())
        self._listener = listen(options.address, options.port)
        self._running: asyncio.Task[None] | None = None
        self.process: Process | None = None
        """The current process, or the last one."""
        self.ready = asyncio.Event()
        """Set while a process serves and is registered with the API server."""

    @property
    def port(self) -> int:
        """The port on which it listens."""
        port: int = self._listener.getsockname()[1]
        return port

    async def __aenter__(self) -> Self:
        self._running = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._running is not None  # noqa: S101 - it was entered
        self._running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._running
        self._listener.close()

    async def _run(self) -> None:
        while True:
            process = self.process = await self._start()
            try:
                await self._follow(process)
            finally:
                self.ready.clear()
                await _stop(process)
            await self._backoff.pause(f"it ended (status {process.returncode})")

    async def _start(self) -> Process:
        inherited = self._listener.fileno()
        command = [sys.executable, "-m", "fluxnetes", "webhook"]
        command += self._options.arguments(inherited)
        return await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, pass_fds=(inherited,)
        )

    async def _follow(self, process: Process) -> None:
        """Read its output until it ends."""
        assert process.stdout is not None  # noqa: S101 - started with PIPE
        async for line in process.stdout:
            if line.strip() == READY:
                self._backoff.over()
                self.ready.set()


async def _stop(process: Process) -> None:
    """Stop it gracefully, so that it finishes its requests."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), _GRACE)
    except TimeoutError:
        process.kill()
        await process.wait()
