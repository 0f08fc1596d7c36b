"""Decodes YAML or JSON text into dictionaries, lists, text, numbers, booleans and null.

A jobspec is untrusted input, so what is expensive or ambiguous is rejected before its meaning is
examined: text that is too long, nesting that is too deep, too many values (also when YAML aliases
multiply a few into many), the same key twice, more than one document.

A YAML scalar without quotes becomes a number only where that number prints exactly as it was
written: `4` and `0.5` do, while `1e3`, `010` and `1.50` stay text. So nothing is lost where text is
meant (a label, an argument of a command), and `fields` reads numbers from text where a number is
meant. The words are `true`, `false` and `null`; `yes` and `on` are text, as in the reference.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import yaml

from fluxnetes.jobspec.errors import JobspecError, child_path, describe

MAX_LENGTH = 16 * 2**20
"""Maximum length of a text, in bytes or characters, checked before anything is decoded."""
MAX_DEPTH = 64
"""Maximum nesting of lists and mappings, because the readers recurse."""
MAX_VALUES = 100_000
"""Maximum number of values in one document, each use of an alias counted with its content."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DOCUMENT = "a YAML or JSON document"
_NULLS = ("", "~", "null", "Null", "NULL")
_WORDS = {"true": True, "false": False} | dict.fromkeys(_NULLS)
_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?")

_Trail = tuple["_Trail", str | int] | None
"""The keys from the top of a document to a value, innermost key last."""


def decode_document(text: str | bytes) -> object:
    """The values in a JSON or YAML text."""
    if len(text) > MAX_LENGTH:
        raise JobspecError("", f"a text of length {len(text)}", f"at most {MAX_LENGTH}")
    if isinstance(text, bytes):
        text = _decode_bytes(text)
    text = text.removeprefix("\ufeff")
    if text.lstrip().startswith("{"):
        try:
            return _JSON.decode(text)
        except (ValueError, RecursionError):
            pass  # It may still be YAML; if not, the YAML reader reports the error and its place.
    return _decode_yaml(text)


def check_document(document: object) -> None:
    """Raise for a document that is too deep or too large, or has keys that are not text."""
    stack: list[tuple[object, int, _Trail]] = [(document, 0, None)]
    values = 0
    while stack:
        value, depth, trail = stack.pop()
        entries: Iterator[tuple[Any, Any]]
        if isinstance(value, dict):
            _check_key_types(value, trail)
            entries = iter(value.items())
        elif isinstance(value, list):
            entries = enumerate(value)
        else:
            continue
        values += len(value)
        if depth >= MAX_DEPTH:
            raise _too_deep(_path(trail))
        if values > MAX_VALUES:
            raise _too_many(_path(trail))
        for key, child in entries:
            if isinstance(child, dict | list):
                stack.append((child, depth + 1, (trail, key)))


def _check_key_types(value: dict[Any, Any], trail: _Trail) -> None:
    for key in value:
        if not isinstance(key, str):
            raise JobspecError(_path(trail), f"the key {describe(key)}", "keys that are text")


def _path(trail: _Trail) -> str:
    keys: list[str | int] = []
    while trail is not None:
        trail, key = trail
        keys.append(key)
    return _join(keys[::-1])


def _join(keys: list[str | int]) -> str:
    path = ""
    for key in keys:
        path = child_path(path, key)
    return path


def _too_deep(path: str) -> JobspecError:
    return JobspecError(path, "another level of nesting", f"at most {MAX_DEPTH} levels")


def _too_many(path: str) -> JobspecError:
    return JobspecError(path, "too many values", f"at most {MAX_VALUES} in all, aliases counted")


def _decode_bytes(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise JobspecError("", f"a bad byte at {error.start}", "text in UTF-8") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("the same key twice")
    return values


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _float_or_text(written: str) -> float | str:
    number = float(written)
    return number if math.isfinite(number) and repr(number) == written else written


_JSON = json.JSONDecoder(
    object_pairs_hook=_distinct, parse_float=_float_or_text, parse_constant=_refuse_constant
)


def _decode_yaml(text: str) -> object:
    try:
        return _YamlReader(text).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise JobspecError("", f"a syntax error{where} ({error.problem})", _DOCUMENT) from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise JobspecError("", f"a forbidden character ({error})", _DOCUMENT) from None


class _YamlReader:
    """Builds values from the events of the YAML parser.

    Reading events is twice as fast as PyYAML's loader, and exposes depth, repeated keys and quotes.
    The recursion is bounded by MAX_DEPTH.
    """

    def __init__(self, text: str) -> None:
        self._events: Iterator[Any] = yaml.parse(text, Loader=_LOADER)
        self._anchors: dict[str, object] = {}
        self._keys: list[str | int] = []
        self._values = 0

    def document(self) -> object:
        next(self._events)  # the stream starts
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return None
        value = self._value(next(self._events))
        next(self._events)  # the document ends
        if not isinstance(next(self._events), yaml.StreamEndEvent):
            raise JobspecError("", "a second document", "one document")
        return value

    def _value(self, event: Any) -> object:
        kind = type(event)
        value: object
        if kind is yaml.ScalarEvent:
            value = _scalar(event)
        elif kind is yaml.MappingStartEvent:
            value = self._mapping()
        elif kind is yaml.SequenceStartEvent:
            value = self._sequence()
        else:
            value = self._alias(event)
        self._values += 1
        if self._values > MAX_VALUES:
            raise _too_many(_join(self._keys))
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _alias(self, event: Any) -> object:
        if event.anchor not in self._anchors:
            found = f"the alias *{event.anchor}"
            raise JobspecError(_join(self._keys), found, "an alias to a complete earlier value")
        return self._anchors[event.anchor]

    def _sequence(self) -> list[object]:
        values: list[object] = []
        self._enter(0)
        while type(event := next(self._events)) is not yaml.SequenceEndEvent:
            values.append(self._value(event))
            self._keys[-1] = len(values)
        self._keys.pop()
        return values

    def _mapping(self) -> dict[str, object]:
        values: dict[str, object] = {}
        self._enter("")
        while type(event := next(self._events)) is not yaml.MappingEndEvent:
            self._keys[-1] = key = self._key(event)
            if key in values:
                raise JobspecError(_join(self._keys), "this key a second time", "each key once")
            values[key] = self._value(next(self._events))
        self._keys.pop()
        return values

    def _enter(self, key: str | int) -> None:
        if len(self._keys) >= MAX_DEPTH:
            raise _too_deep(_join(self._keys))
        self._keys.append(key)

    def _key(self, event: Any) -> str:
        if type(event) is not yaml.ScalarEvent:
            path = _join(self._keys[:-1])
            raise JobspecError(path, "a key that is a list, a mapping or an alias", "a key of text")
        key: str = event.value
        return key


def _scalar(event: Any) -> object:
    text: str = event.value
    if event.style or event.tag in _TEXT_TAGS:  # in quotes, or marked as text
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return _float_or_text(text) if _FLOAT.fullmatch(text) else text
