"""`bench/service`: how many matches a second `fluxnetes serve` answers, beside an empty server.

    bench/service                      everything, best of three rounds
    bench/service --rounds 1 jobspec   quickly, only cases with `jobspec` in their name
    bench/service --check              exit status 1 if a limit is not kept

1,000 nodes of 16 cores and 4 memory; 16 callers in one process, each a match and then its cancel,
again and again; the server in another process. Rounds of ours take turns with rounds of an empty
grpc.aio server, which answers with the same bytes and does nothing. Then Init of 10,000 such nodes.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.graphs import jgf_racks
from bench.kube_costs import costs
from bench.service_dialects import DIALECTS, JOBSPEC, Dialect
from bench.service_limits import show_limits
from bench.service_run import Load, Result, answers, empty_server, init, measure, our_server

HEADER = (
    f"{'dialect':28} {'pairs/s':>8} {'p50 ms':>7} {'p99 ms':>7} {'CPU ms':>7} "
    f"{'empty: calls/s':>15} {'ours / empty':>13}"
)
STORED = "jobspec, --store"
INIT = "Init of {:,} nodes"


@dataclass(frozen=True, slots=True)
class Row:
    """A case, with what was measured in all rounds."""

    name: str
    ours: tuple[Result, ...]
    empty: tuple[Result, ...] = ()

    @property
    def rate(self) -> float:
        return _best(self.ours).rate

    def __str__(self) -> str:
        best = _best(self.ours)
        text = (
            f"{self.name:28} {best.rate:8.0f} {best.wait(50):7.1f} {best.wait(99):7.1f} "
            f"{best.cpu_a_pair:7.2f}"
        )
        if self.empty:
            empty = _best(self.empty).rate
            text += f" {2 * empty:15.0f} {best.rate / empty:13.2f}"
        return text


def _best(results: Sequence[Result]) -> Result:
    return max(results, key=lambda result: result.rate)


def main(arguments: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(arguments)
    load = Load(args.callers, args.seconds, min(1.0, args.seconds))
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder, "graph.json")
        graph.write_text(jgf_racks(args.nodes))
        print(HEADER)
        for dialect in DIALECTS:
            if args.filter in dialect.name:
                found[dialect.name] = _show(_compared(dialect, graph, load, args.rounds))
        if args.filter in STORED:
            found[STORED] = _show(_stored(graph, load, args.rounds))
        if args.filter in INIT:
            found["init"] = _init(graph, 10 * args.nodes, args.rounds)
    kept = show_limits(found)
    return 0 if kept or not args.check else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("filter", nargs="?", default="", help="only cases with this in their name")
    add("--rounds", type=int, default=3, help="measurements of each; the best counts")
    add("--seconds", type=float, default=5.0, help="of each measurement")
    add("--callers", type=int, default=16)
    add("--nodes", type=int, default=1000, help="Init has ten times as many")
    add("--check", action="store_true", help="exit status 1 if a limit is not kept")
    return parser


def _show(row: Row) -> float:
    print(row, flush=True)
    return row.rate


def _compared(dialect: Dialect, graph: Path, load: Load, rounds: int) -> Row:
    """Ours and an empty server in turns, each in a new process."""
    ours, empty = [], []
    for _ in range(rounds):
        with our_server(dialect, graph) as server:
            said = asyncio.run(answers(server, dialect))
            ours.append(asyncio.run(measure(server, dialect, load)))
        with empty_server(dialect, said) as server:
            empty.append(asyncio.run(measure(server, dialect, load)))
    return Row(dialect.name, tuple(ours), tuple(empty))


def _stored(graph: Path, load: Load, rounds: int) -> Row:
    found = []
    for _ in range(rounds):
        with our_server(JOBSPEC, graph, store=True) as server:
            found.append(asyncio.run(measure(server, JOBSPEC, load)))
    return Row(STORED, tuple(found))


def _init(graph: Path, nodes: int, rounds: int) -> float:
    jgf, found, peaks = jgf_racks(nodes), [], []
    for _ in range(rounds):
        with our_server(JOBSPEC, graph) as server:
            found.append(asyncio.run(init(server, jgf)))
            peaks.append(costs(server.pid).memory)
    took = min(found)
    name = INIT.format(nodes)
    print(f"{name}: {took:.2f} s, {len(jgf) / 1e6:.0f} MB sent, peak {max(peaks):.0f} MB")
    return took


if __name__ == "__main__":
    sys.exit(main())
