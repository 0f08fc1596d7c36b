"""The options of `fluxnetes webhook`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fluxnetes.cli.deprecation import note_deprecated
from fluxnetes.cli.options import LONGEST_TIME, KubeContext, Port, new_app

HELP = """\
Run the mutating admission webhook for Jobs and Pods.

Jobs and Pods that opted in (by the label fluxnetes.io/managed=true, on them or on their namespace)
are changed when they are created so that Fluxnetes queues them: a Job is suspended, a Pod gets a
scheduling gate, and both name the scheduler fluxnetes. The API server sends no others. The webhook
issues and renews its own certificates, and registers itself.

Examples:

\b
  fluxnetes webhook                                  # at 127.0.0.1:9443
  fluxnetes webhook --service fluxnetes-webhook      # in a pod, behind a Service
"""

app = new_app()


@dataclass(frozen=True, slots=True)
class WebhookCommandOptions:
    """The parsed command line."""

    kubeconfig: Path | None
    context: str | None
    service: str | None
    url: str | None
    address: str | None
    port: int
    socket: int | None
    folder: Path | None
    namespace: str | None
    schedulers: tuple[str, ...]
    all_namespaces: bool
    drain: float | None
    verbose: bool


@app.command(help=HELP)
def webhook(
    kubeconfig: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Kubeconfig of the cluster.  [default: KUBECONFIG, the pod's service account, "
            "~/.kube/config]",
        ),
    ] = None,
    context: KubeContext = None,
    service: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Service, in the webhook's namespace, by which the API server reaches it; "
            "certificates are stored in a Secret there.",
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="URL by which the API server reaches the webhook.  "
            "[default: https://ADDRESS:PORT]",
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="IP",
            help="Address to listen at.  [default: 127.0.0.1; with --service: all interfaces]",
        ),
    ] = None,
    port: Port = 9443,
    socket: Annotated[
        int | None,
        typer.Option(
            min=3,
            max=65535,
            metavar="FD",
            help="Listen on this inherited socket, and stop when standard input ends; for programs "
            "that start the webhook.",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Folder for certificates.  [default: webhook, in the folder of the store; with "
            "--service: a Secret]",
        ),
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The webhook's own namespace, which is exempt.  [default: fluxnetes-system; with "
            "--service: the pod's]",
        ),
    ] = None,
    scheduler_name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A schedulerName of Fluxnetes; repeatable; the first is set on Jobs and Pods.  "
            "[default: fluxnetes, fluence, fluxqueue, FluxionScheduler]",
        ),
    ] = None,
    all_namespaces: Annotated[
        bool,
        typer.Option(
            "--all-namespaces", help="Queue the Jobs and Pods of all namespaces, without opting in."
        ),
    ] = False,
    drain: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=LONGEST_TIME,
            metavar="SECONDS",
            help="Seconds to keep serving after SIGTERM.  [default: 0; with --service: 5]",
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log every decision.")] = False,
    everything: Annotated[bool, typer.Option("--all", hidden=True)] = False,
) -> None:
    from fluxnetes.cli.webhook.run import run

    if everything:
        note_deprecated("webhook", "--all", "--all-namespaces")

    options = WebhookCommandOptions(
        kubeconfig,
        context,
        service,
        url,
        address,
        port,
        socket,
        folder,
        namespace,
        tuple(scheduler_name or ()),
        all_namespaces or everything,
        drain,
        verbose,
    )
    raise typer.Exit(run(options))
