"""The options of `fluxnetes controller`, and the checks that need nothing but them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fluxnetes.cli.deprecation import note_deprecated
from fluxnetes.cli.options import LONGEST_TIME, KubeContext, LogLevel, StoreFolder, new_app

if TYPE_CHECKING:
    from fluxnetes.rpc.listener import ListenerOptions

HELP = """\
Schedule the pods of a Kubernetes cluster that name the scheduler fluxnetes, in groups, from a
durable queue.

The cluster is that of --kubeconfig, else of KUBECONFIG, else the one that this pod runs in. The
queue is stored in the Postgres that --dsn (or FLUXNETES_DSN) names, else in an embedded server.
Several replicas may run for one cluster; one of them leads. Pods that name another scheduler are
queued only if they opted in and `fluxnetes webhook` runs too.

Examples:

\b
  fluxnetes controller
  fluxnetes controller --kubeconfig ~/.kube/config --context lab --config queues.yaml
"""

SHORTEST_LEASE = 3.0
"""Minimum seconds of a leader's lease. A busy API server may need a second for each renewal."""

app = new_app()


@dataclass(frozen=True, slots=True)
class ControllerOptions:
    """The parsed command line."""

    kubeconfig: Path | None
    context: str | None
    dsn: str | None
    store_folder: Path | None
    config: Path | None
    namespace: str
    identity: str | None
    scheduler_names: tuple[str, ...]
    control_plane: bool
    timeouts: tuple[str, ...]
    """As given: NAME=SECONDS."""
    lease: float
    listener: ListenerOptions | None
    """Where to serve gRPC callers; None: not at all."""
    renew_within: float
    log_level: str


@app.command(help=HELP)
def controller(
    kubeconfig: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Kubeconfig of the cluster.")
    ] = None,
    context: KubeContext = None,
    dsn: Annotated[
        str | None,
        typer.Option(
            metavar="DSN",
            envvar="FLUXNETES_DSN",
            help="The Postgres that stores the queue.  [default: an embedded server]",
        ),
    ] = None,
    store_folder: StoreFolder = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", dir_okay=False, help="Queues, limits and shares, as YAML."),
    ] = None,
    namespace: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Namespace of the controller's Lease; nothing in it is queued."
        ),
    ] = "fluxnetes-system",
    identity: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="POD_NAME",
            help="Unique name of this replica.  [default: host name and process id]",
        ),
    ] = None,
    scheduler_name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A schedulerName to schedule pods of; repeatable.  "
            "[default: fluxnetes, fluence, fluxqueue, FluxionScheduler]",
        ),
    ] = None,
    include_control_plane: Annotated[
        bool, typer.Option("--include-control-plane", help="Use nodes of the control plane too.")
    ] = False,
    timeout: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SECONDS",
            help="Set a timeout: replacement-pod (60), stalled-group (60), "
            "dependent-pod (600), retry-delay (60), "
            "orphan-pod (10), forced-delete (30), incomplete (60), node-conflict (5); repeatable.",
        ),
    ] = None,
    leader_elect_lease_duration: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=SHORTEST_LEASE,
            max=LONGEST_TIME,
            help="How long replicas wait for a renewal of the leader's lease before one of them "
            "takes over.",
        ),
    ] = 15.0,
    serve: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve gRPC callers at this address, on this cluster's resources; see `fluxnetes "
            "serve --help` for the dialects. Needs --serve-tokens.",
        ),
    ] = None,
    serve_tokens: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Tokens that callers must show; each line of the file is a name and a token.",
        ),
    ] = None,
    serve_dialect: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An older API to serve as well; repeatable."),
    ] = None,
    serve_tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TLS certificate of the gRPC server.")
    ] = None,
    serve_tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Key of --serve-tls-cert.")
    ] = None,
    serve_client_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="CA that must have signed the certificate of each caller."
        ),
    ] = None,
    renew_within: Annotated[
        float,
        typer.Option(
            min=1,
            max=LONGEST_TIME,
            metavar="SECONDS",
            help="Release an allocation that its gRPC caller neither renews nor uses for so long.",
        ),
    ] = 60.0,
    log_level: LogLevel = "info",
    patience: Annotated[list[str] | None, typer.Option(hidden=True)] = None,
    lease: Annotated[
        float | None, typer.Option(min=SHORTEST_LEASE, max=LONGEST_TIME, hidden=True)
    ] = None,
    control_plane: Annotated[bool, typer.Option("--control-plane", hidden=True)] = False,
) -> None:
    from fluxnetes.cli.controller.run import run

    if patience:
        note_deprecated("controller", "--patience", "--timeout")
    if lease is not None:
        note_deprecated("controller", "--lease", "--leader-elect-lease-duration")
    if control_plane:
        note_deprecated("controller", "--control-plane", "--include-control-plane")
    listener = None
    if serve is None and any(
        (serve_tokens, serve_dialect, serve_tls_cert, serve_tls_key, serve_client_ca)
    ):
        raise typer.BadParameter("--serve-... options need a server: add --serve HOST:PORT")
    if serve is not None:
        from fluxnetes.rpc.listener import ListenerOptions, read_address

        try:
            host, port = read_address(serve)
        except ValueError as error:
            raise typer.BadParameter(f"--serve: {error}") from None
        if serve_tokens is None:
            raise typer.BadParameter("--serve: callers must be known: add --serve-tokens FILE")
        listener = ListenerOptions(
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
                tuple(scheduler_name or ()),
                include_control_plane or control_plane,
                (*(patience or ()), *(timeout or ())),
                leader_elect_lease_duration if lease is None else lease,
                listener,
                renew_within,
                log_level,
            )
        )
    )
