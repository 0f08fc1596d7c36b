"""The options of `fluxnetes webhook`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

HELP = """\
Answer the API server's questions about Jobs and Pods that are to be made.

Those that opted in (by the label fluxnetes.io/managed=true, on them or on their namespace) are
marked as ours: a Job is suspended, a Pod gets a gate, both name our scheduler. Everything else is
never asked about. The webhook makes its own certificates, renews them, and registers itself.

Examples:

\b
  fluxnetes webhook                                  # this machine, at 127.0.0.1:9443
  fluxnetes webhook --service fluxnetes-webhook      # a pod of the cluster, behind a service
"""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@dataclass(frozen=True, slots=True)
class WebhookCommandOptions:
    """What the command line said."""

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
    everything: bool
    drain: float | None
    verbose: bool


@app.command(help=HELP)
def webhook(
    kubeconfig: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="How to reach the API server.  [default: KUBECONFIG, the pod's own account, "
            "~/.kube/config]",
        ),
    ] = None,
    context: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which context of it.")
    ] = None,
    service: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The API server reaches us by this service of our namespace; certificates are "
            "kept in a Secret there.",
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The API server reaches us at this address.  [default: https://ADDRESS:PORT]",
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="IP", help="Where to listen.  [default: 127.0.0.1; with --service: everywhere]"
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="0: any.")] = 9443,
    socket: Annotated[
        int | None,
        typer.Option(
            min=3,
            metavar="FD",
            help="For a program that starts us: listen on this open socket, and stop when standard "
            "input ends.",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Keep certificates here.  [default: webhook, where the store's data are; with "
            "--service: a Secret]",
        ),
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Our own, which is left alone.  [default: fluxnetes-system; with --service: the "
            "pod's]",
        ),
    ] = None,
    scheduler_name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A name of our scheduler; may be given often, the first is written.  "
            "[default: fluxnetes, fluence, fluxqueue, FluxionScheduler]",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Take every namespace, not only what opted in.")
    ] = False,
    drain: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Go on for so long after we were told to stop.  [default: 0; with --service: 5]",
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Tell of every decision.")] = False,
) -> None:
    from fluxnetes.cli.webhook.run import run

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
        everything,
        drain,
        verbose,
    )
    raise typer.Exit(run(options))
