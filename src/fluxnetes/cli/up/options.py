"""The options of `fluxnetes up`, and the checks that need nothing but them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fluxnetes.cli.options import new_app
from fluxnetes.plane.versions import DEFAULT, PINNED

HELP = """\
Start a Kubernetes control plane on this machine, with nodes simulated by KWOK, and Fluxnetes as a
scheduler in it.

etcd, kube-apiserver, kube-controller-manager and kube-scheduler are real. They are taken from
KUBEBUILDER_ASSETS or PATH, else built once from their Go modules (about six minutes on two cores).
The queue is stored in an embedded Postgres. Ctrl-C stops everything; the data stay, and the next
start takes seconds.

No other cluster and no other kubeconfig is changed, unless --kubeconfig names one: then only the
controller is started, for that cluster.

Examples:

\b
  fluxnetes up
  fluxnetes up --demo
  fluxnetes up --nodes 100 --folder /tmp/cluster
  fluxnetes up --kubernetes 1.37 --folder /tmp/newer
  fluxnetes up --kubeconfig ~/.kube/config --context lab
"""

NODES = 8
"""How many nodes are simulated by default."""

app = new_app()


@dataclass(frozen=True, slots=True)
class UpOptions:
    """The parsed command line."""

    nodes: int
    kubernetes: str | None
    """The minor version; None: that of the folder or, in a new one, the default."""
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
        typer.Option(
            min=0, max=10_000, metavar="N", help=f"Number of simulated nodes.  [default: {NODES}]"
        ),
    ] = None,
    kubernetes: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION",
            help=f"Version of Kubernetes: {' or '.join(PINNED)}. The data of a folder can go to a "
            f"newer version, and not back.  [default: that of the folder, else {DEFAULT}]",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Folder for all data.  [default: up, in the folder of the store]",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", exists=True, dir_okay=False, help="Queues, limits and shares, in YAML."
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Submit a small workload, and show the queue live.")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="With --demo: stop everything when the demo is done.")
    ] = False,
    kubeconfig: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Start only the controller, for the cluster of this kubeconfig.",
        ),
    ] = None,
    context: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --kubeconfig: the context to use.")
    ] = None,
    webhook_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="With --kubeconfig: run the webhook too, at this URL by which the API server "
            "reaches this machine, such as https://10.0.0.7:9443.",
        ),
    ] = None,
) -> None:
    needs_kubeconfig = {"--context": context, "--webhook-url": webhook_url}
    for name, value in needs_kubeconfig.items():
        if value is not None and kubeconfig is None:
            raise typer.BadParameter(f"{name} needs an existing cluster: add --kubeconfig FILE")
    local = {"--demo": demo, "--nodes": nodes is not None, "--kubernetes": kubernetes is not None}
    for name, is_given in local.items():
        if is_given and kubeconfig is not None:
            raise typer.BadParameter(
                f"{name} is for a local control plane, and --kubeconfig names an existing cluster; "
                "leave one of the two out"
            )
    if kubernetes is not None and kubernetes not in PINNED:
        raise typer.BadParameter(
            f"expected one of {', '.join(PINNED)}, found {kubernetes}", param_hint="--kubernetes"
        )
    if once and not demo:
        raise typer.BadParameter("--once stops after the demo: add --demo")
    if demo and nodes is not None and nodes < 2:
        raise typer.BadParameter(f"--demo runs gangs, which need at least 2 nodes, not {nodes}")
    if config is not None:
        _check_config(config)
    from fluxnetes.cli.up.run import run

    count = NODES if nodes is None else nodes
    options = UpOptions(
        count, kubernetes, folder, config, demo, once, kubeconfig, context, webhook_url
    )
    raise typer.Exit(run(options))


def _check_config(file: Path) -> None:
    """Refuse a file that the controller would refuse, before anything starts."""
    from fluxnetes.cli.controller.cluster_config import read_topology
    from fluxnetes.cli.controller.config import read_cluster_config

    try:
        read_cluster_config(file)
        read_topology(file)
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error), param_hint="--config") from None
