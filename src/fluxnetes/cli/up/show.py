"""What `fluxnetes up` says."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status
from rich.text import Text

from fluxnetes.plane.build import Progress
from fluxnetes.plane.plane import ControlPlane

USE = """\
Kubernetes is up. In another terminal:

  export KUBECONFIG={kubeconfig}
  kubectl get nodes

Fluxnetes itself is not part of this yet: pods that name its scheduler wait, all others are placed
by kube-scheduler. Ctrl-C stops everything; the data stay in {folder}.
"""


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def tell_how_to_use(plane: ControlPlane) -> None:
    sys.stdout.write(USE.format(kubeconfig=plane.kubeconfig, folder=plane.places.top))
    sys.stdout.flush()


@contextmanager
def building() -> Iterator[Progress]:
    """Show a build while there is one: a line that moves on a terminal, else a line a program."""
    shown = _Build()
    try:
        yield shown.progress
    finally:
        shown.stop()
    shown.finish_program()


class _Build:
    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._status = Status("", console=self._console)
        self._program = ""
        self._began = 0.0

    def progress(self, program: str, doing: str) -> None:
        if not self._program:
            self._console.print(
                "No Kubernetes programs here yet. Building them takes minutes, once."
            )
            self._status.start()
        if program != self._program:
            self.finish_program()
            self._program, self._began = program, time.monotonic()
        line = Text(f"building {program}: {doing}", no_wrap=True, overflow="ellipsis")
        self._status.update(line)

    def finish_program(self) -> None:
        if self._program:
            took = time.monotonic() - self._began
            self._console.print(f"built {self._program} in {took:.0f} s")

    def stop(self) -> None:
        self._status.stop()
