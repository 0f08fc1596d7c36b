"""The fields of a decoded document, read as the reference reads them.

The reference asks of each field only that its *text* fits: a count may be written `4` or `"4"`, and
a label `7` is the label "7". A decoded document has numbers and booleans beside text, so each
reader here takes whatever has the right text. `null`, lists and mappings are never scalars.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from fluxnetes.jobspec.errors import JobspecError, child_path, describe

_INTEGER = re.compile(r"[-+]?(?:(0[xX][0-9a-fA-F]{1,16})|(0[0-7]{1,22})|(0|[1-9][0-9]{0,19}))")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.?[0-9]*)(?:[eE][-+]?[0-9]+)?")
_MAX_BITS = 1024
"""Longest integer that is accepted as text; printing longer ones takes quadratic time."""


class MappingKeys(NamedTuple):
    """The keys of one kind of mapping."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


def mapping(value: object, path: str, keys: MappingKeys | None = None) -> dict[str, Any]:
    """A mapping; with `keys`, one that has all the required keys and no unknown one."""
    if not isinstance(value, dict):
        allowed = f"a mapping with the keys {', '.join(sum(keys, ()))}" if keys else "a mapping"
        raise JobspecError(path, describe(value), allowed)
    if keys is not None:
        _check_keys(value, path, keys)
    return value


def _check_keys(value: dict[str, Any], path: str, keys: MappingKeys) -> None:
    for key in keys.required:
        if key not in value:
            raise JobspecError(child_path(path, key), "nothing", "this key, which is required")
    for key in value:
        if key not in keys.required and key not in keys.optional:
            known = ", ".join(keys.required + keys.optional)
            raise JobspecError(child_path(path, key), "an unknown key", f"one of {known}")


def sequence(value: object, path: str, of: str) -> list[Any]:
    if not isinstance(value, list):
        raise JobspecError(path, describe(value), f"a list of {of}")
    return value


def text(value: object, path: str, allowed: str = "text") -> str:
    """The text of a scalar, however it was written."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) or (isinstance(value, int) and value.bit_length() <= _MAX_BITS):
        return str(value)
    raise JobspecError(path, describe(value), allowed)


def boolean(value: object, path: str) -> bool:
    """Exactly `true` or `false`: the `yes` and `on` of old YAML are rejected."""
    if isinstance(value, bool):
        return value
    if value == "true" or value == "false":
        return value == "true"
    raise JobspecError(path, describe(value), "true or false")


def integer(value: object, path: str, least: int, most: int, allowed: str = "") -> int:
    """An integer in `least .. most`; in text also hexadecimal (0x1f) and octal (017)."""
    number = _integer_of(value)
    if number is None or not least <= number <= most:
        raise JobspecError(path, describe(value), allowed or f"an integer from {least} to {most}")
    return number


def _integer_of(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    written = _INTEGER.fullmatch(value) if isinstance(value, str) else None
    if written is None:
        return None
    hexadecimal, octal, _ = written.groups()
    return int(written.group(), 16 if hexadecimal else 8 if octal else 10)


def seconds(value: object, path: str) -> float:
    """A duration: a finite number that is not negative."""
    number = _number_of(value)
    if number is None or not math.isfinite(number) or number < 0:
        allowed = "a number of seconds, finite and at least 0 (such as 3600 or 0.5)"
        raise JobspecError(path, describe(value), allowed)
    return number


def _number_of(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else None
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            return None
    return None
