"""`bench/crash`: kills and other faults under load, and whether anything was lost or told wrongly.

    bench/crash                       twenty kills each of the controller, Postgres, the API server
    bench/crash --only controller     of one alone
    bench/crash --kills 5 --seed 7    shorter, and the same as another time
    bench/crash --workloads 2000 --faults 60
                                      a mixed load, kills, pauses, partitions and watch gaps; every
                                      final state is compared with Kubernetes' own

Exit status 1 if anything is wrong. Then the folder with all logs and the record is kept, and with
--keep in any case.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.integration.crash.faults.plan import draw_plan
from tests.integration.crash.faults.run import run as run_faults
from tests.integration.crash.site import Victim
from tests.integration.crash.storm import plan
from tests.integration.crash.verdict import run
from tests.integration.folders import reachable_folder


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench/crash", description="Faults under load.")
    parser.add_argument("--kills", type=int, default=20, help="of each (default: 20)")
    parser.add_argument("--seed", type=int, help="draws the work and the moments")
    parser.add_argument("--only", choices=[each.value for each in Victim], help="kill no other")
    parser.add_argument("--workloads", type=int, help="compare the ends of so many workloads")
    parser.add_argument("--faults", type=int, help="with --workloads: faults of all kinds, in all")
    parser.add_argument("--nodes", type=int, help="default: 8, with --workloads 12")
    parser.add_argument("--keep", action="store_true", help="keep the folder, with all logs")
    args = parser.parse_args(arguments)
    if (args.faults is not None and args.workloads is None) or (args.workloads and args.only):
        parser.error("--faults goes with --workloads, and --only with --kills")
    seed = random.randrange(1_000_000) if args.seed is None else args.seed
    folder = reachable_folder("fluxnetes-crash-")
    print(f"seed {seed}, in {folder}", flush=True)
    compare = _kill if args.workloads is None else _compare
    is_well = compare(folder, seed, args)
    if is_well and not args.keep:
        shutil.rmtree(folder)
    return 0 if is_well else 1


def _kill(folder: Path, seed: int, args: argparse.Namespace) -> bool:
    """Kills alone, and work that is designed to end in a certain way."""
    victims = [each for each in Victim if args.only in (None, each.value)]
    nodes = args.nodes or 8
    verdict = run(folder, plan(seed, dict.fromkeys(victims, args.kills), nodes), nodes)
    print(verdict.report())
    return not verdict.complaints


def _compare(folder: Path, seed: int, args: argparse.Namespace) -> bool:
    """Faults of all kinds, and work whose end Kubernetes decides."""
    nodes = args.nodes or 12
    faults = args.workloads // 30 if args.faults is None else args.faults
    report = run_faults(folder, draw_plan(seed, args.workloads, faults, nodes), nodes)
    (folder / "report.txt").write_text(str(report))
    print(report)
    return report.is_well


if __name__ == "__main__":
    sys.exit(main())
