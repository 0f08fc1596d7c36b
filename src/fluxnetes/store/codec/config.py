"""Encodes the configuration of the queues as JSON, and decodes it without loss.

    {"queues": [{"name": "batch", "policy": "hybrid", "per_user": {"running": 8}}],
     "fair_share": {"users": [["lab", "ada", 2.0]]}}

Defaults are left out. A policy is written by its name, a share of a user as a list of namespace,
name and share, and a number that JSON cannot express as text: "inf".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar

from fluxnetes.jobspec.constraint import And, Hostlist, Not, Or, Properties, Ranks
from fluxnetes.queue.config import (
    BackfillPolicy,
    BudgetConfig,
    FairShare,
    LimitConfig,
    PriorityWeights,
    QueueConfig,
    SchedulerConfig,
    UnsatisfiablePolicy,
)
from fluxnetes.store.codec.requests import read_constraint, to_json, write_constraint
from fluxnetes.store.errors import UnreadableStore

_CONSTRAINTS = (And, Or, Not, Properties, Hostlist, Ranks)
_CHOICES: Mapping[str, type[Enum]] = {
    "policy": BackfillPolicy,
    "unsatisfiable": UnsatisfiablePolicy,
}
_CAPS = ("cap", "per_user", "per_namespace")

Found = dict[str, Any]
T = TypeVar("T")


def encode_config(config: SchedulerConfig) -> str:
    """The configuration as JSON text."""
    return to_json(_write(config))


def decode_config(text: str) -> SchedulerConfig:
    """The configuration that `encode_config` wrote; `UnreadableStore` if this version cannot."""
    found = _checked(json.loads(text), SchedulerConfig, "config")
    _change(found, "queues", lambda given: _each(given, _read_queue, "config.queues"))
    _change(found, "weights", _read_weights)
    _change(found, "fair_share", _read_fair_share)
    _change(found, "charge", _read_numbers)
    _change(found, "budgets", lambda given: _each(given, _read_budget, "config.budgets"))
    return SchedulerConfig(**found)


def _write(value: Any) -> Any:
    if isinstance(value, _CONSTRAINTS):
        return write_constraint(value)
    if is_dataclass(value):
        return dict(_write_fields(value))
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return _write_mapping(value)
    if isinstance(value, tuple):
        return [_write(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _write_fields(value: Any) -> Iterator[tuple[str, Any]]:
    """The fields whose JSON differs from that of their defaults: 0 and 0.0 are not alike."""
    for each in fields(value):
        default = each.default_factory() if each.default_factory is not MISSING else each.default
        content = _write(getattr(value, each.name))
        if default is MISSING or to_json(content) != to_json(_write(default)):
            yield each.name, content


def _write_mapping(value: Mapping[Any, Any]) -> Any:
    if any(isinstance(key, tuple) for key in value):
        return [[*key, _write(content)] for key, content in value.items()]
    return {key: _write(content) for key, content in value.items()}


def _read_queue(given: Any, path: str) -> QueueConfig:
    found = _checked(given, QueueConfig, path)
    for key, kind in _CHOICES.items():
        if key in found:
            found[key] = _read_choice(found[key], kind, f"{path}.{key}")
    _change(found, "constraint", read_constraint)
    for cap in _CAPS:
        if cap in found:
            found[cap] = LimitConfig(**_checked(found[cap], LimitConfig, f"{path}.{cap}"))
    return QueueConfig(**found)


def _read_choice(name: Any, kind: type[Enum], path: str) -> Enum:
    names = [choice.value for choice in kind]
    if name not in names:
        raise UnreadableStore(f"{path}: found {name!r}, expected one of {', '.join(names)}")
    return kind(name)


def _read_weights(given: Any) -> PriorityWeights:
    return PriorityWeights(**_read_numbers(_checked(given, PriorityWeights, "config.weights")))


def _read_fair_share(given: Any) -> FairShare:
    found = _checked(given, FairShare, "config.fair_share")
    _change(found, "namespaces", _read_numbers)
    _change(found, "users", lambda users: {(n, u): _number(share) for n, u, share in users})
    return FairShare(**found)


def _read_budget(given: Any, path: str) -> BudgetConfig:
    found = _checked(given, BudgetConfig, path)
    found["amount"] = _number(found["amount"])
    return BudgetConfig(**found)


def _each(given: list[Any], read: Callable[[Any, str], T], path: str) -> tuple[T, ...]:
    return tuple(read(each, f"{path}[{number}]") for number, each in enumerate(given))


def _change(found: Found, key: str, read: Callable[[Any], object]) -> None:
    if key in found:
        found[key] = read(found[key])


def _read_numbers(found: Found) -> Found:
    return {key: _number(value) for key, value in found.items()}


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, str) else value


def _checked(found: Any, kind: type, path: str) -> Found:
    """The document, if all of its keys are fields of the kind and no required one is missing.

    An unknown key has a meaning for the version that wrote it; ignoring it would run the queue with
    another configuration.
    """
    names = {each.name for each in fields(kind)}
    for key in found:
        if key not in names:
            raise UnreadableStore(
                f"{path}.{key}: this version of Fluxnetes has no such setting; it has "
                f"{', '.join(sorted(names))}. Run the version that wrote it"
            )
    for each in fields(kind):
        if each.default is MISSING and each.default_factory is MISSING and each.name not in found:
            raise UnreadableStore(f"{path}.{each.name}: expected a value, found none")
    return dict(found)
