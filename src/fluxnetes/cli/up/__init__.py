"""`fluxnetes up`: a local control plane with Fluxnetes in it, or Fluxnetes for an existing cluster.

    options     the command line
    run         options -> local or attached -> exit status
    local       a control plane on this machine, and all of Fluxnetes
    attached    the controller, and perhaps the webhook, for an existing cluster
    services    Postgres, controller and webhook: started, watched, stopped
    supervisor  starts a program that ended again
    waiting     waits for Ctrl-C, or until a program that cannot be started again has ended
    folder      the files of one `fluxnetes up`
    show        texts and progress on the terminal
    demo/       a small workload, and the queue while it runs

    folder ──▶ control plane ──▶ services (webhook, Postgres, controller) ──▶ demo ──▶ wait ──▶ stop

How to use the cluster (its kubeconfig) and the demo go to standard output, progress and errors to
standard error.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Parse the options; the rest is imported only if they are valid."""
    from fluxnetes.cli.options import run_app
    from fluxnetes.cli.up.options import app

    return run_app(app, "up", arguments)
