"""What one pod takes of a machine, and which machines it may take it from.

Two pods with the same footprint are of the same shape: for the queue they are interchangeable.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.jobspec.constraint import Properties
from fluxnetes.match.gang.model import Shape


@dataclass(frozen=True, slots=True)
class Footprint:
    """Amounts by type, and the name of the rule that says where."""

    amounts: tuple[tuple[str, int], ...]
    rule: str

    def shape(self, count: int) -> Shape:
        """So many pods of this footprint."""
        return Shape(count, self.amounts, Properties((self.rule,)))

    @classmethod
    def of(cls, shape: Shape) -> Footprint:
        """The reverse; for a job that was read from the store."""
        constraint = shape.constraint
        rule = constraint.require[0] if isinstance(constraint, Properties) else ""
        return cls(shape.amounts, rule)
