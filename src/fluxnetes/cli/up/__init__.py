"""`fluxnetes up`: our scheduler on a Kubernetes of your own, until Ctrl-C.

    options.py    the command line
    run.py        options -> one of the two below -> wait -> stop
      local.py    a control plane on this machine, with all that belongs to it
      attached.py a cluster that exists already, and that we were told to use
    waiting.py    until Ctrl-C, or until a part ends by itself
    services.py   Postgres, controller and webhook: started, watched, stopped
    folder.py     what is kept where
    show.py       what is said meanwhile
    demo/         a small workload, and the queue while it runs

What to use (the kubeconfig) and the demo go to standard output, progress and complaints to standard
error.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Parse the options first; they import the rest only if they make sense."""
    from fluxnetes.cli.up.options import app

    try:
        app(list(arguments), prog_name="fluxnetes up")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
