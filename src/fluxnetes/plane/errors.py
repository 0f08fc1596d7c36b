"""What can go wrong with a control plane.

PlaneError
  PlaneFailed         it cannot be had, started or waited for; the words say what to do
  RequestRefused      its API server answered, and the answer is no
"""

from __future__ import annotations


class PlaneError(Exception):
    """Whatever it is, it is about the control plane."""


class PlaneFailed(PlaneError):  # noqa: N818 - reads better where it is raised and caught
    """There is no control plane, and why."""


class RequestRefused(PlaneError):  # noqa: N818
    """The API server said no."""

    def __init__(self, asked: str, status: int, reason: str, message: str) -> None:
        super().__init__(f"{asked}: {status} {reason}: {message}")
        self.status = status
        self.reason = reason
        """One word, such as NotFound or AlreadyExists."""
