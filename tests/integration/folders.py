"""Folders for servers that run as another account than the tests."""

from __future__ import annotations

import tempfile
from pathlib import Path


def reachable_folder(prefix: str = "fluxnetes-test-") -> Path:
    """A new folder that the account of Postgres can reach.

    If root runs the tests, Postgres runs as another account, which cannot open pytest's folders.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    folder.chmod(0o711)
    return folder
