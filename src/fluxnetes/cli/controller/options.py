"""The options of `fluxnetes controller`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fluxnetes.rpc.listener import ListenerOptions

HELP = """\
Schedule the pods of a Kubernetes cluster that name our scheduler, in groups, from a durable queue.

The cluster is that of --kubeconfig, else of KUBECONFIG, else the one that this pod runs in. The
queue is kept in the Postgres that --dsn (or FLUXNETES_DSN) names, else in a server of our own.
Several may run for one cluster; one of them leads. Pods that name another scheduler are queued only
where `fluxnetes webhook` runs too and they opted in.

Examples:

\b
  fluxnetes controller
  fluxnetes controller --kubeconfig ~/.kube/config --context lab --config queues.yaml
"""

SHORTEST_LEASE = 3.0
"""Seconds. A busy server may need one of them to answer."""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@dataclass(frozen=True, slots=True)
class ControllerOptions:
    """What the command line said."""

    kubeconfig: Path | None
    context: str | None
    dsn: str | None
    store_folder: Path | None
    config: Path | None
    namespace: str
    identity: str | None
    scheduler_names: tuple[str, ...]
    control_plane: bool
    patience: tuple[str, ...]
    lease: float
    door: ListenerOptions | None
    """Where callers over gRPC are answered; None: nowhere."""
    renew_within: float
    log_level: str


@app.command(help=HELP)
def controller(
    kubeconfig: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The way to the cluster.")
    ] = None,
    context: Annotated[
        str | None, typer.Option(metavar="NAME", help="The kubeconfig's context to use.")
    ] = None,
    dsn: Annotated[
        str | None,
        typer.Option(
            metavar="DSN", envvar="FLUXNETES_DSN", help="The Postgres to keep the queue in."
        ),
    ] = None,
    store_folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Where a Postgres of our own is kept."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", dir_okay=False, help="Queues, limits and shares, as YAML."),
    ] = None,
    namespace: Annotated[
        str, typer.Option(metavar="NAME", help="Our own namespace; nothing in it is queued.")
    ] = "fluxnetes-system",
    identity: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="POD_NAME",
            help="Unlike that of any other controller that lives.  [default: host and process]",
        ),
    ] = None,
    scheduler_name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A scheduler name that is ours; may be given often."),
    ] = None,
    control_plane: Annotated[
        bool, typer.Option("--control-plane", help="Nodes of the control plane may be used too.")
    ] = False,
    patience: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SECONDS",
            help="How long to wait: keep-seat (60), stall (60), again (60), homeless (10), "
            "grace (30), collision (5); may be given often.",
        ),
    ] = None,
    lease: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=SHORTEST_LEASE,
            help="How long others wait for a sign of life before one of them leads.",
        ),
    ] = 15.0,
    serve: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Answer callers over gRPC there, on this cluster's resources; see `fluxnetes "
            "serve --help` for what they speak. Needs --serve-tokens.",
        ),
    ] = None,
    serve_tokens: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Callers must show a token of this file: a name and a token a line.",
        ),
    ] = None,
    serve_dialect: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An old dialect to speak; may be given often."),
    ] = None,
    serve_tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A certificate to show to callers.")
    ] = None,
    serve_tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key.")] = None,
    serve_client_ca: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Callers must show a certificate signed by this."),
    ] = None,
    renew_within: Annotated[
        float,
        typer.Option(
            min=1,
            metavar="SECONDS",
            help="What callers were given and neither renew nor use is taken back after so long.",
        ),
    ] = 60.0,
    log_level: Annotated[
        str, typer.Option(metavar="LEVEL", help="debug, info, warning, error.")
    ] = "info",
) -> None:
    from fluxnetes.cli.controller.run import run

    names = tuple(scheduler_name or ())
    door = None
    if serve is None and any(
        (serve_tokens, serve_dialect, serve_tls_cert, serve_tls_key, serve_client_ca)
    ):
        raise typer.BadParameter("--serve-... is about callers over gRPC: add --serve HOST:PORT")
    if serve is not None:
        from fluxnetes.rpc.listener import ListenerOptions, read_address

        try:
            host, port = read_address(serve)
        except ValueError as error:
            raise typer.BadParameter(f"--serve: {error}") from None
        if serve_tokens is None:
            raise typer.BadParameter("--serve: callers of a cluster need --serve-tokens FILE")
        door = ListenerOptions(
            host,
            port,
            tuple(serve_dialect or ()),
            serve_tls_cert,
            serve_tls_key,
            serve_client_ca,
            token_file=serve_tokens,
        )
    raise typer.Exit(
        run(
            ControllerOptions(
                kubeconfig,
                context,
                dsn,
                store_folder,
                config,
                namespace,
                identity,
                names,
                control_plane,
                tuple(patience or ()),
                lease,
                door,
                renew_within,
                log_level,
            )
        )
    )
