"""What can go wrong when the matcher is told to do something.

    MatchError              the request to the matcher cannot be carried out
    ├── UnknownMatchJob     no such job, or it holds nothing any more
    └── UnknownPath         no such vertex

A match that finds nothing is no error: it is an `Answer`.
"""

from __future__ import annotations


class MatchError(ValueError):
    """The matcher cannot do what it was told."""


class UnknownMatchJob(MatchError):  # noqa: N818 - reads better where it is raised and caught
    """There is no job of that id."""


class UnknownPath(MatchError):  # noqa: N818 - as above
    """There is no vertex at that path."""
