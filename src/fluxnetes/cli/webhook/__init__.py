"""`fluxnetes webhook`: the admission server, until it is told to stop.

    options.py  the command line
    run.py      options -> the way to the API server -> serve

`ready` goes to standard output once the API server knows of it, all else to standard error.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Parse the options first; they import the rest only if they make sense."""
    from fluxnetes.cli.webhook.options import app

    try:
        app(list(arguments), prog_name="fluxnetes webhook")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
