"""Notes on standard error about options that have a new name; the old name still works."""

from __future__ import annotations

import sys


def note_deprecated(command: str, old: str, new: str) -> None:
    """Say once that an option, or a word of one, has a new name."""
    sys.stderr.write(f"fluxnetes {command}: {old} is deprecated; use {new}\n")
