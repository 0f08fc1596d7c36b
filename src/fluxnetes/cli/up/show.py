"""The texts of `fluxnetes up` on the terminal, and the progress of a build."""

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

LOCAL_USAGE = """\
Kubernetes is up, with Fluxnetes as a scheduler in it. In another terminal:

  export KUBECONFIG={kubeconfig}
  kubectl get nodes
  kubectl get fluxjobs --all-namespaces

Pods that name the scheduler fluxnetes wait in its queue; so do all Jobs and Pods of a namespace
with the label fluxnetes.io/managed=true. All others are placed by kube-scheduler.
Ctrl-C stops everything; the data stay in {folder}.
"""

CLUSTER_USAGE = """\
Fluxnetes is a scheduler of the cluster at {server}.
Pods that name the scheduler fluxnetes wait in its queue. {opting_in}
Ctrl-C stops it: running pods keep running, waiting ones keep waiting. The queue stays in {folder}.
"""

WITH_WEBHOOK = """\
So do all Jobs and Pods of a namespace
with the label fluxnetes.io/managed=true: the API server calls the webhook at {url}.
While it is stopped, the label has no effect."""

WITHOUT_WEBHOOK = """\
Without a webhook
the label fluxnetes.io/managed has no effect: only pods that name the scheduler are queued. With
--webhook-url URL it works, if the API server of the cluster can reach this machine at URL."""


def say(line: str) -> None:
    """A line of progress, on standard error."""
    sys.stderr.write(f"{line}\n")


def print_local_usage(kubeconfig: Path, folder: Path) -> None:
    """How to use the control plane that was started."""
    sys.stdout.write(LOCAL_USAGE.format(kubeconfig=kubeconfig, folder=folder))
    sys.stdout.flush()


def print_cluster_usage(server: str, folder: Path, url: str | None) -> None:
    """Which pods of the existing cluster are scheduled."""
    opting_in = WITH_WEBHOOK.format(url=url) if url else WITHOUT_WEBHOOK
    sys.stdout.write(CLUSTER_USAGE.format(server=server, folder=folder, opting_in=opting_in))
    sys.stdout.flush()


@contextmanager
def building() -> Iterator[Progress]:
    """Show the progress of a build: a spinner on a terminal, else a line for each program."""
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
                "The programs of Kubernetes are built now; this takes minutes, once."
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
