"""A footprint: what one pod takes of a node, and which nodes it may use.

Two pods with the same footprint have the same shape: for the queue they are interchangeable.
"""

from __future__ import annotations

from dataclasses import dataclass

from fluxnetes.jobspec.constraint import Properties
from fluxnetes.match.gang.model import Shape


@dataclass(frozen=True, slots=True)
class Footprint:
    """Amounts by type, and the name of the rule that accepts nodes (see `node_rules`)."""

    amounts: tuple[tuple[str, int], ...]
    rule: str

    def shape(self, count: int) -> Shape:
        """`count` pods of this footprint."""
        return Shape(count, self.amounts, Properties((self.rule,)))

    @classmethod
    def of(cls, shape: Shape) -> Footprint:
        """The footprint of a shape, for a job that was loaded from the store."""
        constraint = shape.constraint
        rule = constraint.require[0] if isinstance(constraint, Properties) else ""
        return cls(shape.amounts, rule)
