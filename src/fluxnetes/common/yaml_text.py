"""Decodes YAML files of settings, with limits on nesting and repetition.

PyYAML composes values by recursion in C: a hundred kilobytes of brackets end the process. And a few
aliases can multiply to more values than memory holds. So the events of a text are counted before it
is loaded.
"""

from __future__ import annotations

from typing import Any

import yaml

MAX_DEPTH = 64
"""Maximum nesting of lists and mappings."""
MAX_VALUES = 1_000_000
"""Maximum number of values in one text, each use of an alias counted with its content."""

_STARTS = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_ENDS = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


class YamlError(ValueError):
    """A text is not YAML, or exceeds a limit."""


def load_yaml(text: str | bytes) -> Any:
    """The values in a text of one document; None where it is empty."""
    try:
        _check(text)
        return yaml.load(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeError, ValueError) as error:  # ValueError: no such date
        raise YamlError(str(error)) from None


def _check(text: str | bytes) -> None:
    """Raise for a text that is nested too deeply or has too many values."""
    open_anchors: list[tuple[str | None, int]] = []
    weights: dict[str, int] = {}
    values = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, _STARTS):
            open_anchors.append((event.anchor, values))
            if len(open_anchors) > MAX_DEPTH:
                raise YamlError(f"values are nested more than {MAX_DEPTH} deep")
        elif isinstance(event, _ENDS):
            anchor, before = open_anchors.pop()
            if anchor is not None:
                weights[anchor] = values - before + 1
        elif isinstance(event, yaml.AliasEvent):
            values += weights.get(event.anchor or "", 0)
        values += isinstance(event, (*_STARTS, yaml.ScalarEvent, yaml.AliasEvent))
        if values > MAX_VALUES:
            raise YamlError(f"more than {MAX_VALUES} values, each alias counted with its content")
