"""Runs `fluxnetes simulate`: cluster, workload, a schedule for each policy, output files."""

from __future__ import annotations

import sys

from fluxnetes.cli.exit_status import INTERRUPTED, closed_output
from fluxnetes.cli.simulate.options import SimulateOptions
from fluxnetes.cli.simulate.outputs import OUTPUT, check_outputs, write_file
from fluxnetes.cli.simulate.show import print_table, progress
from fluxnetes.simulate.cluster import SimulatedCluster, read_cluster, uniform_cluster
from fluxnetes.simulate.document import write_json
from fluxnetes.simulate.engine import run_policy
from fluxnetes.simulate.errors import SimulationError
from fluxnetes.simulate.lublin import generate_lublin
from fluxnetes.simulate.policies import parse_policy
from fluxnetes.simulate.report import write_report
from fluxnetes.simulate.schedule import Schedule
from fluxnetes.simulate.swf import read_header, read_swf
from fluxnetes.simulate.workload import Workload


def run(options: SimulateOptions) -> int:
    """Simulate and write. Returns the exit status."""
    try:
        check_outputs((options.json, options.html))
        if options.from_store:
            # Only forecasts need the client for Postgres, which takes time to load.
            from fluxnetes.cli.simulate.what_if import run_what_if

            is_given = options.graph is not None or options.nodes is not None
            run_what_if(options, _cluster(options) if is_given else None)
        else:
            _write(options, simulate(options))
    except SimulationError as error:
        sys.stderr.write(f"fluxnetes simulate: {error}\n")
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return closed_output()
    return 0


def simulate(options: SimulateOptions) -> list[Schedule]:
    """A schedule for each policy that was named."""
    queues = {name: parse_policy(name) for name in options.policies}
    cluster = _cluster(options)
    workload = _workload(options, cluster.machine.processors)
    with progress(len(workload)) as begin:
        return [
            run_policy(name, queue, workload, cluster, begin(name))
            for name, queue in queues.items()
        ]


def _cluster(options: SimulateOptions) -> SimulatedCluster:
    if options.graph is not None:
        return read_cluster(options.graph)
    if options.nodes is not None:
        return uniform_cluster(options.nodes, options.cores)
    assert options.trace is not None  # noqa: S101 - the options were checked
    header = read_header(options.trace)
    processors = header.processors or header.nodes
    if not processors:
        raise SimulationError(
            f"the header of {options.trace} has neither MaxProcs nor MaxNodes; give the size of "
            "the cluster with --nodes"
        )
    return uniform_cluster(-(-processors // options.cores), options.cores)


def _workload(options: SimulateOptions, processors: int) -> Workload:
    if options.trace is not None:
        return read_swf(options.trace, processors, overestimate=options.overestimate)
    return generate_lublin(
        options.jobs, processors, options.seed, overestimate=options.overestimate
    )


def _write(options: SimulateOptions, schedules: list[Schedule]) -> None:
    if options.json is not None:
        write_file(options.json, write_json(schedules))
    if options.html is not None:
        write_file(options.html, write_report(schedules).encode())
    if OUTPUT not in (options.json, options.html):
        print_table(schedules)
