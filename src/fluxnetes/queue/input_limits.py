"""Rejects events with values that the store cannot persist.

The store would refuse a text with a NUL character or half of a surrogate pair, a name too long for
an index, or a number beyond 2^53, again and again, and with it all decisions of the same step. So
such a value is refused before the event is applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any

from fluxnetes.common.texts import is_storable
from fluxnetes.queue.errors import OutOfBounds

LARGEST = 2**53
"""Largest number in an event: every integer up to it is exact in JSON and in a double."""
LONGEST_NAME = 1024
"""Maximum bytes of a name: an entry of an index takes 2,700 of all its columns together."""

_SUBMISSION = "submission"
_NAMES = (
    *(_SUBMISSION, "queue", "user", "namespace", "name", "workload", "reservation"),
    *("users", "namespaces"),
)
_NAME_FIELDS: dict[type, tuple[str, ...]] = {}
"""Which of those fields each type of value seen so far has."""


def check_bounds(value: object, path: str) -> None:
    """Raise OutOfBounds if a part of a value cannot be persisted; the error names its path."""
    if not _is_within(value):
        _raise_for_first(value, path)


def check_names(value: object, path: str) -> None:
    """Raise OutOfBounds if a name in a value, or in its submission, is too long."""
    kind = type(value)
    found = _NAME_FIELDS.get(kind)
    if found is None:
        names = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
        found = _NAME_FIELDS[kind] = tuple(each for each in _NAMES if each in names)
    for field in found:
        content = getattr(value, field)
        if field == _SUBMISSION:
            check_names(content, f"{path}.{field}")
        elif isinstance(content, str):
            _check_name(content, f"{path}.{field}")
        else:  # several, or none
            for name in content or ():
                _check_name(name, f"{path}.{field}")


def _check_name(name: str, path: str) -> None:
    if 4 * len(name) > LONGEST_NAME and len(name.encode()) > LONGEST_NAME:
        found = f"found {len(name)} characters"
        raise OutOfBounds(path, f"{found}, expected at most {LONGEST_NAME} bytes")


def _is_within(value: object) -> bool:
    """Whether a value can be persisted. A hot path: it is checked for every event."""
    values: list[Any] = [value]
    for each in values:  # the list grows on the way
        kind = type(each)
        if kind is str:
            if not is_storable(each):
                return False
        elif kind is int or kind is float:
            if not -LARGEST <= each <= LARGEST:
                return False
        elif kind is tuple:
            values += each
        elif each is not None and kind is not bool:
            inside = _CONTENTS.get(kind)
            if inside is None:
                inside = _CONTENTS[kind] = _contents_getter(kind)
            values += inside(each)
    return True


_CONTENTS: dict[type, Callable[[Any], Iterable[object]]] = {}
"""How to get the contents of each type of value seen so far."""


def _contents_getter(kind: type) -> Callable[[Any], Iterable[object]]:
    """A getter of the fields of a data class or the items of a collection; nothing for others."""
    if is_dataclass(kind):
        names = [field.name for field in fields(kind)]
        if len(names) > 1:
            return attrgetter(*names)
        return lambda value: [getattr(value, name) for name in names]
    if issubclass(kind, Mapping):
        return lambda value: [*value, *value.values()]
    if issubclass(kind, Iterable):
        return iter
    return lambda value: ()


def _raise_for_first(value: object, path: str) -> None:
    """Raise for the first part of a value that cannot be persisted."""
    if isinstance(value, str):
        if not is_storable(value):
            what = "a NUL character" if "\0" in value else "half of a surrogate pair"
            raise OutOfBounds(path, f"the text contains {what}")
    elif isinstance(value, int | float):
        if not -LARGEST <= value <= LARGEST:
            raise OutOfBounds(path, f"{value} is out of range (at most 2^53)")
    elif is_dataclass(value):
        for field in fields(value):
            _raise_for_first(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _raise_for_first(key, f"{path} key")
            _raise_for_first(item, f"{path}[{key!r}]")
    elif isinstance(value, Iterable):
        for number, item in enumerate(value):
            _raise_for_first(item, f"{path}[{number}]")
