"""`bench/kube`: how fast pods get their nodes, ours beside Kubernetes' own scheduler.

    bench/kube                                       everything, medians of three rounds
    bench/kube --rounds 1 --workload gangs           quickly
    bench/kube --mode stream --contestant fluxnetes  only some
    bench/kube --coscheduling                        also scheduler-plugins' (built first, minutes)
    bench/kube --check                               exit status 1 if a limit is not kept

Three workloads of 3,000 pods on 1,000 nodes of 16 cpus: 150 gangs of 20, one gang of 3,000, single
pods. Each as a stream and as a backlog (see `kube_run`). The contestants take turns, each time on a
plane of its own, and another one is first in each round.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.kube_contestants import CONTESTANTS, Contestant
from bench.kube_coscheduling import Coscheduling
from bench.kube_limits import Key, show_limits
from bench.kube_result import Result, Wrong, median
from bench.kube_run import MODES, Case, measure
from bench.kube_work import WORKLOADS
from fluxnetes.plane.errors import PlaneError

HEADER = (
    f"{'':8} {'workload':20} {'mode':8} {'contestant':14} {'seconds':>8} {'pods/s':>7} "
    f"{'p50 s':>7} {'p99 s':>7} {'writes/pod':>10} {'CPU s':>6} {'MB':>5} "
    f"{'Postgres: CPU s':>15} {'MB':>5}"
)

Kinds = Sequence[type[Contestant]]
Found = dict[Key, list[Result]]


def main(arguments: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(arguments)
    kinds = (*CONTESTANTS, *((Coscheduling,) if args.coscheduling else ()))
    kinds = tuple(kind for kind in kinds if kind.name in (args.contestant or kind.name))
    cases = [
        Case(workload, mode, args.nodes, args.pods)
        for workload in WORKLOADS
        for mode in MODES
        if workload.name in (args.workload or workload.name) and mode in (args.mode or mode)
    ]
    print(HEADER)
    found, all_good = _measure_all(cases, kinds, args.rounds)
    if args.json:
        Path(args.json).write_text(json.dumps(list(_as_json(found)), indent=1))
    medians = {key: median(results) for key, results in found.items()}
    _show_medians(cases, kinds, medians)
    all_kept = show_limits(medians)
    return 0 if all_good and (all_kept or not args.check) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    names = [*(kind.name for kind in CONTESTANTS), Coscheduling.name]
    add("--rounds", type=int, default=3, help="measurements of each; their median counts")
    add("--workload", action="append", choices=[each.name for each in WORKLOADS])
    add("--mode", action="append", choices=MODES)
    add("--contestant", action="append", choices=names)
    add("--nodes", type=int, default=1000)
    add("--pods", type=int, default=3000)
    add("--coscheduling", action="store_true", help="also scheduler-plugins' coscheduling")
    add("--check", action="store_true", help="exit status 1 if a limit is not kept")
    add("--json", metavar="FILE", help="write all measurements into a file")
    return parser


def _measure_all(cases: Sequence[Case], kinds: Kinds, rounds: int) -> tuple[Found, bool]:
    """All that could be measured, and whether everything could."""
    found, all_good = defaultdict(list), True
    for number in range(rounds):
        first = number % len(kinds)
        for case in cases:
            for kind in (*kinds[first:], *kinds[:first]):
                try:
                    result = measure(case, kind)
                except (PlaneError, Wrong) as error:
                    all_good = False
                    print(f"round {number + 1}  {_name(case)} {kind.name:14} {error}", flush=True)
                else:
                    found[_key(case, kind)].append(result)
                    print(_row(f"round {number + 1}", case, kind, result), flush=True)
    return found, all_good


def _show_medians(cases: Sequence[Case], kinds: Kinds, medians: dict[Key, Result]) -> None:
    print(f"\n{HEADER}")
    for case in cases:
        for kind in kinds:
            if _key(case, kind) in medians:
                print(_row("median", case, kind, medians[_key(case, kind)]))


def _row(label: str, case: Case, kind: type[Contestant], found: Result) -> str:
    scheduler, postgres = found.scheduler, found.postgres
    database = f"{postgres.cpu:15.1f} {postgres.memory:5.0f}" if postgres.memory else ""
    return (
        f"{label:8} {_name(case)} {kind.name:14} {found.seconds:8.1f} {found.rate:7.0f} "
        f"{found.p50:7.2f} {found.p99:7.2f} {found.writes_a_pod:10.2f} {scheduler.cpu:6.1f} "
        f"{scheduler.memory:5.0f} {database}"
    ).rstrip()


def _name(case: Case) -> str:
    return f"{case.workload.title(case.pods):20} {case.mode:8}"


def _key(case: Case, kind: type[Contestant]) -> Key:
    return (case.workload.name, case.mode, kind.name)


def _as_json(found: Found) -> Iterator[dict[str, object]]:
    for (workload, mode, contestant), results in found.items():
        for each in results:
            who = {"workload": workload, "mode": mode, "contestant": contestant}
            yield {**who, **asdict(each)}


if __name__ == "__main__":
    sys.exit(main())
