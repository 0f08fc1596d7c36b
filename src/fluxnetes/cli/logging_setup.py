"""Sets up the log of a long-running subcommand, on standard error."""

from __future__ import annotations

import logging
import sys

_LEVELS = ("debug", "info", "warning", "error")


def set_up_logging(level: str) -> None:
    """Log from this level of --log-level on. Raises ValueError for any other word."""
    if level.lower() not in _LEVELS:
        raise ValueError(f"--log-level {level}: expected one of {', '.join(_LEVELS)}")
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=level.upper(), format=form, stream=sys.stderr)
