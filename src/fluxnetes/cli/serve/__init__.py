"""`fluxnetes serve`: the matcher, or a queue, as a gRPC service.

    options  the command line
    run      options -> graph, store -> a matcher's backend -> serve until a signal
    queue    the same for --queue: a scheduler in a thread of its own
    setup    reading --graph, opening the store and taking its lease

`serving` and the address go to standard output once calls are accepted, logs and errors to
standard error.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Parse the options; the rest is imported only if they are valid."""
    from fluxnetes.cli.options import run_app
    from fluxnetes.cli.serve.options import app

    return run_app(app, "serve", arguments, "FLUXNETES_SERVE")
