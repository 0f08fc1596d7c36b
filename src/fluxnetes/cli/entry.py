"""The `fluxnetes` command: finds the subcommand, and imports nothing else.

A subcommand is a package with a `main(arguments) -> exit status`. It is imported only when it is
run, so that `fluxnetes --help` does not wait for NumPy to load.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True, slots=True)
class Subcommand:
    """One subcommand: its name, the package that runs it, and its line in the help."""

    name: str
    module: str
    summary: str


SUBCOMMANDS = (
    Subcommand(
        "controller",
        "fluxnetes.cli.controller",
        "schedule the pods of a Kubernetes cluster that name the scheduler fluxnetes",
    ),
    Subcommand(
        "resource-query",
        "fluxnetes.cli.resource_query",
        "match jobs against a resource graph, with the commands of Fluxion's resource-query",
    ),
    Subcommand(
        "serve",
        "fluxnetes.cli.serve",
        "serve the matcher, or a queue, over gRPC",
    ),
    Subcommand(
        "simulate",
        "fluxnetes.cli.simulate",
        "run a trace or a generated workload on virtual time, and compare policies",
    ),
    Subcommand(
        "up",
        "fluxnetes.cli.up",
        "start a local Kubernetes control plane with Fluxnetes in it, to try things out",
    ),
    Subcommand(
        "webhook",
        "fluxnetes.cli.webhook",
        "run the admission webhook that queues Jobs and Pods that opted in",
    ),
)

HELP = """\
usage: fluxnetes [--help] [--version] COMMAND [ARGUMENTS...]

Schedule HPC, AI and batch work on Kubernetes the way a supercomputer does.

commands:
{commands}

options:
  -h, --help     show this help
  --version      show the version

`fluxnetes COMMAND --help` describes one command.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `fluxnetes` with these arguments (default: those of the process)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    first = arguments[0] if arguments else "--help"
    if first in ("-h", "--help", "help"):
        sys.stdout.write(help_text())
        return 0
    if first in ("-V", "--version", "version"):
        sys.stdout.write(f"fluxnetes {version()}\n")
        return 0
    for subcommand in SUBCOMMANDS:
        if subcommand.name == first:
            status: int = import_module(subcommand.module).main(arguments[1:])
            return status
    known = ", ".join(s.name for s in SUBCOMMANDS)
    sys.stderr.write(f"fluxnetes: unknown command {first!r}; expected one of: {known}\n")
    return 1


def help_text() -> str:
    """The help, with a line for each subcommand."""
    width = max(len(s.name) for s in SUBCOMMANDS) + 2
    lines = (f"  {s.name:<{width}}{s.summary}" for s in SUBCOMMANDS)
    return HELP.format(commands="\n".join(lines))


def version() -> str:
    """The version of the installed package."""
    from fluxnetes import __version__

    return __version__
