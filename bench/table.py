"""`bench/match`: how long a match takes, by policy, request and graph.

    bench/match                  everything, best of three runs
    bench/match --runs 1 racks   quickly, only cases whose name has `racks` in it

Every case runs in its own process, once through the Python API and once through resource-query's
commands. Exit status 1 if a mean is over its limit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.cases import CASES, GRAPHS, LOAD_LIMITS, MADE, Case

MORE_THROUGH_COMMANDS = 1.0
"""Milliseconds that reading the jobspec and writing the answer may add."""

HEADER = (
    f"{'graph':6} {'request':34} {'policy':11} {'reference':>9} {'limit':>6} {'mean':>7} "
    f"{'p99':>7} {'first':>8} {'cancel':>7} {'command':>8} {'peak':>7}"
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the matcher.")
    parser.add_argument("filter", nargs="?", default="", help="only cases with this in their name")
    parser.add_argument("--runs", type=int, default=3, help="runs of each case; the best counts")
    args = parser.parse_args()
    cases = [c for c in CASES if args.filter in c.name]
    with tempfile.TemporaryDirectory() as folder:
        files = _write_graphs({c.graph for c in cases}, Path(folder))
        print("times in ms, memory in MB; `command` is through resource-query, text in and out")
        print(HEADER)
        results = [_row(case, files, args.runs) for case in cases]
    slow = [r["case"] for r in results if r["too_slow"]]
    loads_ok = _print_loads(results)
    if slow:
        print(f"over the limit: {', '.join(slow)}")
    return 1 if slow or not loads_ok else 0


def _write_graphs(wanted: set[str], folder: Path) -> dict[str, Path]:
    files = {}
    for name in sorted(wanted & set(GRAPHS)):
        files[name] = folder / f"{name}.json"
        files[name].write_text(GRAPHS[name][2]())
    return files


def _row(case: Case, files: dict[str, Path], runs: int) -> dict[str, Any]:
    found = [_measure(case, files) for _ in range(runs)]
    best = min(found, key=lambda r: float(r["mean_ms"]))
    best["load_s"] = min(float(r["load_s"]) for r in found)
    best["load_peak_mb"] = min(float(r["load_peak_mb"]) for r in found)
    command = "-"
    best["too_slow"] = best["mean_ms"] > case.limit
    if case.graph not in MADE:
        through = min(
            (_measure(case, files, "--through-resource-query") for _ in range(runs)),
            key=lambda r: float(r["mean_ms"]),
        )
        command = f"{through['mean_ms']:.3f}"
        best["too_slow"] |= through["mean_ms"] > case.limit + MORE_THROUGH_COMMANDS
    print(
        f"{case.graph:6} {case.request:34} {case.policy:11} {case.reference:>9} {case.limit:6.1f} "
        f"{best['mean_ms']:7.3f} {best['p99_ms']:7.3f} {best['first_ms']:8.2f} "
        f"{best['cancel_ms']:7.3f} {command:>8} {best['peak_mb']:7.0f}",
        flush=True,
    )
    return best


def _measure(case: Case, files: dict[str, Path], *more: str) -> dict[str, Any]:
    argv = [
        sys.executable,
        "-m",
        "bench.measure",
        case.name,
        str(files.get(case.graph, "-")),
        *more,
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{case.name} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _print_loads(results: list[dict[str, Any]]) -> bool:
    """How long loading took, and the most memory that any case of a graph took."""
    good = True
    for name, (seconds, megabytes) in LOAD_LIMITS.items():
        mine = [r for r in results if str(r["case"]).startswith(name + "/")]
        if mine:
            load = min(float(r["load_s"]) for r in mine)
            peak = max(float(r["peak_mb"]) for r in mine)
            loaded = min(float(r["load_peak_mb"]) for r in mine)
            print(
                f"{GRAPHS[name][0]}: load {load:.2f} s (limit {seconds}), peak {loaded:.0f} MB "
                f"loaded, {peak:.0f} MB over all cases (limit {megabytes})"
            )
            good &= load <= seconds and loaded <= megabytes
    return good


if __name__ == "__main__":
    sys.exit(main())
