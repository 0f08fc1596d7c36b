"""Waiting for Ctrl-C, or for a part that ends by itself."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

Ended: TypeAlias = Mapping[Path, int]
"""Programs that ended: the log and the status of each. The log has the program's name."""

_LOOK_EVERY = 0.5


def wait(ended: Callable[[], Ended]) -> Ended:
    """Until Ctrl-C, or until a part has ended: then which."""
    wanted = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    try:
        while signal.sigtimedwait(wanted, _LOOK_EVERY) is None:
            if found := ended():
                return found
        return {}
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, wanted)


def complain(ended: Ended) -> int:
    """Say which parts ended; the exit status."""
    for log, status in ended.items():
        sys.stderr.write(f"fluxnetes up: {log.stem} ended (status {status}), so all were stopped; ")
        sys.stderr.write(f"see {log}\n")
    return 1 if ended else 0
