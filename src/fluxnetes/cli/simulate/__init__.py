"""`fluxnetes simulate`: a trace or a generated workload through the queue, on virtual time.

    options.py  the command line: what may be said, and what makes no sense together
    run.py      options -> cluster and workload -> a schedule for each policy -> outputs
    what_if.py  options -> stored queue and its system -> a forecast for each scenario -> outputs
    outputs.py  where results are written
    show.py     the tables and the progress bar

A table goes to standard output, progress and complaints to standard error.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Parse the options first; they import the rest only if they make sense."""
    from fluxnetes.cli.simulate.options import app

    try:
        app(list(arguments), prog_name="fluxnetes simulate")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
