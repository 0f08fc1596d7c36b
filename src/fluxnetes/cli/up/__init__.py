"""`fluxnetes up`: a Kubernetes of your own, until Ctrl-C.

    options.py  the command line
    run.py      options -> binaries -> control plane -> wait -> stop
    show.py     what is said meanwhile

What to use (the kubeconfig) goes to standard output, progress and complaints to standard error.
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
