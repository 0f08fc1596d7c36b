"""Jobspecs: a job's request for resources, as values, and their parser (RFC 14, RFC 25).

    text --document--> plain values --parse, fields, constraint--> Jobspec

- `model`: the values: `Jobspec`, `Resource`, `Count`, `Task`
- `constraint`: the nodes that a job may use, as values and their parser (RFC 31)
- `parse`: text, or a decoded document, to a `Jobspec`
- `document`: YAML or JSON text to plain values, with limits on size, depth and repetition
- `fields`: typed readers for the single values of a decoded document
- `build`: functions that build a `Jobspec` in one Python expression
- `errors`: `JobspecError`, which names the key, what was found and what is allowed

The values need nothing but the standard library and `notation`. The parser needs a YAML library, so
it is imported at the first use of `parse_jobspec` or `jobspec_from_document`.
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
