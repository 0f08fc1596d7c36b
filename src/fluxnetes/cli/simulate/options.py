"""The options of `fluxnetes simulate`, and the checks that need nothing but them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fluxnetes.cli.options import new_app

HELP = """\
Run a workload on virtual time, with the same scheduler that runs a cluster.

The workload is a trace in the Standard Workload Format (plain or .gz), or a generated one. The
cluster is given by --nodes and --cores, by a graph in JGF, or by the header of the trace.

With --from-store, forecast the queue of a running system instead; the store knows its cluster.

Examples:

\b
  fluxnetes simulate TRACE.swf.gz --nodes 256
  fluxnetes simulate TRACE.swf --policy fcfs --policy easy --html report.html
  fluxnetes simulate --generate lublin --jobs 10000 --seed 7 --nodes 256
  fluxnetes simulate --from-store --policy conservative --add-nodes 100
"""

app = new_app()


@dataclass(frozen=True, slots=True)
class SimulateOptions:
    """The parsed and checked command line."""

    trace: Path | None
    generate: str | None
    jobs: int
    seed: int
    nodes: int | None
    cores: int
    graph: Path | None
    policies: tuple[str, ...]
    """Empty, with --from-store: as the queues are configured."""
    overestimate: float
    json: Path | None
    html: Path | None
    from_store: bool = False
    dsn: str | None = None
    now: int | None = None
    add_nodes: int = 0
    add_job: tuple[int, int] | None = None


@app.command(help=HELP)
def simulate(
    trace: Annotated[
        Path | None, typer.Argument(metavar="TRACE", help="Trace in SWF, plain or gzip.")
    ] = None,
    generate: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Generate the workload: lublin.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of generated jobs.  [default: 10000]"),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Random seed of the generated jobs.  [default: 0]"),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Nodes of the cluster.  [default: from the trace]"),
    ] = None,
    cores: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Cores of each node.  [default: 1]")
    ] = None,
    graph: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The cluster, as a graph in JGF.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Queue policy: fcfs, easy, conservative, hybrid or hybrid:K (K planned jobs); "
            "repeatable, to compare.  [default: easy; with --from-store, as configured]",
        ),
    ] = None,
    overestimate: Annotated[
        float,
        typer.Option(metavar="F", help="Walltime of a job that requested none, in run times."),
    ] = 1.0,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write results as JSON; - is standard output."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report with charts, as HTML.")
    ] = None,
    from_store: Annotated[
        bool, typer.Option("--from-store", help="Forecast the queue of a running system.")
    ] = False,
    dsn: Annotated[
        str | None,
        typer.Option(
            metavar="DSN", help="The Postgres of that system.  [default: the embedded server]"
        ),
    ] = None,
    now: Annotated[
        int | None,
        typer.Option(
            metavar="SECONDS", help="Start of the forecast, in Unix time.  [default: now]"
        ),
    ] = None,
    add_nodes: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Forecast with N more nodes, too.")
    ] = None,
    add_job: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE:SECONDS",
            help="Forecast with one more job, too: its processors and walltime.",
        ),
    ] = None,
) -> None:
    what_if = {"--dsn": dsn, "--now": now, "--add-nodes": add_nodes, "--add-job": add_job}
    if from_store:
        _check_what_if(trace, generate, html)
        _check_cores(nodes, cores)
    else:
        _check_workload(trace, generate, jobs, seed)
        _refuse_without_store(what_if)
    _check_cluster(graph, nodes, cores)
    options = SimulateOptions(
        trace=trace,
        generate=generate,
        jobs=10_000 if jobs is None else jobs,
        seed=seed or 0,
        nodes=nodes,
        cores=cores or 1,
        graph=graph,
        policies=tuple(dict.fromkeys(policy or ([] if from_store else ["easy"]))),
        overestimate=overestimate,
        json=json,
        html=html,
        from_store=from_store,
        dsn=dsn,
        now=now,
        add_nodes=add_nodes or 0,
        add_job=None if add_job is None else _size_and_walltime(add_job),
    )
    from fluxnetes.cli.simulate.run import run

    raise typer.Exit(run(options))


def _check_workload(
    trace: Path | None, generate: str | None, jobs: int | None, seed: int | None
) -> None:
    if trace is None and generate is None:
        raise typer.BadParameter(
            "no workload: give a trace in SWF, or generate one with --generate lublin",
            param_hint="TRACE",
        )
    if trace is not None and generate is not None:
        raise typer.BadParameter(
            f"two workloads: the trace {trace} and a generated one; leave one out",
            param_hint="--generate",
        )
    if generate not in (None, "lublin"):
        raise typer.BadParameter(
            f"unknown model {generate!r}; expected lublin", param_hint="--generate"
        )
    if trace is not None and (jobs is not None or seed is not None):
        raise typer.BadParameter(
            "is for generated workloads; a trace has its own jobs",
            param_hint="--jobs" if jobs is not None else "--seed",
        )


def _check_what_if(trace: Path | None, generate: str | None, html: Path | None) -> None:
    if trace is not None or generate is not None:
        raise typer.BadParameter(
            "two workloads: the queue of the store and another one; leave one out",
            param_hint="--from-store",
        )
    if html is not None:
        raise typer.BadParameter("is for workloads; use --json for a forecast", param_hint="--html")


def _check_cores(nodes: int | None, cores: int | None) -> None:
    if cores is not None and nodes is None:
        raise typer.BadParameter(
            "is for the nodes of --nodes; the store knows the cores of its own",
            param_hint="--cores",
        )


def _refuse_without_store(given: Mapping[str, object]) -> None:
    for option, value in given.items():
        if value is not None:
            raise typer.BadParameter("is for forecasts: add --from-store", param_hint=option)


def _size_and_walltime(text: str) -> tuple[int, int]:
    size, _, walltime = text.partition(":")
    if not (size.isdecimal() and walltime.isdecimal() and int(size) and int(walltime)):
        raise typer.BadParameter(
            f"found {text!r}, expected processors and seconds, such as 64:3600",
            param_hint="--add-job",
        )
    return int(size), int(walltime)


def _check_cluster(graph: Path | None, nodes: int | None, cores: int | None) -> None:
    if graph is not None and (nodes is not None or cores is not None):
        raise typer.BadParameter(
            f"the graph {graph} has its own nodes and cores; leave --nodes and --cores out",
            param_hint="--graph",
        )
