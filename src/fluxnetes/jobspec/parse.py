"""Parses a jobspec by the rules of the reference.

    text --decode_document--> plain values --jobspec_from_document--> Jobspec

The reference's parser defines what is a valid jobspec (RFC 14 allows more, RFC 25 less): exactly
the four keys at the top, known keys below, a label on every slot. What is opaque to a scheduler
(`attributes.user`, most of `attributes.system`) is kept unchanged. Whether a graph has the types
that a jobspec names is not checked here.

In three places the reference accepts silently what is an error here: an unknown key in a count or a
task (a misspelt `max` would request everything), a task count that is not a number, and a `system`
or `environment` that is not a mapping.
"""

from __future__ import annotations

from typing import Any

from fluxnetes.jobspec.constraint import MAX_NAMES, Constraint, parse_constraint
from fluxnetes.jobspec.document import check_document, decode_document
from fluxnetes.jobspec.errors import JobspecError, child_path, describe
from fluxnetes.jobspec.fields import MappingKeys, boolean, integer, mapping, seconds, sequence, text
from fluxnetes.jobspec.model import MAX_RESOURCES, SLOT, UINT_MAX, Count, Jobspec, Resource, Task

_INT_MAX = 2**31 - 1

_TOP = MappingKeys(("version", "resources", "tasks", "attributes"))
_RESOURCE = MappingKeys(("type", "count"), ("unit", "exclusive", "with", "label", "id"))
_RANGE = MappingKeys(("min",), ("max", "operator", "operand"))
_TASK = MappingKeys(("command", "slot"), ("count", "distribution", "attributes"))
_ATTRIBUTES = MappingKeys((), ("user", "system"))

_LEAST_OPERAND = {"+": 1, "*": 2, "^": 2}
_COUNT = f"an integer from 0 to {UINT_MAX}, or a mapping with min, max, operator and operand"


def parse_jobspec(source: str | bytes, max_names: int = MAX_NAMES) -> Jobspec:
    """The jobspec in a YAML or JSON text; an error if its constraint names too many nodes."""
    return jobspec_from_document(decode_document(source), max_names)


def jobspec_from_document(document: object, max_names: int = MAX_NAMES) -> Jobspec:
    """The jobspec in a YAML or JSON document that is decoded already."""
    check_document(document)
    top = mapping(document, "", _TOP)
    version = integer(top["version"], "version", 1, 9999)
    attributes = _attributes(top["attributes"])
    system = attributes.get("system") or {}
    return Jobspec(
        resources=_ResourceReader().read_list(top["resources"], "resources"),
        tasks=_tasks(top["tasks"]),
        duration=_duration(system),
        queue=_queue(system),
        constraint=_constraint(system, max_names),
        version=version,
        attributes=attributes,
    )


class _ResourceReader:
    """Reads the resource section, counting its entries on the way."""

    def __init__(self) -> None:
        self._entries = 0

    def read_list(self, value: object, path: str) -> tuple[Resource, ...]:
        entries = sequence(value, path, "resources")
        self._entries += len(entries)
        if self._entries > MAX_RESOURCES:
            raise JobspecError(path, "too many resources", f"at most {MAX_RESOURCES} in all")
        return tuple([self._read(entry, f"{path}[{i}]") for i, entry in enumerate(entries)])

    def _read(self, value: object, path: str) -> Resource:
        entry = mapping(value, path, _RESOURCE)
        kind = text(entry["type"], f"{path}.type")
        if kind == SLOT and "label" not in entry:
            raise JobspecError(f"{path}.label", "nothing", "a label, which every slot needs")
        return Resource(
            type=kind,
            count=_count(entry["count"], f"{path}.count"),
            children=self.read_list(entry["with"], f"{path}.with") if "with" in entry else (),
            exclusive=_exclusive(entry, path),
            label=_optional_text(entry, "label", path),
            unit=_optional_text(entry, "unit", path),
            id=_optional_text(entry, "id", path),
        )


def _exclusive(entry: dict[str, Any], path: str) -> bool | None:
    return boolean(entry["exclusive"], f"{path}.exclusive") if "exclusive" in entry else None


