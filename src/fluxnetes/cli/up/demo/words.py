"""What the demo is about, and what to look at when it is over."""

from __future__ import annotations

from pathlib import Path

from fluxnetes.cli.up.demo.workload import NAMESPACE, most_nodes

_BEFORE = """\

The demo is in the namespace {namespace}. ocean takes {most} of {nodes} nodes, climate needs
all {nodes} at once.
Sweeps are short, a marathon is long, and no node has the 64 cpu that colossus asks for.
"""

_AFTERWARDS = """\

What happened:
  climate did not fit beside ocean. It waited as a whole, with a promised start, and held nothing.
  The sweeps came later and ran first: they were sure to be gone by the promised time (backfill).
  marathon was small enough but too long, and had to wait for climate.
  colossus can never run here. It was rejected at once, not left pending.

Look at it{where}:
  kubectl -n {namespace} get fluxjobs
  kubectl -n {namespace} describe fluxjob climate-group
  kubectl -n {namespace} get fluxjob colossus-job -o jsonpath='{{.status.reason}}'
  kubectl -n {namespace} get pods -o wide
  kubectl -n {namespace} events
"""

_RUNS_ON = "\nEverything runs on; Ctrl-C stops it."


def before(nodes: int) -> str:
    return _BEFORE.format(namespace=NAMESPACE, most=most_nodes(nodes), nodes=nodes)


def afterwards(kubeconfig: Path, *, once: bool) -> str:
    """What to look at; `once`, when it is all there again."""
    where = f", with KUBECONFIG={kubeconfig}"
    if once:
        where = f" after the next start (`fluxnetes up`){where}"
    told = _AFTERWARDS.format(namespace=NAMESPACE, where=where)
    return told if once else told + _RUNS_ON
