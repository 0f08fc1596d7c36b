"""What can go wrong with a control plane.

    PlaneFailed           it cannot be had, started or stopped; the words say what to do
    RequestRefused        its API server answered, and the answer is no
"""

from __future__ import annotations


class PlaneFailed(Exception):
    """There is no control plane, and why."""


class RequestRefused(Exception):
    """The API server said no."""

    def __init__(self, asked: str, status: int, reason: str, message: str) -> None:
        super().__init__(f"{asked}: {status} {reason}: {message}")
        self.status = status
        self.reason = reason
        """One word, such as NotFound or AlreadyExists."""