def _optional_text(entry: dict[str, Any], key: str, path: str) -> str | None:
    return text(entry[key], f"{path}.{key}") if key in entry else None


def _count(value: object, path: str) -> Count:
    if isinstance(value, dict):
        return _count_range(value, path)
    number = integer(value, path, 0, UINT_MAX, _COUNT)
    return Count(number, number)


def _count_range(value: object, path: str) -> Count:
    entry = mapping(value, path, _RANGE)
    if len(entry) == 1:
        return Count(_least(entry, path, 1), UINT_MAX)
    for key in _RANGE.optional:
        if key not in entry:
            allowed = "max, operator and operand together, or none of them"
            raise JobspecError(f"{path}.{key}", "nothing", allowed)
    operator = entry["operator"]
    if not isinstance(operator, str) or operator not in _LEAST_OPERAND:
        raise JobspecError(f"{path}.operator", describe(operator), "one of '+', '*', '^'")
    least = _least(entry, path, 2 if operator == "^" else 1)
    most = integer(entry["max"], f"{path}.max", least, UINT_MAX)
    operand = integer(entry["operand"], f"{path}.operand", _LEAST_OPERAND[operator], _INT_MAX)
    return Count(least, most, operator, operand)


def _least(entry: dict[str, Any], path: str, least: int) -> int:
    return integer(entry["min"], f"{path}.min", least, UINT_MAX, f"an integer of at least {least}")


def _tasks(value: object) -> tuple[Task, ...]:
    tasks = sequence(value, "tasks", "tasks")
    return tuple([_task(task, f"tasks[{i}]") for i, task in enumerate(tasks)])


def _task(value: object, path: str) -> Task:
    entry = mapping(value, path, _TASK)
    if len(entry) < 3:
        raise JobspecError(f"{path}.count", "nothing", "a count, a distribution or attributes")
    command = sequence(entry["command"], f"{path}.command", "arguments")
    return Task(
        command=tuple([text(word, f"{path}.command[{i}]") for i, word in enumerate(command)]),
        slot=text(entry["slot"], f"{path}.slot"),
        count=_task_count(entry["count"], f"{path}.count") if "count" in entry else {},
        distribution=_optional_text(entry, "distribution", path),
        attributes=_task_attributes(entry, path),
    )


def _task_count(value: object, path: str) -> dict[str, int]:
    entry = mapping(value, path)
    if len(entry) != 1:
        raise JobspecError(path, describe(value), "a mapping of one, such as per_slot: 1")
    return {
        key: integer(number, child_path(path, key), 0, UINT_MAX) for key, number in entry.items()
    }


def _task_attributes(entry: dict[str, Any], path: str) -> dict[str, Any] | None:
    if "attributes" not in entry:
        return None
    return _scalars(entry["attributes"], f"{path}.attributes")


def _attributes(value: object) -> dict[str, Any]:
    """The whole section; empty when it is `null`."""
    if value is None:
        return {}
    attributes = mapping(value, "attributes", _ATTRIBUTES)
    system = attributes.get("system")
    if system is not None:
        _check_system(mapping(system, "attributes.system"))
    return attributes


def _check_system(system: dict[str, Any]) -> None:
    if system.get("cwd") is not None:
        text(system["cwd"], "attributes.system.cwd")
    if system.get("environment") is not None:
        _scalars(system["environment"], "attributes.system.environment")


def _scalars(value: object, path: str) -> dict[str, Any]:
    """A mapping of names to scalars."""
    entry = mapping(value, path)
    for key, scalar in entry.items():
        if not isinstance(scalar, str | None):
            text(scalar, child_path(path, key))
    return entry


def _duration(system: dict[str, Any]) -> float:
    if "duration" not in system:
        return 0.0
    return seconds(system["duration"], "attributes.system.duration")


def _queue(system: dict[str, Any]) -> str | None:
    if system.get("queue") is None:
        return None
    return text(system["queue"], "attributes.system.queue", "the name of a queue") or None


def _constraint(system: dict[str, Any], max_names: int) -> Constraint | None:
    if "constraints" not in system:
        return None
    path = "attributes.system.constraints"
    return parse_constraint(system["constraints"], path, max_names)
