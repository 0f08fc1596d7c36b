"""`bench/queue`: how long a scheduling cycle takes, and how fast the store writes.

    bench/queue                 everything, best of three runs
    bench/queue --runs 1 easy   quickly, only cases whose name has `easy` in it

10,000 nodes. Every case runs in a process of its own. Exit status 1 if anything is over its limit.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

from bench.queue_cases import CASES


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the queue.")
    parser.add_argument("filter", nargs="?", default="", help="only cases with this in their name")
    parser.add_argument("--runs", type=int, default=3, help="runs of each case; the best counts")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(_measure(args.measure)))
        return 0
    print(f"{'case':38} {'step':34} {'limit':>9} {'measured':>10} {'peak MB':>8}")
    results = [_show(case.name, args.runs) for case in CASES if args.filter in case.name]
    slow = [name for result in results for name in result]
    if slow:
        print(f"over the limit: {', '.join(slow)}")
    return 1 if slow else 0


def _show(case: str, runs: int) -> list[str]:
    """Print a case's best figures; returns the steps that are over their limit."""
    found = [_in_own_process(case) for _ in range(runs)]
    slow = []
    for number, step in enumerate(found[0]["steps"]):
        best = min(run["steps"][number]["ms"] for run in found)
        limit = f"{step['limit']:,.0f} ms" if step["limit"] is not None else "-"
        peak = found[0]["peak_mb"]
        print(f"{case:38} {step['name']:34} {limit:>9} {best:>7,.1f} ms {peak:>8.0f}", flush=True)
        if step["limit"] is not None and best > step["limit"]:
            slow.append(f"{case}: {step['name']}")
    return slow


def _in_own_process(case: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.queue_table", "--measure", case]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _measure(name: str) -> dict[str, Any]:
    case = next(c for c in CASES if c.name == name)
    steps = []
    for step, do, limit in case.steps():
        began = time.perf_counter()
        do()
        steps.append({"name": step, "ms": 1e3 * (time.perf_counter() - began), "limit": limit})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"steps": steps, "peak_mb": peak}


if __name__ == "__main__":
    sys.exit(main())
