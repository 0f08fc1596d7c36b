"""`bench/crash`: twenty kills of each, or as many as one likes, and whether anything was lost.

    bench/crash                       twenty kills each of the controller, Postgres, the API server
    bench/crash --only controller     of one alone
    bench/crash --kills 5 --seed 7    shorter, and the same as another time

Exit status 1 if anything is wrong. Then the folder with all logs and the record is kept, and with
--keep in any case.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from collections.abc import Sequence

from tests.integration.crash.site import Victim
from tests.integration.crash.storm import plan
from tests.integration.crash.verdict import run
from tests.integration.folders import reachable_folder


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench/crash", description="Kill -9 under load.")
    parser.add_argument("--kills", type=int, default=20, help="of each (default: 20)")
    parser.add_argument("--seed", type=int, help="draws the work and the moments")
    parser.add_argument("--only", choices=[each.value for each in Victim], help="kill no other")
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--keep", action="store_true", help="keep the folder, with all logs")
    args = parser.parse_args(arguments)
    seed = random.randrange(1_000_000) if args.seed is None else args.seed
    victims = [each for each in Victim if args.only in (None, each.value)]
    folder = reachable_folder("fluxnetes-crash-")
    print(f"seed {seed}, in {folder}", flush=True)
    drawn = plan(seed, dict.fromkeys(victims, args.kills), args.nodes)
    verdict = run(folder, drawn, args.nodes)
    print(verdict.report())
    if not verdict.complaints and not args.keep:
        shutil.rmtree(folder)
    return 1 if verdict.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
