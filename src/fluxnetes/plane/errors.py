"""The errors of the control plane.

PlaneError
  PlaneFailed         it cannot be built, started or waited for; the message names the next step
  RequestRefused      its API server refused a request
"""

from __future__ import annotations


class PlaneError(Exception):
    """Any error of the control plane."""


class PlaneFailed(PlaneError):  # noqa: N818 - reads better where it is raised and caught
    """The control plane is not available."""


class RequestRefused(PlaneError):  # noqa: N818
    """The API server refused a request."""

    def __init__(self, request: str, status: int, reason: str, message: str) -> None:
        super().__init__(f"{request}: {status} {reason}: {message}")
        self.status = status
        self.reason = reason
        """One word, such as NotFound or AlreadyExists."""
