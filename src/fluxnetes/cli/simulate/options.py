"""The options of `fluxnetes simulate`; `checks` says which of them make sense together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fluxnetes.cli.options import new_app
from fluxnetes.cli.simulate.checks import (
    MOST_PROCESSORS,
    check_cluster,
    check_outputs,
    check_policies,
    check_what_if,
    check_workload,
    refuse_without_store,
    size_and_walltime,
)

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
        typer.Option(
            min=1,
            max=MOST_PROCESSORS,
            metavar="N",
            help="Number of generated jobs.  [default: 10000]",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**63 - 1,
            metavar="N",
            help="Random seed of the generated jobs.  [default: 0]",
        ),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_PROCESSORS,
            metavar="N",
            help="Nodes of the cluster.  [default: from the trace]",
        ),
    ] = None,
    cores: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_PROCESSORS, metavar="N", help="Cores of each node.  [default: 1]"
        ),
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
        float | None,
        typer.Option(
            min=1.0,
            max=1e6,
            metavar="F",
            help="Walltime of a job that requested none, in run times.  [default: 1]",
        ),
    ] = None,
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
            min=0,
            max=2**40,
            metavar="SECONDS",
            help="Start of the forecast, in Unix time.  [default: now]",
        ),
    ] = None,
    add_nodes: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_PROCESSORS, metavar="N", help="Forecast with N more nodes, too."
        ),
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
    of_workloads = {"--html": html, "--jobs": jobs, "--seed": seed, "--overestimate": overestimate}
    if from_store:
        check_what_if(trace, generate, of_workloads)
    else:
        check_workload(trace, generate, jobs, seed)
        refuse_without_store(what_if)
    check_cluster(graph, nodes, cores, generated=generate is not None, stored=from_store)
    check_policies(tuple(policy or ()))
    check_outputs(json, html)
    options = SimulateOptions(
        trace=trace,
        generate=generate,
        jobs=10_000 if jobs is None else jobs,
        seed=seed or 0,
        nodes=nodes,
        cores=cores or 1,
        graph=graph,
        policies=tuple(dict.fromkeys(policy or ([] if from_store else ["easy"]))),
        overestimate=1.0 if overestimate is None else overestimate,
        json=json,
        html=html,
        from_store=from_store,
        dsn=dsn,
        now=now,
        add_nodes=add_nodes or 0,
        add_job=None if add_job is None else size_and_walltime(add_job),
    )
    from fluxnetes.cli.simulate.run import run

    raise typer.Exit(run(options))
