"""Checks which options of `fluxnetes simulate` make sense, alone and together.

What is wrong with the command line is found before anything is read, and ends with status 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import typer

MOST_PROCESSORS = 10_000_000
"""Maximum nodes, cores and jobs; the simulator limits their product, too."""
_MAX_DIGITS = 15
"""Maximum digits of a number within a text."""


def check_workload(
    trace: Path | None, generate: str | None, jobs: int | None, seed: int | None
) -> None:
    """A trace, or a generated workload with its size and seed."""
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


def check_what_if(
    trace: Path | None, generate: str | None, of_workloads: Mapping[str, object]
) -> None:
    """A forecast takes its jobs from the store; options of workloads do not apply to it."""
    if trace is not None or generate is not None:
        raise typer.BadParameter(
            "two workloads: the queue of the store and another one; leave one out",
            param_hint="--from-store",
        )
    for option, value in of_workloads.items():
        if value is not None:
            instead = "use --json for a forecast" if option == "--html" else "leave it out"
            raise typer.BadParameter(f"is for workloads; {instead}", param_hint=option)


def refuse_without_store(given: Mapping[str, object]) -> None:
    """Options of forecasts need --from-store."""
    for option, value in given.items():
        if value is not None:
            raise typer.BadParameter("is for forecasts: add --from-store", param_hint=option)


def check_cluster(
    graph: Path | None, nodes: int | None, cores: int | None, *, generated: bool, stored: bool
) -> None:
    """One cluster, whose size is known."""
    if graph is not None and (nodes is not None or cores is not None):
        raise typer.BadParameter(
            f"the graph {graph} has its own nodes and cores; leave --nodes and --cores out",
            param_hint="--graph",
        )
    if generated and graph is None and nodes is None:
        raise typer.BadParameter(
            "the size of the cluster is not known; give it with --nodes or --graph",
            param_hint="--nodes",
        )
    if stored and cores is not None and nodes is None:
        raise typer.BadParameter(
            "is for the nodes of --nodes; the store knows the cores of its own",
            param_hint="--cores",
        )


def check_policies(names: tuple[str, ...]) -> None:
    """Policies that exist, with valid numbers."""
    # Imported here: `--help` needs none of it.
    from fluxnetes.simulate.errors import SimulationError
    from fluxnetes.simulate.policies import parse_policy

    for name in names:
        try:
            parse_policy(name)
        except SimulationError as error:
            raise typer.BadParameter(str(error), param_hint="--policy") from None


def check_outputs(json: Path | None, html: Path | None) -> None:
    """Two results need two places."""
    if json is not None and json == html:
        place = "standard output" if json == Path("-") else str(json)
        raise typer.BadParameter(
            f"--json and --html both write to {place}; name two files", param_hint="--html"
        )


def size_and_walltime(text: str) -> tuple[int, int]:
    """The processors and the walltime of an additional job, from a text such as 64:3600."""
    size, _, walltime = text.partition(":")
    for word in (size, walltime):
        if not (word.isascii() and word.isdecimal() and len(word) <= _MAX_DIGITS and int(word)):
            raise typer.BadParameter(
                f"found {text[:60]!r}, expected processors and seconds, such as 64:3600",
                param_hint="--add-job",
            )
    return int(size), int(walltime)
