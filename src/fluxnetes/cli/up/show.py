"""What `fluxnetes up` says."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.status import Status
from rich.text import Text

from fluxnetes.plane.build import Progress

USE_OWN = """\
Kubernetes is up, and Fluxnetes schedules in it. In another terminal:

  export KUBECONFIG={kubeconfig}
  kubectl get nodes
  kubectl get fluxjobs --all-namespaces

Pods that name the scheduler fluxnetes wait in its queue; so do all Jobs and Pods of a namespace
with the label fluxnetes.io/managed=true. All others are placed by kube-scheduler.
Ctrl-C stops everything; the data stay in {folder}.
"""

USE_CLUSTER = """\
Fluxnetes schedules in the cluster at {server}.
Pods that name the scheduler fluxnetes wait in its queue. {opting_in}
Ctrl-C stops it; what runs there runs on, what waits there waits. The queue stays in {folder}.
"""

WITH_WEBHOOK = """\
So do all Jobs and Pods of a namespace
with the label fluxnetes.io/managed=true: the API server asks us about them at {url}.
While we are away these labels are without effect."""

WITHOUT_WEBHOOK = """\
Without a webhook
the label fluxnetes.io/managed is without effect here: nothing is queued that does not name us. With
--webhook-url URL it works, if the API server of that cluster can reach this machine at URL."""


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def tell_of_own(kubeconfig: Path, folder: Path) -> None:
    """How to use the control plane that was started."""
    sys.stdout.write(USE_OWN.format(kubeconfig=kubeconfig, folder=folder))
    sys.stdout.flush()


def tell_of_cluster(server: str, folder: Path, url: str | None) -> None:
    """What works in a cluster that was there, and what does not."""
    opting_in = WITH_WEBHOOK.format(url=url) if url else WITHOUT_WEBHOOK
    sys.stdout.write(USE_CLUSTER.format(server=server, folder=folder, opting_in=opting_in))
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
