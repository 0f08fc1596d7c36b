"""What the queue takes in at all: values that can be written down.

A text with a NUL character or a number beyond 2^53 would be refused by the store, again and again,
and with it all that was decided in the same step. So such a value is refused at the door.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from operator import attrgetter

from fluxnetes.queue.errors import QueueError

LARGEST = 2**53


def check_bounds(value: object, path: str) -> None:
    """Raise QueueError if anything in a value cannot be written down; the error names its path."""
    if not _is_within(value):
        _complain(value, path)


def _is_within(value: object) -> bool:
    """Whether a value can be written down; asked for every event, and so without any ado."""
    kind = type(value)
    if kind is int or kind is float:
        return -LARGEST <= value <= LARGEST  # type: ignore[operator]
    if kind is str:
        return "\0" not in value  # type: ignore[operator]
    if kind is tuple:
        return all(map(_is_within, value))  # type: ignore[call-overload]
    if value is None or kind is bool:
        return True
    read = _READ.get(kind)
    if read is None:
        read = _READ[kind] = _reader(kind)
    inside = read(value)
    if inside:
        return all(map(_is_within, inside))
    if isinstance(value, Mapping):
        return all(map(_is_within, value)) and all(map(_is_within, value.values()))
    return not isinstance(value, Iterable) or all(map(_is_within, value))


_READ: dict[type, Callable[[object], tuple[object, ...]]] = {}
"""How to get what is in the fields of each kind of value seen so far."""


def _reader(kind: type) -> Callable[[object], tuple[object, ...]]:
    """Gets the fields of a data class; nothing of anything else."""
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else []
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _complain(value: object, path: str) -> None:
    """Say which part of a value it is."""
    if isinstance(value, str):
        if "\0" in value:
            raise QueueError(f"{path}: a text with a NUL character in it")
    elif isinstance(value, int | float):
        if not -LARGEST <= value <= LARGEST:
            raise QueueError(f"{path}: {value} is beyond what can be counted (2^53)")
    elif is_dataclass(value):
        for field in fields(value):
            _complain(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _complain(key, f"{path} key")
            _complain(item, f"{path}[{key!r}]")
    elif isinstance(value, Iterable):
        for number, item in enumerate(value):
            _complain(item, f"{path}[{number}]")
