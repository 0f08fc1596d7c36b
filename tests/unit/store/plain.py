"""Values laid bare, so that two can be compared to the type."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Equal for two values exactly if they are alike all the way down: 1 is not 1.0, nor True."""
    kind = type(value).__name__
    if is_dataclass(value):
        return kind, {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, np.ndarray):
        return kind, str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return kind, {plain(key): plain(content) for key, content in value.items()}
    if isinstance(value, list | tuple):
        return kind, tuple(map(plain, value))
    return kind, value
