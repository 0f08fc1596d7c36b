"""What `bench/service` must show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """What a figure must at least or at most be."""

    case: str
    what: str
    limit: float
    aim: float | None = None
    is_least: bool = False

    def allows(self, found: float) -> bool:
        return found >= self.limit if self.is_least else found <= self.limit


LIMITS = (
    Limit("jobspec", "pairs a second", 500, aim=700, is_least=True),
    Limit("init", "seconds", 5),
)


def show_limits(found: Mapping[str, float]) -> bool:
    """Print how far each is kept; whether all are, of what was measured."""
    judged = [(limit, found[limit.case]) for limit in LIMITS if limit.case in found]
    for limit, figure in judged:
        word = "at least" if limit.is_least else "at most"
        aim = f", aim {limit.aim:g}" if limit.aim else ""
        verdict = "kept" if limit.allows(figure) else "NOT KEPT"
        print(f"{limit.case}: {figure:.4g} {limit.what}, {word} {limit.limit:g}{aim}: {verdict}")
    return all(limit.allows(figure) for limit, figure in judged)
