"""The options of `fluxnetes up`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

HELP = """\
Start a Kubernetes control plane on this machine, with nodes that are played by KWOK, and our
scheduler in it.

etcd, kube-apiserver, kube-controller-manager and kube-scheduler are real. They are taken from
KUBEBUILDER_ASSETS or PATH, else built once from their Go modules (about six minutes on two cores).
The queue is kept in a Postgres that comes with the package. Ctrl-C stops everything; the data stay,
and the next start takes seconds.

It touches no other cluster and no kubeconfig but its own, unless --kubeconfig names one: then only
our scheduler is started, for that cluster.

Examples:

\b
  fluxnetes up
  fluxnetes up --demo
  fluxnetes up --nodes 100 --folder /tmp/cluster
  fluxnetes up --kubeconfig ~/.kube/config --context lab
"""

NODES = 8

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@dataclass(frozen=True, slots=True)
class UpOptions:
    """What the command line said."""

    nodes: int
    folder: Path | None
    config: Path | None
    demo: bool
    once: bool
    kubeconfig: Path | None
    context: str | None
    webhook_url: str | None


@app.command(help=HELP)
def up(
    nodes: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help=f"How many nodes to play.  [default: {NODES}]"),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Where everything is kept.  [default: up, where the store's data are]",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", exists=True, dir_okay=False, help="Queues, limits and shares, as YAML."
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Submit a small workload, and show the queue meanwhile.")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="With --demo: stop everything when it is done.")
    ] = False,
    kubeconfig: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Start nothing but our scheduler, for the cluster of this file.",
        ),
    ] = None,
    context: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --kubeconfig: which context of it.")
    ] = None,
    webhook_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="With --kubeconfig: where that cluster's API server reaches this machine, such "
            "as https://10.0.0.7:9443; then opting in by label works too.",
        ),
    ] = None,
) -> None:
    needs_kubeconfig = {"--context": context, "--webhook-url": webhook_url}
    for name, value in needs_kubeconfig.items():
        if value is not None and kubeconfig is None:
            raise typer.BadParameter(f"{name} is about the cluster of --kubeconfig; name one")
    if kubeconfig is not None and (demo or nodes is not None):
        what = "--demo" if demo else "--nodes"
        raise typer.BadParameter(
            f"{what} needs nodes that we play, and those of --kubeconfig are somebody's; "
            "leave one of the two out"
        )
    if once and not demo:
        raise typer.BadParameter("--once says when to stop after --demo; add --demo")
    if demo and nodes is not None and nodes < 2:
        raise typer.BadParameter(f"--demo shows gangs, which take 2 nodes or more, not {nodes}")
    from fluxnetes.cli.up.run import run

    count = NODES if nodes is None else nodes
    raise typer.Exit(
        run(UpOptions(count, folder, config, demo, once, kubeconfig, context, webhook_url))
    )
