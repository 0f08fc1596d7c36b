"""Checks the text of every request, of every service and dialect, before it is handled.

Postgres and C libraries end a text at a NUL character, and some refuse it. So a request with one in
any field is invalid, whatever the field means; the error names its path.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from fluxnetes.service.errors import Invalid

_NUL = "\0"


def invalid_text(message: Message) -> Invalid | None:
    """The error for a request with a NUL character in a text; None: there is none."""
    path = _find(message)
    if path is None:
        return None
    return Invalid("found a NUL character, expected text without one", path)


def _find(message: Message) -> str | None:
    """The path of the first text with a NUL character."""
    for field, value in message.ListFields():
        for step, each in _elements(field, value):
            if isinstance(each, Message):
                below = _find(each)
                if below is not None:
                    return f"{field.name}{step}.{below}"
            elif isinstance(each, str) and _NUL in each:
                return f"{field.name}{step}"
    return None


def _elements(field: FieldDescriptor, value: Any) -> list[tuple[str, object]]:
    """The single values of a field, each with its place in it: keys of maps are values, too."""
    if not field.is_repeated:
        return [("", value)]
    if _is_map(field):
        pairs = dict(value).items()
        return [("", key) for key, _ in pairs] + [(f"[{key!r}]", each) for key, each in pairs]
    return [(f"[{number}]", each) for number, each in enumerate(value)]


def _is_map(field: FieldDescriptor) -> bool:
    kind = field.message_type
    return kind is not None and kind.GetOptions().map_entry
