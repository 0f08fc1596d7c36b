"""The options of `fluxnetes serve`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fluxnetes.rpc.listener import ListenerOptions

HELP = """\
Serve the matcher over gRPC: to clients of Fluence, Fluxnetes and the Fluxion service as they are,
and to those of fluxnetes.v1, an API of our own.

The graph comes from --graph, or from a client: with Init, or Load of fluxnetes.v1. To serve the
resources of a Kubernetes cluster, see `fluxnetes controller --serve`.

Every option can be set by the environment, too: --port by FLUXNETES_SERVE_PORT, and so on.

Examples:

\b
  fluxnetes serve                                        # on this machine, a graph comes by Init
  fluxnetes serve --graph cluster.json --dialect podspec --dialect fluxcli
  fluxnetes serve --host 0.0.0.0 --token-file tokens     # for others, with TLS
"""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What the command line said."""

    door: ListenerOptions
    graph: Path | None
    format: str | None
    policy: str | None
    """None: as the configuration says or, without one, the usual."""
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
        str, typer.Option(metavar="ADDRESS", help="Where to listen; 0.0.0.0 or [::]: everywhere.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="0: any.")] = 4242,
    dialect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="An old dialect to speak; may be given often: jobspec or podspec (both are "
            "fluxion.FluxionService), fluxcli, external; none: only our own.  "
            "[default: jobspec, fluxcli, external]",
        ),
    ] = None,
    graph: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="What there is."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What FILE is: jgf, grug, rv1 or hwloc.  [default: as it looks]",
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            help="How to choose among what fits.  [default: lonode, or what --config says]",
        ),
    ] = None,
    queue: Annotated[
        bool,
        typer.Option(
            "--queue",
            help="Have a queue on the graph: jobs are submitted, wait, and are promised a start.",
        ),
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="With --queue: queues, limits and shares, as YAML.",
        ),
    ] = None,
    renew_within: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="With --queue: what nobody renews for so long is taken back; 0: never.",
        ),
    ] = 0.0,
    store: Annotated[
        bool,
        typer.Option(
            "--store",
            help="Keep allocations in Postgres; they and the graph are there after a restart.",
        ),
    ] = False,
    dsn: Annotated[
        str | None,
        typer.Option(
            metavar="DSN",
            envvar=["FLUXNETES_SERVE_DSN", "FLUXNETES_DSN"],
            help="Which Postgres, with --store.  [default: one of our own]",
        ),
    ] = None,
    store_folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Where our own keeps its data."),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A certificate to show.  [default: one of our own, unless on loopback]",
        ),
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key.")] = None,
    client_ca: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Clients must show a certificate signed by this."),
    ] = None,
    tls_name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A name or address that our own certificate is for; often."
        ),
    ] = None,
    plaintext: Annotated[
        bool, typer.Option("--plaintext", help="Without TLS, even where others can listen.")
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Callers must show a token of this file."),
    ] = None,
    max_message: Annotated[
        int, typer.Option(min=1, max=1024, metavar="MIB", help="The largest message.")
    ] = 1024,
    log_level: Annotated[
        str, typer.Option(metavar="LEVEL", help="debug, info, warning or error.")
    ] = "info",
) -> None:
    from fluxnetes.cli.serve.run import run
    from fluxnetes.rpc.listener import ListenerOptions

    if not queue and (config is not None or renew_within):
        raise typer.BadParameter("--config and --renew-within are about a queue: add --queue")
    door = ListenerOptions(
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
        door,
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
