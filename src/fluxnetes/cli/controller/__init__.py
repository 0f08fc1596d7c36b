"""`fluxnetes controller`: our scheduler for one cluster.

options.py  the command line
config.py   the file that sets up queues
run.py      options -> cluster, store, webhook -> terms of leadership
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Parse the options first; they import the rest only if they make sense."""
    from fluxnetes.cli.controller.options import app

    try:
        app(list(arguments), prog_name="fluxnetes controller")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
