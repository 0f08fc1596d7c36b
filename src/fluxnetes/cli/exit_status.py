"""The exit statuses of subcommands that end early."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130
"""After Ctrl-C, as a shell reports it."""


def closed_output() -> int:
    """The status when the reader of standard output has closed the pipe.

    Keeps the interpreter from reporting the closed pipe again at its exit.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
