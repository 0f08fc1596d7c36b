"""What a job asks for: jobspecs as values, and their reader.

    model        the values: Jobspec, Resource, Count, Task
    constraint   which nodes a job may use (RFC 31)
    parse        text -> Jobspec            (over `document`: text -> values, `fields`: one value)
    build        Jobspecs in one line
    errors       what is wrong with a jobspec, and where

The reader needs a YAML parser, so it is imported only when someone reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fluxnetes.jobspec.constraint import Constraint, parse_constraint
from fluxnetes.jobspec.errors import JobspecError
from fluxnetes.jobspec.model import Count, Jobspec, Resource, Task

if TYPE_CHECKING:
    from fluxnetes.jobspec.parse import jobspec_from_document, parse_jobspec

__all__ = [
    "Constraint",
    "Count",
    "Jobspec",
    "JobspecError",
    "Resource",
    "Task",
    "jobspec_from_document",
    "parse_constraint",
    "parse_jobspec",
]


def __getattr__(name: str) -> Any:
    if name in ("parse_jobspec", "jobspec_from_document"):
        from fluxnetes.jobspec import parse

        return getattr(parse, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
