"""Waits for Ctrl-C, or until a program that cannot be started again has ended."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

Ended: TypeAlias = Mapping[Path, int]
"""The log and the exit status of programs that ended for good. A log has its program's name."""

_LOOK_EVERY = 0.5
"""Seconds between checks whether a program has ended."""


def wait(failed: Callable[[], Ended]) -> Ended:
    """Wait until Ctrl-C, or until a program has failed for good; returns those that have.

    `failed` is called twice a second, and starts other programs again.
    """
    wanted = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    try:
        while signal.sigtimedwait(wanted, _LOOK_EVERY) is None:
            if found := failed():
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
