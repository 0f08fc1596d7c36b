"""What runs besides the control plane: Postgres, the controller and the webhook.

Controller and webhook are commands of their own, run as the control plane's programs are: each with
a log, in a session of its own, dead as soon as we are. Neither is started again when it ends;
whoever runs `up` wants to know. Postgres alone outlives a kill -9 of us, and the next start takes
it up as it is.
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
"""The queue of this folder is in its own Postgres, whatever the user has set for another one."""


def controller(
    folder: UpFolder, kubeconfig: Path, context: str | None = None, config: Path | None = None
) -> Program:
    """Our scheduler; ready when it leads."""
    named = {
        "--kubeconfig": kubeconfig,
        "--context": context,
        "--store-folder": folder.store,
        "--identity": folder.identity(),
        "--config": config and config.resolve(),
    }
    return _command(folder, CONTROLLER, named, said="leading")


def webhook(
    folder: UpFolder,
    kubeconfig: Path,
    port: int,
    *,
    context: str | None = None,
    address: str | None = None,
    url: str | None = None,
) -> Program:
    """The admission server; ready when the API server knows of it."""
    named = {
        "--kubeconfig": kubeconfig,
        "--context": context,
        "--folder": folder.webhook,
        "--address": address,
        "--port": port,
        "--url": url,
    }
    return _command(folder, WEBHOOK, named, said="ready")


def _command(folder: UpFolder, name: str, named: Mapping[str, object], said: str) -> Program:
    line = [sys.executable, "-m", "fluxnetes", name]
    for option, value in named.items():
        if value is not None:
            line += [option, str(value)]
    log = folder.log(name)
    return Program(name, tuple(line), lambda: _has_said(log, said), _ENVIRONMENT)


def _has_said(log: Path, word: str) -> bool:
    return word in log.read_text(errors="replace").splitlines()


class LocalServices:
    """What runs for one folder. Open it with `with`, and start things."""

    def __init__(self, folder: UpFolder, lock: int) -> None:
        self._folder, self._lock = folder, lock
        self._server = EmbeddedServer(folder.store)
        self.processes: dict[str, ProgramRun] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop them, the last first, and Postgres when nobody needs it any more."""
        for name in reversed(list(self.processes)):
            self.processes.pop(name).stop()
        self._server.stop()

    def start_store(self) -> None:
        """The controller would start it too; that it is ours keeps it up until we leave."""
        self._server.start()
        say("postgres is ready")

    def start(self, program: Program) -> ProgramRun:
        """Start a program without waiting for it."""
        log = self._folder.log(program.name)
        process = ProgramRun(program, log, self._folder.top, self._lock)
        self.processes[program.name] = process
        return process

    def wait(self) -> None:
        """Until all are ready."""
        for name, process in self.processes.items():
            process.wait_until_ready()
            say(f"{name} is ready")

    def ended(self) -> dict[Path, int]:
        """Programs that ended by themselves or were killed: the log and the status of each."""
        states = {process.log: process.status for process in self.processes.values()}
        return {log: status for log, status in states.items() if status is not None}
