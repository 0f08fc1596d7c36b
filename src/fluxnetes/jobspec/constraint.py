"""Constraints on the nodes that a job may use (RFC 31): values, their predicates and their parser.

A constraint is a small tree of frozen values. Leaves are predicates on one node: its properties,
its name, its rank. Inner values combine them. `{}` matches every node; it is `None` at the top and
`And(())` inside.

    {"and": [{"properties": ["gpu", "^old"]}, {"not": [{"hostlist": ["node[0-3]"]}]}]}

Constraints are hashable: the matcher caches the nodes that each one allows.

The reference accepts a property in YAML only in quotes, to exclude numbers. An example of RFC 14
has no quotes, so here any text is accepted, and numbers are rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, TypeVar

from fluxnetes.jobspec.errors import JobspecError, child_path, describe
from fluxnetes.jobspec.fields import sequence, text
from fluxnetes.notation.hostlist import decode_hostlist
from fluxnetes.notation.idset import decode_idset

_OPERATORS = ("properties", "hostlist", "ranks", "and", "or", "not")
_FORBIDDEN = frozenset("!&'\"^`|()")
"""Characters that RFC 31 forbids in the name of a property."""
_MAX_DEPTH = 64
"""Maximum nesting of operators, because parsing and evaluation recurse."""

MAX_TERMS = 1000
"""Maximum operators and properties of one constraint: each is compared with every node."""
MAX_NAMES = 2**17
"""Maximum hosts and ranks that one constraint names: a short text can name very many, and each is
kept as long as its jobspec."""

_Item = TypeVar("_Item", str, int)
HasProperty: TypeAlias = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Properties:
    """The node has every property of `require` and none of `forbid`."""

    require: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()

    def matches(self, name: str, rank: int, has_property: HasProperty) -> bool:
        return all(map(has_property, self.require)) and not any(map(has_property, self.forbid))


@dataclass(frozen=True, slots=True)
class Hostlist:
    """The node is one of these, by name."""

    hosts: frozenset[str]

    def matches(self, name: str, rank: int, has_property: HasProperty) -> bool:
        return name in self.hosts


@dataclass(frozen=True, slots=True)
class Ranks:
    """The node is one of these, by rank."""

    ranks: frozenset[int]

    def matches(self, name: str, rank: int, has_property: HasProperty) -> bool:
        return rank in self.ranks


@dataclass(frozen=True, slots=True)
class And:
    """Every part matches; without parts, every node does."""

    of: tuple[Constraint, ...] = ()

    def matches(self, name: str, rank: int, has_property: HasProperty) -> bool:
        return all(part.matches(name, rank, has_property) for part in self.of)


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part matches; without parts, no node does."""

    of: tuple[Constraint, ...] = ()

    def matches(self, name: str, rank: int, has_property: HasProperty) -> bool:
        return any(part.matches(name, rank, has_property) for part in self.of)


@dataclass(frozen=True, slots=True)
class Not:
    """At least one part does not match: the negation of `And`, not of `Or`."""

    of: tuple[Constraint, ...] = ()

    def matches(self, name: str, rank: int, has_property: HasProperty) -> bool:
        return not all(part.matches(name, rank, has_property) for part in self.of)


Constraint: TypeAlias = Properties | Hostlist | Ranks | And | Or | Not


def parse_constraint(
    document: object, path: str = "constraints", max_names: int = MAX_NAMES
) -> Constraint | None:
    """The constraint in a decoded document; None for `{}`, which allows every node."""
    return None if document == {} else _ConstraintReader(max_names).read(document, path, 1)


class _ConstraintReader:
    """Reads one constraint, counting on the way what its evaluation will cost."""

    def __init__(self, max_names: int) -> None:
        self._terms = 0
        self._names = 0
        self._max_names = max_names

    def read(self, document: object, path: str, depth: int) -> Constraint:
        if not isinstance(document, dict):
            allowed = f"a mapping with one of the keys {', '.join(_OPERATORS)}"
            raise JobspecError(path, describe(document), allowed)
        if len(document) > 1:
            raise JobspecError(
                path, f"{len(document)} operators", "one (combine with and, or, not)"
            )
        if depth > _MAX_DEPTH:
            raise JobspecError(path, "another level of constraints", f"at most {_MAX_DEPTH} levels")
        self._count_terms(1, path)
        for operator, operands in document.items():
            return self._operator(operator, operands, path, depth)
        return And()

    def _operator(self, operator: object, operands: object, path: str, depth: int) -> Constraint:
        if operator not in _OPERATORS:
            name = operator if isinstance(operator, str) else describe(operator)
            allowed = f"one of {', '.join(_OPERATORS)}"
            raise JobspecError(child_path(path, name), "an unknown operator", allowed)
        path = f"{path}.{operator}"
        of = "constraints" if operator in ("and", "or", "not") else "text"
        values = sequence(operands, path, of)
        match operator:
            case "properties":
                self._count_terms(len(values), path)
                return _properties(values, path)
            case "hostlist":
                hosts = self._notation(decode_hostlist, values, path, "a hostlist (RFC 29)")
                return Hostlist(hosts)
            case "ranks":
                allowed = "an idset (RFC 22), ascending"
                return Ranks(self._notation(_decode_ranks, values, path, allowed))
        parts = tuple(self.read(part, f"{path}[{i}]", depth + 1) for i, part in enumerate(values))
        return And(parts) if operator == "and" else Or(parts) if operator == "or" else Not(parts)

    def _notation(
        self,
        decode: Callable[[str, int], list[_Item]],
        values: list[object],
        path: str,
        allowed: str,
    ) -> frozenset[_Item]:
        items: set[_Item] = set()
        for index, value in enumerate(values):
            where = f"{path}[{index}]"
            written = text(value, where, allowed)
            try:
                found = decode(written, self._max_names)
            except ValueError as error:
                raise JobspecError(where, f"{describe(value)} ({error})", allowed) from None
            self._names += len(found)
            if self._names > self._max_names:
                raise JobspecError(where, "too many nodes", f"at most {self._max_names} in all")
            items.update(found)
        return frozenset(items)

    def _count_terms(self, more: int, path: str) -> None:
        self._terms += more
        if self._terms > MAX_TERMS:
            found = "too many operators and properties"
            raise JobspecError(path, found, f"at most {MAX_TERMS} in all")


def _properties(values: list[object], path: str) -> Properties:
    require: list[str] = []
    forbid: list[str] = []
    for index, value in enumerate(values):
        allowed = "a property, as text (in quotes if it looks like a number)"
        if not isinstance(value, str):
            raise JobspecError(f"{path}[{index}]", describe(value), allowed)
        name = value.removeprefix("^")
        if not _FORBIDDEN.isdisjoint(name):
            allowed = "a property without the characters ! & ' \" ^ ` | ( ) after the first ^"
            raise JobspecError(f"{path}[{index}]", describe(value), allowed)
        (require if name == value else forbid).append(name)
    return Properties(tuple(require), tuple(forbid))


def _decode_ranks(written: str, most: int) -> list[int]:
    ranks = decode_idset(written, most)
    bounds = [int(number) for number in re.findall(r"[0-9]+", written)]
    if any(low >= high for low, high in pairwise(bounds)):
        raise ValueError("its numbers do not ascend")
    return ranks
