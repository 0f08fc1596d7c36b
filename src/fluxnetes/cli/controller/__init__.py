"""`fluxnetes controller`: the scheduler of one cluster, as a process.

    options   the command line
    timeouts  --timeout NAME=SECONDS
    cluster_config  what the configuration file says about the cluster
    config    the file that configures queues (also used by `serve --queue` and `up`)
    run       options -> cluster, store, gRPC server -> terms of leadership

`leading` goes to standard output whenever a term begins, the log to standard error.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Parse the options; the rest is imported only if they are valid."""
    from fluxnetes.cli.controller.options import app
    from fluxnetes.cli.options import run_app

    return run_app(app, "controller", arguments)
