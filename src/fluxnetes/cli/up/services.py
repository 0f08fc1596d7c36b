"""Starts and stops what runs besides the control plane: Postgres, the controller and the webhook.

Controller and webhook are child processes like the control plane's programs: each has a log and a
session of its own, and is killed when this process ends. Neither is restarted when it ends by
itself: `fluxnetes up` then stops and reports it. Postgres alone survives a kill -9 of this process,
and the next start connects to it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from fluxnetes.cli.up.folder import UpFolder
from fluxnetes.cli.up.show import say
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
    log = folder.log(name)
    return Program(name, tuple(line), lambda: _has_line(log, ready), _ENVIRONMENT)


def _has_line(log: Path, line: str) -> bool:
    return line in log.read_text(errors="replace").splitlines()


class LocalServices:
    """The programs of one folder. Enter it with `with`, then start them."""

    def __init__(self, folder: UpFolder, lock: int) -> None:
        self._folder, self._lock = folder, lock
        self._server = EmbeddedServer(folder.store)
        self.processes: dict[str, ProgramRun] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the programs in reverse order, then Postgres, unless another process uses it."""
        for name in reversed(list(self.processes)):
            self.processes.pop(name).stop()
        self._server.stop()

    def start_store(self) -> None:
        """Start Postgres. The controller would too; started here, it outlives the controller."""
        self._server.start()
        say("postgres is ready")

    def start(self, program: Program) -> ProgramRun:
        """Start a program without waiting for it."""
        log = self._folder.log(program.name)
        process = ProgramRun(program, log, self._folder.top, self._lock)
        self.processes[program.name] = process
        return process

    def wait(self) -> None:
        """Wait until all are ready."""
        for name, process in self.processes.items():
            process.wait_until_ready()
            say(f"{name} is ready")

    def ended(self) -> dict[Path, int]:
        """Programs that ended by themselves or were killed: the log and the status of each."""
        states = {process.log: process.status for process in self.processes.values()}
        return {log: status for log, status in states.items() if status is not None}
