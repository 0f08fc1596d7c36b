"""Commands of the documentation, run by a shell as a reader would type them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run_shell(command: str, folder: Path, **environment: str) -> str:
    """What the command shows, on both streams, if it is run in this folder; it may fail."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        check=False,
    )
    return done.stdout
