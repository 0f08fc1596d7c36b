"""What happens in a world: acts that come whatever the queue does, and what becomes of each job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Protocol

from fluxnetes.jobspec.model import Jobspec
from fluxnetes.queue.events import Event


@dataclass(frozen=True)
class Act:
    """Something that happens at a time, whatever the queue does."""

    at: int
    event: Event


@dataclass(frozen=True)
class Fate:
    """What becomes of a job once it starts."""

    runtime: int
    """How long it stays if it is not asked to end; perhaps longer than its walltime."""
    leaves: int = 0
    """How long it needs to leave once it was asked to end."""
    ok: bool = True
    balks: int = 0
    """How many times its start cannot be carried out, and it goes back to the queue."""


@dataclass(frozen=True)
class Script:
    """All that comes, and what becomes of each job."""

    acts: tuple[Act, ...]
    fates: Mapping[int, Fate]

    def __repr__(self) -> str:
        """What is needed to see it happen again, without the defaults."""
        acts = "\n".join(f"  {act.at}: {_brief(act.event)}" for act in self.acts)
        fates = "\n".join(f"  {id}: {_brief(fate)}" for id, fate in self.fates.items())
        return f"Script:\n{acts}\n{fates}"

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        printer.text(repr(self))


class Printer(Protocol):
    """What shows a failing example."""

    def text(self, text: str) -> None: ...


def _brief(value: object) -> str:
    """A data class without the fields that are as always."""
    if isinstance(value, Jobspec):
        return f"whole_nodes({value.resources[0].count.min})"
    if not is_dataclass(value) or isinstance(value, type):
        return repr(value)
    shown = [f for f in fields(value) if f.repr and not _is_default(value, f)]
    parts = (f"{f.name}={_brief(getattr(value, f.name))}" for f in shown)
    return f"{type(value).__name__}({', '.join(parts)})"


def _is_default(value: object, field: Field[object]) -> bool:
    given = getattr(value, field.name)
    if field.default_factory is not MISSING:
        return bool(given == field.default_factory())
    return bool(field.default is not MISSING and given == field.default)
