"""Encodes JSON as the reference does: on one line, a space after each comma and colon."""

from __future__ import annotations

from typing import Any

import msgspec

JsonObject = dict[str, Any]


def json_text(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()
