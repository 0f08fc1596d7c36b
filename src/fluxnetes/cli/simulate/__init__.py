"""`fluxnetes simulate`: a trace or a generated workload through the queue, on virtual time.

    options    the command line
    checks     which options make sense, alone and together
    run        options -> cluster and workload -> a schedule for each policy -> outputs
    what_if    options -> stored queue and its system -> a forecast for each scenario -> outputs
    job_texts  names of jobs and reasons in forecasts, for users of the queue
    outputs    files for results
    show       tables and the progress bar

Tables go to standard output, progress and errors to standard error.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Parse the options; the rest is imported only if they are valid."""
    from fluxnetes.cli.options import run_app
    from fluxnetes.cli.simulate.options import app

    return run_app(app, "simulate", arguments)
