"""The options of resource-query, named as the reference names them.

Imports only the standard library, so that `--help` and errors need not wait for NumPy to load.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

DEFAULT_PRUNE_FILTERS = "ALL:core,ALL:node"

LOAD_FORMATS = ("grug", "hwloc", "jgf", "jgf_shorthand", "rv1exec", "rv1exec_force")
MATCH_FORMATS = (
    "simple",
    "pretty_simple",
    "jgf",
    "jgf_shorthand",
    "rlite",
    "rv1",
    "rv1_shorthand",
    "rv1_nosched",
)
GRAPH_FORMATS = ("dot", "graphml")
TRAVERSERS = ("simple", "flexible")

SUBSYSTEMS: dict[str, tuple[str, ...]] = {
    "CA": ("containment",),
    "IBA": ("ibnet",),
    "IBBA": ("ibnetbw",),
    "PA": ("power",),
    "PFS1BA": ("pfs1bw",),
    "VA": ("virtual1",),
    "C+IBA": ("containment", "ibnet"),
    "C+IBBA": ("containment", "ibnetbw"),
    "C+PA": ("containment", "power"),
    "C+PFS1BA": ("containment", "pfs1bw"),
    "IB+IBBA": ("ibnet", "ibnetbw"),
    "C+P+IBA": ("containment", "power", "ibnet"),
    "V+PFS1BA": ("virtual1", "pfs1bw"),
    "ALL": ("containment", "ibnet", "ibnetbw", "pfs1bw", "power"),
}
"""The values of `-S`. The first subsystem of each is the one that is matched."""

DESCRIPTION = """\
Load a resource graph, then read commands from standard input: match a jobspec,
cancel a job, find resources. Speaks the language of Fluxion's resource-query.
Type `help` at its prompt to see the commands.
"""

POLICY_HELP = """\
which of the resources that fit are taken:
first (default), firstnodex: the first found;
high, low: by id; hinode, lonode: by id of the node, then by id;
hinodex, lonodex: the same, whole nodes only;
locality: neighbouring ids; variation: by property perf_class;
or a string: "policy=low node_centric=true node_exclusive=true"
"""


@dataclass(frozen=True, slots=True)
class ResourceQueryOptions:
    """The parsed and checked command line."""

    load_file: str
    load_format: str = "grug"
    load_allowlist: tuple[str, ...] | None = None
    subsystems: tuple[str, ...] = ("containment",)
    policy: str = "first"
    match_format: str = "simple"
    traverser: str = "simple"
    prune_filters: str = DEFAULT_PRUNE_FILTERS
    graph_format: str = "dot"
    graph_output: str | None = None
    elapse_time: bool = False
    disable_prompt: bool = False
    test_output: str | None = None


class _Parser(argparse.ArgumentParser):
    """A wrong option ends with status 1, as in the reference (argparse's own is 2)."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(1, f"{self.prog}: error: {message}\n")


def parse_options(arguments: Sequence[str]) -> ResourceQueryOptions:
    """Read the command line; a wrong one ends the process with a message and status 1."""
    parser = _build_parser()
    given = parser.parse_args(list(arguments))
    if given.load_file is None:
        parser.error(
            "no resource graph: name its file with -L FILE and its format with -f FORMAT "
            f"(one of {', '.join(LOAD_FORMATS)})"
        )
    return ResourceQueryOptions(
        load_file=given.load_file,
        load_format=given.load_format,
        load_allowlist=_allowlist(given.load_allowlist),
        subsystems=SUBSYSTEMS[given.match_subsystems],
        policy=given.match_policy,
        match_format=given.match_format,
        traverser=given.traverser_policy,
        prune_filters=_prune_filters(given.prune_filters),
        graph_format=given.graph_format,
        graph_output=given.graph_output,
        elapse_time=given.elapse_time,
        disable_prompt=given.disable_prompt,
        test_output=given.test_output,
    )


def _allowlist(given: list[str]) -> tuple[str, ...] | None:
    """The types to load; the cluster is always one of them. None where none was named."""
    types = [word.strip() for text in given for word in text.split(",") if word.strip()]
    return ("cluster", *types) if types else None


def _prune_filters(given: list[str]) -> str:
    """All filters given, in one string; the default where that is empty."""
    return ",".join(text.strip() for text in given if text.strip()) or DEFAULT_PRUNE_FILTERS


def _build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="fluxnetes resource-query",
        description=DESCRIPTION,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    _add_graph_options(parser)
    _add_match_options(parser)
    _add_output_options(parser)
    return parser


def _add_graph_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the graph")
    group.add_argument("-L", "--load-file", metavar="FILE", help="the resource graph")
    group.add_argument(
        "-f",
        "--load-format",
        choices=LOAD_FORMATS,
        default="grug",
        metavar="FORMAT",
        help=f"its format: {', '.join(LOAD_FORMATS)}\n(default: grug)",
    )
    group.add_argument(
        "-W",
        "--load-allowlist",
        action="append",
        default=[],
        metavar="TYPE,...",
        help="load only these resource types (hwloc)",
    )
    group.add_argument("-r", "--reserve-vtx-vec", metavar="SIZE", help="accepted, not needed")


def _add_match_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("matching")
    group.add_argument(
        "-S",
        "--match-subsystems",
        type=str.upper,
        choices=tuple(SUBSYSTEMS),
        default="CA",
        metavar="NAME",
        help="the subsystem to match in, and others beside it:\n"
        f"{', '.join(SUBSYSTEMS)}\n(default: CA, containment)",
    )
    group.add_argument(
        "-P", "--match-policy", default="first", metavar="POLICY", help=POLICY_HELP.rstrip()
    )
    group.add_argument(
        "-T",
        "--traverser-policy",
        choices=TRAVERSERS,
        default="simple",
        metavar="NAME",
        help="simple (default), or flexible: slots side by side are alternatives",
    )
    group.add_argument(
        "-p",
        "--prune-filters",
        action="append",
        default=[],
        metavar="HIGH:LOW,...",
        help=f"counts of LOW kept at every HIGH vertex\n(default: {DEFAULT_PRUNE_FILTERS})",
    )


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "-F",
        "--match-format",
        choices=MATCH_FORMATS,
        default="simple",
        metavar="FORMAT",
        help=f"how a placement is written:\n{', '.join(MATCH_FORMATS)}\n(default: simple)",
    )
    group.add_argument(
        "-t", "--test-output", metavar="FILE", help="write results there, not to standard output"
    )
    group.add_argument(
        "-e", "--elapse-time", action="store_true", help="print how long each match took"
    )
    group.add_argument(
        "-d", "--disable-prompt", action="store_true", help="no prompt, even at a terminal"
    )
    group.add_argument(
        "-o",
        "--graph-output",
        metavar="BASENAME",
        help="at the end, draw the graph into BASENAME.dot or BASENAME.graphml",
    )
    group.add_argument(
        "-g",
        "--graph-format",
        type=str.lower,
        choices=GRAPH_FORMATS,
        default="dot",
        metavar="FORMAT",
        help="of that drawing: dot (default), graphml",
    )
