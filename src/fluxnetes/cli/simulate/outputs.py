"""Writes results to files; `-` is standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from fluxnetes.simulate.errors import SimulationError

OUTPUT = Path("-")
"""The name that stands for standard output."""


def check_outputs(files: Iterable[Path | None]) -> None:
    """Refuse names that cannot be written, before a long simulation rather than after it."""
    for file in files:
        if file is None or file == OUTPUT:
            continue
        if file.is_dir():
            raise SimulationError(f"can't write to {file}: it is a directory")
        if not file.parent.is_dir():
            raise SimulationError(f"can't write to {file}: there is no directory {file.parent}")


def write_file(file: Path, content: bytes) -> None:
    if file == OUTPUT:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        file.write_bytes(content)
    except OSError as error:
        raise SimulationError(f"can't write to {file}: {error.strerror}") from None
