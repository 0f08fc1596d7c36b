"""Locks on files, which the kernel gives back however a process ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until nobody else has the lock, and have it meanwhile."""
    lock = FileLock(path)
    fcntl.flock(lock.fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        lock.close()


class FileLock:
    """A lock on a file, taken alone or shared. Closed, it is free again.

    It is tied to the open file: a process that inherits `fd` has the lock too, and only when the
    last of them is gone is it free.
    """

    def __init__(self, path: Path) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def share(self) -> None:
        fcntl.flock(self.fd, fcntl.LOCK_SH)

    def try_alone(self) -> bool:
        """Take it if nobody else has it; false: somebody has."""
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        os.close(self.fd)
