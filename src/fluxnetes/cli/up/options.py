"""The options of `fluxnetes up`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

HELP = """\
Start a Kubernetes control plane on this machine, with nodes that are played by KWOK.

etcd, kube-apiserver, kube-controller-manager and kube-scheduler are real. They are taken from
KUBEBUILDER_ASSETS or PATH, else built once from their Go modules (about six minutes on two cores).
Ctrl-C stops everything; the data stay, and the next start takes seconds.

It touches no other cluster, and no kubeconfig but its own.

Examples:

\b
  fluxnetes up
  fluxnetes up --nodes 100 --folder /tmp/cluster
"""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line said."""

    nodes: int
    folder: Path | None


@app.command(help=HELP)
def up(
    nodes: Annotated[int, typer.Option(min=0, metavar="N", help="How many nodes to play.")] = 8,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Where everything is kept.  [default: plane, where the store's data are]",
        ),
    ] = None,
) -> None:
    from fluxnetes.cli.up.run import run

    raise typer.Exit(run(Options(nodes, folder)))
