"""The errors that the matcher raises.

    MatchError              the operation cannot be executed
    ├── UnknownMatchJob     no such job, or it holds nothing any more
    └── UnknownPath         no such vertex

A match that finds nothing is not an error: it is an `Answer`.
"""

from __future__ import annotations


class MatchError(ValueError):
    """The matcher cannot execute an operation."""


class UnknownMatchJob(MatchError):  # noqa: N818 - reads better where it is raised and caught
    """No job with that id holds resources."""


class UnknownPath(MatchError):  # noqa: N818 - as above
    """There is no vertex at that path."""
