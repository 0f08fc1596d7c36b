"""Runs `fluxnetes up`: local or attached, and errors to an exit status."""

from __future__ import annotations

import signal
import sys
from types import FrameType

from fluxnetes.cli.exit_status import INTERRUPTED
from fluxnetes.cli.up.attached import attach
from fluxnetes.cli.up.local import run_local
from fluxnetes.cli.up.options import UpOptions
from fluxnetes.kube.errors import KubeError
from fluxnetes.plane.errors import PlaneFailed
from fluxnetes.store.errors import StoreError


def run(options: UpOptions) -> int:
    """Start, wait, stop. Returns the exit status."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return run_local(options) if options.kubeconfig is None else attach(options)
    except (PlaneFailed, KubeError) as error:
        sys.stderr.write(f"fluxnetes up: {error}\n")
    except StoreError as error:
        sys.stderr.write(f"fluxnetes up: {error}\nUse --folder to choose another folder.\n")
    except KeyboardInterrupt:
        return INTERRUPTED
    return 1


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
