"""`fluxnetes serve`: the matcher as a gRPC service, until it is told to stop.

    options.py  the command line
    run.py      options -> graph, store, credentials -> serve

`serving` and the address go to standard output once it can be called, all else to standard error.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Parse the options first; they import the rest only if they make sense."""
    from fluxnetes.cli.serve.options import app

    try:
        app(list(arguments), prog_name="fluxnetes serve", auto_envvar_prefix="FLUXNETES_SERVE")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
