"""What the queue takes in at all: values that can be written down.

A text with a NUL character or a number beyond 2^53 would be refused by the store, again and again,
and with it all that was decided in the same step. So such a value is refused at the door.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass

from fluxnetes.queue.errors import QueueError

LARGEST = 2**53


def check_bounds(value: object, path: str) -> None:
    """Raise QueueError if anything in a value cannot be written down; the error names its path."""
    if isinstance(value, str):
        if "\0" in value:
            raise QueueError(f"{path}: a text with a NUL character in it")
    elif isinstance(value, int | float):
        if not -LARGEST <= value <= LARGEST:
            raise QueueError(f"{path}: {value} is beyond what can be counted (2^53)")
    elif is_dataclass(value):
        for field in fields(value):
            check_bounds(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_bounds(key, f"{path} key")
            check_bounds(item, f"{path}[{key!r}]")
    elif isinstance(value, Iterable):
        for number, item in enumerate(value):
            check_bounds(item, f"{path}[{number}]")
