"""Measure one case in a process of its own and print the result as JSON.

    python -m bench.measure CASE GRAPH_FILE [--through-resource-query]

A fresh process for each case keeps peak memory honest and one case's caches out of another's.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.cases import CASES, MADE, load, questions
from fluxnetes.cli.resource_query.session import QuerySession
from fluxnetes.cli.resource_query.shell import run_line
from fluxnetes.jobspec.model import Jobspec, Resource
from fluxnetes.match.answers import Operation
from fluxnetes.match.gang.model import Gang
from fluxnetes.match.matcher import Matcher


def main() -> None:
    case = next(c for c in CASES if c.name == sys.argv[1])
    began = time.perf_counter()
    if case.graph in MADE:
        graph = MADE[case.graph]()
    else:
        graph = load(case.graph, Path(sys.argv[2]).read_bytes())
    matcher = Matcher(graph, policy=case.policy)
    loaded = time.perf_counter() - began
    load_peak = _peak()
    asked = questions(case, matcher)
    if "--through-resource-query" in sys.argv:
        times = _through_session(matcher, asked)
        cancels = [0.0]
    else:
        times, cancels = _through_api(matcher, asked)
    print(
        json.dumps(
            {
                "case": case.name,
                "load_s": loaded,
                "load_peak_mb": load_peak,
                "mean_ms": 1e3 * float(np.mean(times)),
                "p99_ms": 1e3 * float(np.percentile(times, 99)),
                "first_ms": 1e3 * times[0],
                "cancel_ms": 1e3 * float(np.mean(cancels)),
                "peak_mb": _peak(),
            }
        )
    )


def _peak() -> float:
    """Our own peak; what getrusage tells includes that of the process that started us."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _through_api(
    matcher: Matcher, asked: list[tuple[Operation, Jobspec | Gang]]
) -> tuple[list[float], list[float]]:
    times, placed = [], []
    for operation, what in asked:
        began = time.perf_counter()
        answer = matcher.match(operation, what)
        times.append(time.perf_counter() - began)
        if not answer:
            raise RuntimeError(f"a match of the benchmark failed: {answer.reason}")
        if answer.jobid in matcher.jobs:
            placed.append(answer.jobid)
    cancels = []
    for jobid in placed:
        began = time.perf_counter()
        matcher.cancel(jobid)
        cancels.append(time.perf_counter() - began)
    return times, cancels or [0.0]


def _through_session(
    matcher: Matcher, asked: list[tuple[Operation, Jobspec | Gang]]
) -> list[float]:
    """The same as commands: the jobspec read from its file, the answer written as text."""
    out = io.StringIO()
    session = QuerySession(matcher, out, out, out)
    times = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "job.yaml")
        for operation, what in asked:
            if isinstance(what, Gang):
                raise TypeError("a gang has no jobspec")
            if not file.exists():
                file.write_text(_yaml(what))
            began = time.perf_counter()
            run_line(session, f"match {operation.value} {file}")
            times.append(time.perf_counter() - began)
    if "No matching" in out.getvalue():
        raise RuntimeError("a match of the benchmark failed")
    return times


def _yaml(jobspec: Jobspec) -> str:
    """A jobspec as a user would write it."""
    lines = ["version: 9999", "resources:"]

    def write(resources: tuple[Resource, ...], indent: str) -> None:
        for r in resources:
            lines.append(f"{indent}- type: {r.type}")
            lines.append(f"{indent}  count: {r.count.min}")
            if r.label:
                lines.append(f"{indent}  label: {r.label}")
            if r.exclusive is not None:
                lines.append(f"{indent}  exclusive: {str(r.exclusive).lower()}")
            if r.children:
                lines.append(f"{indent}  with:")
                write(r.children, indent + "    ")

    write(jobspec.resources, "  ")
    lines += ["attributes:", "  system:", f"    duration: {jobspec.duration}"]
    lines += [
        "tasks:",
        "  - command: [app]",
        "    slot: default",
        "    count:",
        "      per_slot: 1",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
