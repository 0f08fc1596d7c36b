"""Starts and stops what runs besides the control plane: Postgres, the controller and the webhook.

Controller and webhook are child processes like the control plane's programs: each has a log and a
session of its own, and is killed when this process ends. One that ends by itself is started again,
after a pause that grows (see `supervisor`). Postgres alone survives a kill -9 of this process, and
the next start connects to it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from fluxnetes.cli.up.folder import UpFolder
from fluxnetes.cli.up.show import say
from fluxnetes.cli.up.supervisor import Supervisor
from fluxnetes.plane.processes import Program, ProgramRun
from fluxnetes.store.embedded.server import EmbeddedServer

CONTROLLER, WEBHOOK = "controller", "webhook"

_ENVIRONMENT = {"FLUXNETES_DSN": ""}
"""Overrides a FLUXNETES_DSN of the user: this folder's queue is in its own Postgres."""


def controller(
    folder: UpFolder, kubeconfig: Path, context: str | None = None, config: Path | None = None
) -> Program:
    """The controller; ready when it leads."""
    named = {
        "--kubeconfig": kubeconfig,
        "--context": context,
        "--store-folder": folder.store,
        "--identity": folder.identity(),
        "--config": config and config.resolve(),
    }
    return _command(folder, CONTROLLER, named, ready="leading")


def webhook(
    folder: UpFolder,
    kubeconfig: Path,
    port: int,
    *,
    context: str | None = None,
    address: str | None = None,
    url: str | None = None,
) -> Program:
    """The webhook; ready when it is registered."""
    named = {
        "--kubeconfig": kubeconfig,
        "--context": context,
        "--folder": folder.webhook,
        "--address": address,
        "--port": port,
        "--url": url,
    }
    return _command(folder, WEBHOOK, named, ready="ready")


def _command(folder: UpFolder, name: str, named: Mapping[str, object], ready: str) -> Program:
    line = [sys.executable, "-m", "fluxnetes", name]
    for option, value in named.items():
        if value is not None:
            line += [option, str(value)]
    return Program(name, tuple(line), ready, _ENVIRONMENT)


class LocalServices:
    """The programs of one folder. Enter it with `with`, then start them."""

    def __init__(self, folder: UpFolder, lock: int) -> None:
        self._folder, self._lock = folder, lock
        self._server = EmbeddedServer(folder.store)
        self._supervisors: dict[str, Supervisor] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the programs in reverse order, then Postgres, unless another process uses it."""
        for name in reversed(list(self._supervisors)):
            self._supervisors.pop(name).process.stop()
        self._server.stop()

    def start_store(self) -> None:
        """Start Postgres. The controller would too; started here, it outlives the controller."""
        self._server.start()
        say("postgres is ready")

    def start(self, program: Program) -> ProgramRun:
        """Start a program without waiting for it."""

        def run() -> ProgramRun:
            log = self._folder.log(program.name)
            return ProgramRun(program, log, self._folder.top, self._lock)

        supervisor = self._supervisors[program.name] = Supervisor(run, say)
        return supervisor.process

    def wait(self) -> None:
        """Wait until all are ready."""
        for name, supervisor in self._supervisors.items():
            supervisor.process.wait_until_ready()
            say(f"{name} is ready")

    def tend(self) -> dict[Path, int]:
        """Start programs again that ended; the log and the status of those that cannot go on."""
        failed: dict[Path, int] = {}
        for supervisor in self._supervisors.values():
            supervisor.tend()
            if supervisor.has_given_up and supervisor.process.status is not None:
                failed[supervisor.process.log] = supervisor.process.status
        return failed
