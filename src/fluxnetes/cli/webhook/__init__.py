"""`fluxnetes webhook`: the admission server, as a process.

    options  the command line
    run      options -> API server, certificates, socket -> serve until a signal

`ready` goes to standard output once the webhook is registered, the log to standard error.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Parse the options; the rest is imported only if they are valid."""
    from fluxnetes.cli.options import run_app
    from fluxnetes.cli.webhook.options import app

    return run_app(app, "webhook", arguments)
