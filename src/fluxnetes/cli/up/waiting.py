"""Waits for Ctrl-C, or until a program ends by itself."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

Ended: TypeAlias = Mapping[Path, int]
"""Programs that ended: the log and the exit status of each. The log has the program's name."""

_LOOK_EVERY = 0.5
"""Seconds between checks whether a program has ended."""


def wait(ended: Callable[[], Ended]) -> Ended:
    """Wait until Ctrl-C, or until a program has ended; returns those that have."""
    wanted = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    try:
        while signal.sigtimedwait(wanted, _LOOK_EVERY) is None:
            if found := ended():
                return found
        return {}
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, wanted)


def report_ended(ended: Ended) -> int:
    """Write which programs ended; returns the exit status."""
    for log, status in ended.items():
        sys.stderr.write(
            f"fluxnetes up: {log.stem} ended (status {status}), so all programs were stopped; "
        )
        sys.stderr.write(f"see {log}\n")
    return 1 if ended else 0
