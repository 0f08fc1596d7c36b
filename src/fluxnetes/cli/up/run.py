"""From options to a control plane that runs until it is told to stop, or a part of it ends."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from types import FrameType

from fluxnetes.cli.up.options import Options
from fluxnetes.cli.up.show import building, say, tell_how_to_use
from fluxnetes.plane.binaries import find_binaries
from fluxnetes.plane.errors import PlaneFailed
from fluxnetes.plane.plane import ControlPlane
from fluxnetes.store.places import default_folder

INTERRUPTED = 130
_LOOK_EVERY = 0.5


def run(options: Options) -> int:
    """Start, wait, stop. Returns the exit status."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _run(options.folder or default_folder() / "plane", options.nodes)
    except PlaneFailed as error:
        sys.stderr.write(f"fluxnetes up: {error}\n")
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(folder: Path, nodes: int) -> int:
    with building() as progress:
        binaries = find_binaries(progress)
    with ControlPlane(folder, nodes, binaries=binaries, say=say) as plane:
        tell_how_to_use(plane)
        ended = _wait(plane)
        say("stopping")
    for name, status in ended.items():
        sys.stderr.write(f"fluxnetes up: {name} ended (status {status}), so all were stopped; ")
        sys.stderr.write(f"see {plane.places.log(name)}\n")
    return 1 if ended else 0


def _wait(plane: ControlPlane) -> dict[str, int]:
    """Until Ctrl-C, or until a part has ended: then which."""
    wanted = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    try:
        while signal.sigtimedwait(wanted, _LOOK_EVERY) is None:
            if ended := plane.ended():
                return ended
        return {}
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, wanted)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
