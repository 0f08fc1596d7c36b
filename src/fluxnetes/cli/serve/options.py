"""The options of `fluxnetes serve`, and the checks that need nothing but them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fluxnetes.cli.options import LONGEST_TIME, LogLevel, Port, StoreFolder, new_app

if TYPE_CHECKING:
    from fluxnetes.rpc.listener import ListenerOptions

HELP = """\
Serve the matcher over gRPC: to unchanged clients of Fluence, Fluxnetes and the Fluxion service, and
to clients of the API fluxnetes.v1.

The graph comes from --graph, or from a client: with Init, or with Load of fluxnetes.v1. To serve
the resources of a Kubernetes cluster, see `fluxnetes controller --serve`.

Every option can be set in the environment too: --port by FLUXNETES_SERVE_PORT, and so on.

Examples:

\b
  fluxnetes serve                                        # local clients only; one sends a graph
  fluxnetes serve --graph cluster.json --dialect podspec --dialect fluxcli
  fluxnetes serve --host 0.0.0.0 --token-file tokens     # remote clients, with TLS
"""

app = new_app()


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The parsed command line."""

    listener: ListenerOptions
    graph: Path | None
    format: str | None
    policy: str | None
    """None: that of the configuration or, without one, the default."""
    queue: bool
    config: Path | None
    renew_within: float
    store: bool
    dsn: str | None
    store_folder: Path | None
    log_level: str


@app.command(help=HELP)
def serve(
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Address to listen at; 0.0.0.0 or [::]: all interfaces."
        ),
    ] = "127.0.0.1",
    port: Port = 4242,
    dialect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="An older API to serve besides fluxnetes.v1; repeatable: jobspec or podspec (both "
            "are fluxion.FluxionService), fluxcli, external; none: only fluxnetes.v1.  "
            "[default: jobspec, fluxcli, external]",
        ),
    ] = None,
    graph: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="The resource graph."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Format of --graph: jgf, grug, rv1 or hwloc.  [default: detected]",
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            help="Match policy: which of the resources that fit to prefer.  "
            "[default: lonode, or that of --config]",
        ),
    ] = None,
    queue: Annotated[
        bool,
        typer.Option(
            "--queue",
            help="Run a queue on the graph: submitted jobs wait, with a planned start.",
        ),
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="With --queue: queues, limits and shares, in YAML.",
        ),
    ] = None,
    renew_within: Annotated[
        float,
        typer.Option(
            min=0,
            max=LONGEST_TIME,
            metavar="SECONDS",
            help="Release an allocation that its caller does not renew for so long; 0: never.",
        ),
    ] = 0.0,
    store: Annotated[
        bool,
        typer.Option(
            "--store",
            help="Store the graph and all allocations in Postgres, and restore them at the start.",
        ),
    ] = False,
    dsn: Annotated[
        str | None,
        typer.Option(
            metavar="DSN",
            envvar=["FLUXNETES_SERVE_DSN", "FLUXNETES_DSN"],
            help="The Postgres to use; implies --store.  [default: an embedded server]",
        ),
    ] = None,
    store_folder: StoreFolder = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TLS certificate.  [default: a generated one, unless on loopback]",
        ),
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Key of --tls-cert.")] = None,
    client_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="CA that must have signed the certificate of each client."
        ),
    ] = None,
    tls_name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Name or address in the generated certificate; repeatable."
        ),
    ] = None,
    plaintext: Annotated[
        bool, typer.Option("--plaintext", help="Serve without TLS, even to other machines.")
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Tokens that callers must show; each line is a name and a token, then 'admin' if "
            "the caller may see and change the jobs of all others.",
        ),
    ] = None,
    max_message: Annotated[
        int,
        typer.Option(
            min=1, max=1024, metavar="MIB", help="Maximum size of a message with a graph."
        ),
    ] = 1024,
    log_level: LogLevel = "info",
) -> None:
    from fluxnetes.cli.serve.run import run
    from fluxnetes.rpc.listener import ListenerOptions

    if not queue and config is not None:
        raise typer.BadParameter("--config configures a queue: add --queue")
    listener = ListenerOptions(
        host,
        port,
        tuple(dialect or ()),
        tls_cert,
        tls_key,
        client_ca,
        tuple(tls_name or ()),
        plaintext,
        token_file,
        max_message,
    )
    options = ServeOptions(
        listener,
        graph,
        format,
        policy,
        queue,
        config,
        renew_within,
        store,
        dsn,
        store_folder,
        log_level,
    )
    raise typer.Exit(run(options))
