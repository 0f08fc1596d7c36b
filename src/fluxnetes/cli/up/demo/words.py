"""The texts of the demo: what it submits, and what to look at afterwards."""

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
  climate did not fit beside ocean. It waited as a whole, with a planned start, and held nothing.
  The sweeps came later and ran first: by their walltimes they end before that start (backfill).
  marathon was small enough but too long, and had to wait for climate.
  colossus fits on no node. It waits for one, says so, and blocks no other job.

Look at it{where}:
  kubectl -n {namespace} get fluxjobs
  kubectl -n {namespace} describe fluxjob climate-group
  kubectl -n {namespace} get fluxjob colossus-job -o jsonpath='{{.status.reason}}'
  kubectl -n {namespace} get pods -o wide
  kubectl -n {namespace} events
"""

_RUNS_ON = "\nThe cluster keeps running; Ctrl-C stops it."


def before(nodes: int) -> str:
    """What the demo submits."""
    return _BEFORE.format(namespace=NAMESPACE, most=most_nodes(nodes), nodes=nodes)


def afterwards(kubeconfig: Path, *, once: bool) -> str:
    """What happened and what to look at; with `once`, after the next start."""
    where = f", with KUBECONFIG={kubeconfig}"
    if once:
        where = f" after the next start (`fluxnetes up`){where}"
    text = _AFTERWARDS.format(namespace=NAMESPACE, where=where)
    return text if once else text + _RUNS_ON
