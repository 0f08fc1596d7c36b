"""The `fluxnetes` command: finds the subcommand, and imports nothing else.

A subcommand is a module with a `main(arguments) -> exit status`. It is imported only when it was
asked for, so that `fluxnetes --help` answers before NumPy could even be found.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True, slots=True)
class Subcommand:
    name: str
    module: str
    summary: str


SUBCOMMANDS = (
    Subcommand(
        "controller",
        "fluxnetes.cli.controller",
        "schedule the pods of a Kubernetes cluster that name our scheduler",
    ),
    Subcommand(
        "resource-query",
        "fluxnetes.cli.resource_query",
        "load a resource graph and match jobs against it, as Fluxion's tool of that name does",
    ),
    Subcommand(
        "serve",
        "fluxnetes.cli.serve",
        "serve the matcher over gRPC, to clients old and new",
    ),
    Subcommand(
        "simulate",
        "fluxnetes.cli.simulate",
        "run a trace or a generated workload on virtual time, and compare policies",
    ),
    Subcommand(
        "up",
        "fluxnetes.cli.up",
        "start a Kubernetes on this machine with our scheduler in it, to try things on",
    ),
    Subcommand(
        "webhook",
        "fluxnetes.cli.webhook",
        "mark Jobs and Pods that opted in as ours, before the API server stores them",
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

`fluxnetes COMMAND --help` tells more about one command.
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
    sys.stderr.write(f"fluxnetes: there is no command {first!r}; there is: {known}\n")
    return 1


def help_text() -> str:
    width = max(len(s.name) for s in SUBCOMMANDS) + 2
    lines = (f"  {s.name:<{width}}{s.summary}" for s in SUBCOMMANDS)
    return HELP.format(commands="\n".join(lines))


def version() -> str:
    from importlib.metadata import version as installed_version

    return installed_version("fluxnetes")
