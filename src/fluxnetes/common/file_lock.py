"""Locks on files, for processes of one machine; the kernel releases them however a process ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for the exclusive lock, and hold it inside the `with` block."""
    lock = FileLock(path)
    fcntl.flock(lock.fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        lock.close()


class FileLock:
    """A lock on a file, exclusive or shared; closing it releases it.

    The lock belongs to the open file: a process that inherits `fd` holds it too, and it is
    released only when the last holder has closed the file or ended.
    """

    def __init__(self, path: Path) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def share(self) -> None:
        """Wait for the shared lock; an exclusive one that is held becomes shared."""
        fcntl.flock(self.fd, fcntl.LOCK_SH)

    def try_alone(self) -> bool:
        """Take the exclusive lock without waiting; false if another process holds the lock."""
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        os.close(self.fd)
